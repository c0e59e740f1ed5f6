"""The chosen Pod is asked about again if an answer may be old by the time of the commit."""

from __future__ import annotations

from typing import Any

import pytest
from engine_scenes import in_work

from kruntimes_core import Reject, RuntimePod, Snapshot
from kruntimes_core.engine.counters import ConflictStage
from kruntimes_core.engine.plugin_work import CheckWork
from kruntimes_core.testing import affinity_object, term_object
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness import Host, hold_request
from kruntimes_core.testing.plugins import fake_plugin, profiles_of

COHORT: dict[str, Any] = {
    "labels": {"app": "a"},
    "affinity": affinity_object(required=[term_object({"app": "a"})]),
}


def test_the_check_asks_the_chosen_pod_alone(host: Host) -> None:
    host.pod("py-0", runs=4)
    for number in range(1, 5):
        host.pod(f"py-{number}", runs=1)
    host.run("r")
    with in_work(host):
        host.run("x", pod="py-0")
    host.settle()
    assert host.pod_of("r") == "py-0"
    assert (host.works["PlanWork"], host.works["CheckWork"]) == (1, 1)


def test_what_a_snapshot_naming_filter_saw_is_asked_again_before_reserving() -> None:
    """It may look at everything, so any change of its namespace makes its answer old, elsewhere too."""

    def alone(pod: RuntimePod, snapshot: Snapshot) -> Reject | None:
        return Reject("Busy") if sum(snapshot.targets.values()) else None

    def wished(pod: RuntimePod, state: str | None) -> int:
        return 100 if pod.name == state else 0

    plugin = fake_plugin(
        prefilter=lambda labels: labels.get("wish"), filter=alone, score=wished, reasons=["Busy"]
    )
    host = Host(profiles_of(plugin))
    for number in range(2):
        host.pod(f"py-{number}", runs=4)
        host.run(f"r{number}", labels={"wish": f"py-{number}"})
    host.observe()
    first, second = host.take(), host.take()
    host.finish(first)
    host.finish(second)
    host.settle()
    assert (host.pod_of("r0"), host.pod_of("r1")) == ("py-0", None)
    host.end("r0")
    host.settle()
    assert host.pod_of("r1") == "py-1"


def test_what_changes_while_the_chosen_pod_is_asked_about_again_is_looked_at_too(host: Host) -> None:
    """A Run that would seed its cohort: the first target appears between check and commit."""
    host.pod("py-0", runs=4)
    host.pod("py-1", runs=2)
    host.run("r", **COHORT)
    host.observe()
    plan = host.take()
    host.run("x", pod="py-0", labels={"app": "other"})
    host.observe()
    host.finish(plan)
    check = host.take()
    assert isinstance(check, CheckWork)
    host.run("t", pod="py-1", labels={"app": "a"})
    host.observe()
    host.finish(check)
    host.settle()
    assert host.pod_of("r") == "py-1"


def test_a_runs_own_reservation_is_never_seen_by_a_plugin(host: Host) -> None:
    """Anti-affinity against its own label: with the assumption counted it would reject its own Pod."""
    host.pod("py-0", runs=2)
    host.run("r", labels={"app": "a"}, affinity=affinity_object(required_anti=[term_object({"app": "a"})]))
    host.disturb("r", hold_request)
    host.settle()
    host.change("r", status={"outputs": {"a": "b"}})
    host.ready("py-0", False)
    host.ready("py-0", True)
    host.settle()
    assert host.cycles == 1
    host.release("r")
    host.settle()
    assert host.pod_of("r") == "py-0"


def test_a_capacity_conflict_at_reserve_is_counted_and_the_next_best_is_taken() -> None:
    """Nobody filters by capacity here, so the host's own check is all that holds the promise."""
    host = Host(profiles_of(fake_plugin(filter=lambda pod: None)))
    host.pod("py-0", runs=1)
    host.pod("py-1", runs=1)
    for name in ("r1", "r2", "r3"):
        host.run(name)
    host.settle()
    assert [host.pod_of(name) for name in ("r1", "r2", "r3")] == ["py-0", "py-1", None]
    assert host.engine.counters.reservation_conflicts[ConflictStage.RESERVE] == 3
    host.end("r1")
    host.advance(60)
    assert host.pod_of("r3") == "py-0"


@pytest.mark.parametrize("full", [3, 40])
def test_where_nobody_filters_by_room_two_full_pods_are_tried_and_no_other(full: int) -> None:
    plans: list[str] = []
    host = Host(
        profiles_of(fake_plugin(prefilter=lambda snapshot: plans.append(""), filter=lambda pod: None))
    )
    for number in range(full):
        host.pod(f"py-{number:02}", runs=1)
    host.run("r", requests={"gpu": "1"})
    host.settle()
    assert host.pod_of("r") is None
    assert len(plans) == 3
    assert host.engine.counters.reservation_conflicts[ConflictStage.RESERVE] == 2
    entry = host.engine.find(NAMESPACE, "r")
    assert entry is not None
    assert entry.decision is not None
    details = {name: by.reject.detail for name, by in entry.decision.turned_down.items()}
    assert details == {f"py-{number:02}": "gpu is not advertised" for number in range(full)}
    host.pod("py-99", runs=1, capacity={"gpu": "1"})
    host.advance(60)
    assert host.pod_of("r") == "py-99"
