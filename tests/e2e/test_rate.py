"""How fast Runs are bound on a real API server, as a share of what that server takes in the same minute."""

from __future__ import annotations

from kruntimes_core.lab.bench.live.load import BenchLoad, Mode
from realcluster.bench import Bench

LEAST_SHARE = 0.3
MOST_PROCESSOR_SECONDS = 0.01
"""Bounds that a machine which does ten things at once keeps too; what was measured is printed."""


def test_placements_a_second_and_their_cost(bench: Bench) -> None:
    results = bench(BenchLoad(mode=Mode.DRAIN, runs=200, pods=20), patches=250)
    (round_,) = results.rounds
    assert results.passed, results.violations
    known = {key: value for key, value in round_.figures.items() if value is not None}
    share, seconds = known["shareOfCeiling"], known["processorSecondsPerRun"]
    # `pytest -rP` shows it.
    print(  # noqa: T201
        f"{known['perSecond']:.0f} binds a second, {share:.0%} of {known['ceilingPerSecond']:.0f} bare"
        f" patches a second; {seconds * 1_000:.2f} ms of processor a placement"
    )
    assert share >= LEAST_SHARE
    assert seconds <= MOST_PROCESSOR_SECONDS
    assert known["writesPerRun"] == 1.0
