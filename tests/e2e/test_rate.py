"""How fast Runs are bound on a real API server, as a share of what that server takes in the same minute."""

from __future__ import annotations

from kruntimes_core.lab.bench.live.load import BenchLoad, Mode
from realcluster.bench import Bench

LEAST_SHARE = 0.3
MOST_PROCESSOR_SECONDS = 0.01
"""Bounds that a machine which does ten things at once keeps too; what was measured is printed."""


def test_placements_a_second_and_their_cost(bench: Bench) -> None:
    results = bench(BenchLoad(mode=Mode.DRAIN, runs=400, pods=20), patches=500)
    (round_,) = results.rounds
    assert results.passed, results.findings
    assert round_.rate is not None
    assert round_.share is not None
    assert round_.processor_seconds_a_run is not None
    # `pytest -rP` shows it.
    print(  # noqa: T201
        f"{round_.rate:.0f} binds a second, {round_.share:.0%} of {round_.ceiling_rate:.0f} bare patches a"
        f" second; {round_.processor_seconds_a_run * 1_000:.2f} ms of processor a placement"
    )
    assert round_.share >= LEAST_SHARE
    assert round_.processor_seconds_a_run <= MOST_PROCESSOR_SECONDS
    assert round_.writes == 1.0
