"""Runs that fit are placed as fast as ever while many others get their first waiting text.

`KRUNTIMES_CROWD=20000` measures it beside so many, until all of them have their text.
"""

from __future__ import annotations

import os
from dataclasses import replace

from kruntimes_core.lab.bench.live.load import BenchLoad, Mode
from kruntimes_core.lab.bench.live.results import Results
from realcluster.bench import WAITS, Bench

MOST_TIMES_SLOWER = 6.0
"""Without a share for texts it is 40 times at the median, on a machine with 2 processors."""
LEAST_SECONDS = 0.01
"""What a machine that does ten things at once may take for anything."""
CROWD = int(os.environ.get("KRUNTIMES_CROWD", "500"))
# A percentile of 99 needs some thousand Runs.
SECONDS = 6 if CROWD <= 500 else 60
ALONE = BenchLoad(mode=Mode.OPEN, rate=20, seconds=SECONDS, heartbeat_seconds=0)
AT_ONCE = replace(WAITS, longest_quiet=0)
"""The load does not wait until all texts are written."""


def test_texts_of_many_runs_do_not_hold_up_binds(bench: Bench) -> None:
    alone = figures(bench(ALONE))
    # 40 texts a second leave while Runs are being placed.
    seconds = max(ALONE.seconds, CROWD / 38)
    beside = figures(bench(replace(ALONE, hopeless=CROWD, seconds=seconds), waits=AT_ONCE))
    print(alone, beside)  # noqa: T201 - `pytest -rP` shows it
    assert beside["writesBeside"] > 20
    assert beside["p50Seconds"] <= MOST_TIMES_SLOWER * max(alone["p50Seconds"], LEAST_SECONDS)


def figures(results: Results) -> dict[str, float]:
    """Those of the only round that are known."""
    (round_,) = results.rounds
    return {name: value for name, value in round_.figures.items() if value is not None}
