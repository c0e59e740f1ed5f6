"""The scheduling cycle: what is taken, what is checked again, and what changed since the snapshot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from scenes.working import in_work

from kruntimes_core import InvalidRun, Reject, RuntimePod, Snapshot, Targets
from kruntimes_core.engine.counters import ConflictStage
from kruntimes_core.engine.plugin_work import CheckWork
from kruntimes_core.testing import affinity_object, term_object
from kruntimes_core.testing.builders import NAMESPACE, matching
from kruntimes_core.testing.harness import PODS, RUNS, Host, hold_request
from kruntimes_core.testing.plugins import fake_plugin, profiles_of

# What is taken first: nothing before all is known, and then in order of arrival.


def test_nothing_is_decided_before_runs_pods_and_workspaces_are_all_listed(
    make_host: Callable[..., Host],
) -> None:
    host = make_host(leading=False)
    host.pod("py-0")
    host.run("r")
    host.engine.lead(host.now)
    host.relist(PODS)
    host.relist("PersistentWorkspace")
    host.settle()
    assert not host.engine.synced
    assert not host.requests
    host.relist(RUNS)
    host.settle()
    assert host.pod_of("r") == "py-0"


def test_a_host_that_does_not_lead_decides_and_writes_nothing(make_host: Callable[..., Host]) -> None:
    host = make_host(leading=False)
    host.relist("Pod", "PersistentWorkspace", "Run")
    host.pod("py-0")
    host.run("r")
    host.advance(120)
    assert not host.works
    assert not host.requests
    host.engine.lead(host.now)
    host.settle()
    assert host.pod_of("r") == "py-0"


def test_runs_of_one_list_leave_in_order_of_creation_then_by_name(host: Host) -> None:
    host.watches.hold(RUNS)
    host.pod("py-0", runs=2)
    for name, second in (("c", 1), ("b", 2), ("a", 2), ("d", 0)):
        host.run(name, metadata={"creationTimestamp": f"2026-01-02T03:04:0{second}Z"})
    host.relist(RUNS)
    host.settle()
    assert {name for name in "abcd" if host.pod_of(name)} == {"c", "d"}
    host.end("c")
    host.watches.resume(RUNS)
    host.settle()
    assert host.pod_of("a") == "py-0"


def test_runs_leave_the_queue_as_they_were_first_seen_pending(host: Host) -> None:
    host.pod("py-0", runs=1)
    host.run("late", metadata={"creationTimestamp": "2026-01-02T03:04:09Z"})
    host.run("early", metadata={"creationTimestamp": "2026-01-02T03:04:01Z"})
    host.settle()
    assert (host.pod_of("late"), host.pod_of("early")) == ("py-0", None)


def test_an_ending_that_was_not_sent_before_the_lead_was_lost_is_decided_anew() -> None:
    """The Run may be valid by now, and is not ended when the lead comes back before that is known."""
    shut = [True]

    def prefilter() -> None:
        if shut:
            raise InvalidRun("Shut", "it is shut")

    host = Host(profiles_of(fake_plugin(prefilter=prefilter, stateful=True)))
    host.pod("py-0")
    host.run("r")
    host.observe()
    host.work()
    host.engine.stand_down(host.now)
    shut.clear()
    host.engine.lead(host.now)
    assert not host.send()
    host.settle()
    assert host.pod_of("r") == "py-0"
    assert len(host.writes("r")) == 1


# A Run ends as invalid only by what is so at the commit.


def test_a_run_that_turns_invalid_by_a_prefilter_during_its_plan_ends_as_failed() -> None:
    def prefilter(labels: Any) -> None:
        if labels.get("bad"):
            raise InvalidRun("BadLabel", "remove the label bad")

    host = Host(profiles_of(fake_plugin(prefilter=prefilter)))
    host.pod("py-0")
    host.run("r")
    with in_work(host):
        host.change("r", metadata={"labels": {"bad": "yes"}})
    host.settle()
    assert host.status("r")["phase"] == "Failed"
    assert host.pod_of("r") is None


def test_a_verdict_of_invalid_from_what_changed_meanwhile_is_asked_for_again() -> None:
    """Failed is for ever, so it must be true when it is written, and not only when it was thought."""

    def prefilter(targets: Targets) -> None:
        if targets.any(matching(app="other")):
            raise InvalidRun("NotAlone", "wait until nothing of app other runs")

    host = Host(profiles_of(fake_plugin(prefilter=prefilter)))
    host.pod("py-0")
    host.run("x", labels={"app": "other"}, pod="py-0")
    host.run("r")
    with in_work(host):
        host.end("x")
    host.settle()
    assert host.pod_of("r") == "py-0"


# The chosen Pod is asked about again if an answer may be old by the time of the commit.


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


# What changes between take and commit is looked at before anything is reserved or parked.


COHORT: dict[str, Any] = {
    "labels": {"app": "a"},
    "affinity": affinity_object(required=[term_object({"app": "a"})]),
}


def test_two_runs_that_both_saw_no_target_do_not_seed_one_cohort_on_two_pods(host: Host) -> None:
    """Both plans say "seed it", the second one on the emptier Pod; its answer does not hold any more."""
    host.pod("py-0", runs=4)
    host.pod("py-1", runs=4)
    host.run("r1", **COHORT)
    host.run("r2", **COHORT)
    host.observe()
    first, second = host.take(), host.take()
    host.finish(first)
    host.finish(second)
    host.settle()
    assert host.pod_of("r1") == host.pod_of("r2") == "py-0"


def test_a_target_that_appears_during_a_plan_is_seen_at_the_commit(host: Host) -> None:
    """Anti-affinity is a rule of the Pod: the chosen one is asked about again, and turned down."""
    host.pod("py-0", runs=4)
    host.pod("py-1", runs=4)
    host.run("r", affinity=affinity_object(required_anti=[term_object({"app": "a"})]))
    with in_work(host):
        host.run("x", labels={"app": "a"}, pod="py-0")
    host.settle()
    assert host.pod_of("r") == "py-1"


def test_several_plans_under_way_do_not_oversell(host: Host) -> None:
    host.pod("py-0", runs=2)
    host.pod("py-1", runs=1)
    names = [f"r{number}" for number in range(6)]
    for name in names:
        host.run(name)
    host.observe()
    works = [host.take() for _ in names]
    for work in reversed(works):
        host.finish(work)
    host.settle()
    assert sorted(str(host.pod_of(name)) for name in names) == [*["None"] * 3, "py-0", "py-0", "py-1"]


def test_plans_of_one_worker_may_be_done_in_any_order(host: Host) -> None:
    """A plan on an older picture, made after one on a newer, decides from its own picture."""
    host.pod("py-0", runs=4)
    host.run("r1")
    host.observe()
    old = host.take()
    host.pod("py-1", runs=9)
    host.run("r2")
    host.observe()
    host.finish(host.take())
    host.finish(old)
    host.settle()
    assert host.pod_of("r2") == "py-1"
    assert host.pod_of("r1") == "py-0"


def test_room_that_was_freed_while_a_run_was_in_work_is_not_lost(host: Host) -> None:
    host.pod("py-0", runs=1)
    host.run("x", pod="py-0")
    host.run("r")
    with in_work(host):
        host.end("x")
    host.settle()
    assert host.pod_of("r") == "py-0"
    assert not host.engine.counters.rescues


@pytest.mark.parametrize(
    "cause",
    [
        lambda host: host.workspace("ws", phase="Bound", bound_pod="py-0"),
        lambda host: host.run("t", labels={"app": "a"}, pod="py-0"),
    ],
    ids=["workspace", "target"],
)
def test_a_workspace_or_target_that_came_while_a_run_was_in_work_is_not_lost(
    host: Host, cause: Callable[[Host], object]
) -> None:
    host.pod("py-0", runs=3)
    host.workspace("ws", phase="Pending", bound_pod=None)
    host.run("by-workspace", workspace="ws")
    host.run("by-target", affinity=affinity_object(required=[term_object({"app": "a"})]))
    host.observe()
    works = [host.take(), host.take()]
    cause(host)
    host.observe()
    for work in works:
        host.finish(work)
    host.settle()
    assert [host.pod_of("by-workspace"), host.pod_of("by-target")].count("py-0") == 1


@pytest.mark.parametrize("change", ["gone", "replaced", "not ready", "full", "terminating"])
def test_a_pod_that_changed_during_a_plan_is_not_bound_to(host: Host, change: str) -> None:
    host.pod("py-0", runs=1)
    host.run("r")
    with in_work(host):
        if change == "gone":
            host.delete("py-0", kind=PODS)
        elif change == "replaced":
            host.pod("py-0", runs=1, uid="P0b", ready=False)
        elif change == "not ready":
            host.ready("py-0", False)
        elif change == "full":
            host.run("x", pod="py-0")
        else:
            going = {"metadata": {"deletionTimestamp": "2026-01-02T03:04:05Z"}}
            host.server.change(PODS, NAMESPACE, "py-0", going)
    host.settle()
    assert host.pod_of("r") is None
    assert not host.server.invariants.binds
    if change == "replaced":
        host.ready("py-0", True)
        host.settle()
        assert host.status("r")["assignedPodUID"] == "P0b"


@pytest.mark.parametrize("patch", [{"labels": {"app": "b"}}, {"annotations": {"note": "x"}}])
def test_a_run_that_changed_during_its_plan_is_planned_again(host: Host, patch: dict[str, Any]) -> None:
    host.pod("py-0", runs=1)
    host.run("r")
    with in_work(host):
        host.change("r", metadata=patch)
    assert not host.usage()
    host.settle()
    assert host.pod_of("r") == "py-0"
    assert host.cycles == 2


def test_a_run_that_went_away_during_its_plan_leaves_nothing(host: Host) -> None:
    host.pod("py-0", runs=1)
    host.run("r")
    with in_work(host):
        host.delete("r")
    host.settle()
    assert not host.usage()
    assert not host.requests


def test_a_status_edit_by_somebody_else_does_not_void_a_plan(host: Host) -> None:
    """A version is no part of the Run value: the answer holds, and the bind uses the newer version."""
    host.pod("py-0", runs=1)
    host.run("r")
    with in_work(host):
        host.change("r", status={"outputs": {"a": "b"}})
    host.settle()
    assert host.pod_of("r") == "py-0"
    assert (host.cycles, len(host.writes("r"))) == (1, 1)
