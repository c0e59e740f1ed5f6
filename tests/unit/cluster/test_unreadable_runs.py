"""Runs that hold room and cannot be read completely are in the log once, by name."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from virtual.site import Site

from kruntimes_core.cluster.clock import SystemClock
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.scheduler.unreadable_runs import UnreadableRuns
from kruntimes_core.engine import events
from kruntimes_core.model.run import InvalidInput, Phase, RunObservation
from kruntimes_core.testing import make_run
from kruntimes_core.testing.builders import NAMESPACE
from tests.unit.cluster.played import scheduler_scene

INVALID = InvalidInput("InvalidResources", "spec.resources.requests[cpu]", "1K is not a quantity", True)


def active(name: str, **fields: object) -> RunObservation:
    seen = RunObservation(run=make_run(name), phase=Phase.RUNNING, assigned_pod="py-0")
    return replace(seen, **fields)  # type: ignore[arg-type]


class Named:
    """The lines about Runs."""

    def __init__(self) -> None:
        self._lines = io.StringIO()
        self._runs = UnreadableRuns(Log(self._lines, SystemClock()))

    def see(self, *seen: RunObservation) -> int:
        """See Runs; gives how many lines that makes."""
        return self._made(*(events.RunObserved(one) for one in seen))

    def list(self, *seen: RunObservation) -> int:
        """List Runs."""
        return self._made(events.RunsListed(observations=seen, version="1"))

    def gone(self, name: str) -> int:
        """See that a Run was deleted."""
        return self._made(events.RunGone(namespace=NAMESPACE, name=name, uid=""))

    def _made(self, *seen: events.Event) -> int:
        before = self.text.count("\n")
        for event in seen:
            self._runs.after(event)
        return self.text.count("\n") - before

    @property
    def text(self) -> str:
        return self._lines.getvalue()


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"invalid": INVALID}, "InvalidResources: spec.resources.requests[cpu]"),
        ({"phase": Phase.UNKNOWN}, "its phase is not one that this version knows"),
        ({"phase": Phase.UNKNOWN, "assigned_pod": None}, "its phase is not one that this version knows"),
    ],
)
def test_one_that_holds_room_is_named_once(fields: dict[str, object], problem: str) -> None:
    named = Named()
    seen = active("r1", **fields)
    assert named.see(seen, replace(seen, version="7")) == 1
    assert named.list(seen) == 0
    assert f"run={NAMESPACE}/r1" in named.text
    assert problem in named.text
    assert named.see(active("r1")) == 0
    assert named.see(seen) == 1
    assert named.gone("r1") == 0
    assert named.see(seen) == 1
    assert named.list() == 0
    assert named.list(seen) == 1


def test_one_that_holds_nothing_is_not_named() -> None:
    named = Named()
    waiting = active("r1", phase=Phase.PENDING, assigned_pod=None, invalid=INVALID)
    assert named.see(waiting, replace(waiting, phase=Phase.FAILED), active("r2")) == 0


def test_many_are_not_all_named() -> None:
    named = Named()
    runs = [active(f"r{number}", phase=Phase.UNKNOWN) for number in range(1000)]
    assert named.list(*runs) == 101
    assert named.list(*runs) == 0
    assert "more runs cannot be read, and are not named" in named.text
    long = replace(INVALID, path="x" * 5000)
    assert named.list(active("long", invalid=long)) == 1
    assert len(named.text.splitlines()[-1]) < 400


@scheduler_scene()
async def test_a_scheduler_names_them(site: Site) -> None:
    site.pod("py-0", runs=3)
    site.start()
    site.run("r1", pod="py-0", requests={"cpu": "1Q"})
    site.run("r2", pod="py-0")
    site.change("r2", status={"phase": "Paused"})
    await site.passes(7)
    assert site.log.count("a run cannot be read completely") == 2
    for name in ("r1", "r2"):
        assert f"run={NAMESPACE}/{name}" in site.log
