"""What is kept of a Run does not depend on its past: most that are known were placed here and have ended."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable

import pytest

from kruntimes_core.engine.decisions import Decision, Outcome
from kruntimes_core.engine.engine import Settings
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.lab.bench.engine.cluster import on_pod
from kruntimes_core.lab.bench.engine.driver import EngineDriver, EngineSetup, prepared
from kruntimes_core.lab.bench.engine.shape import Shape
from kruntimes_core.lab.bench.engine.workloads import plain
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness import Host

SHAPE = Shape(pods=100, runs=400, known=400, waiting=0, requests=4, cohorts=4)


def placed(site: EngineDriver, place: int) -> None:
    """A Run comes, is placed, and ends."""
    life = plain(site, place)
    site.known([life])
    site.tell(life.seen())
    site.settle()
    site.tell(life.ended())
    del site.runs[life.name]


def listed(site: EngineDriver, place: int) -> None:
    """A Run is seen that has ended long ago."""
    status = on_pod("pod-0-00000", "Succeeded")
    site.tell(site.cluster.new_run(site.cluster.pools[0], place, {"cpu": 1}, status=status).seen())


def kept(site: EngineDriver, happens: Callable[[EngineDriver, int], None]) -> float:
    """Bytes for each of some Runs."""
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    for place in range(SHAPE.runs):
        happens(site, place)
    gc.collect()
    return (tracemalloc.get_traced_memory()[0] - before) / SHAPE.runs


def test_a_run_that_was_placed_and_has_ended_takes_as_much_as_any(profiles: Profiles) -> None:
    site = prepared(SHAPE, EngineSetup(profiles, Settings()))
    site.engine.journal.most = 8
    tracemalloc.start()
    try:
        kept(site, placed)  # until all states are met
        # A place in the queue is kept; a picture of the Pods would be as much as all the rest, twice.
        assert kept(site, placed) < 1.5 * kept(site, listed)
    finally:
        tracemalloc.stop()


def decision(host: Host) -> Decision | None:
    """The last decision that the engine keeps for the Run."""
    entry = host.engine.find(NAMESPACE, "r")
    assert entry is not None
    return entry.decision


@pytest.mark.parametrize("phase", ["Scheduled", "Succeeded", "Cancelled"])
def test_the_last_decision_is_kept_while_a_run_is_pending(host: Host, phase: str) -> None:
    host.run("r")
    host.settle()
    waits = decision(host)
    assert waits is not None
    assert waits.outcome is Outcome.WAITING
    if phase == "Scheduled":
        host.pod("py-0")
    else:
        host.change("r", status={"phase": phase})
    host.settle()
    assert host.status("r")["phase"] == phase
    assert decision(host) is None
    assert host.engine.journal.latest[-1].run.name == "r"
