"""Waiting and waking: who is tried again when what changes, each source by itself, and in which order."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from kruntimes_core import LabelSelector, Reject, RuntimePod, Snapshot, Targets
from kruntimes_core.engine import events
from kruntimes_core.engine.tally import WakeSource
from kruntimes_core.model.run import RunObservation
from kruntimes_core.testing import affinity_object, condition_object, make_run, matching, term_object
from kruntimes_core.testing.builders import NAMESPACE, NOW
from kruntimes_core.testing.harness import PODS, RUNS, WORKSPACES, Host, arrive_late, hold_request, refuse
from kruntimes_core.testing.plugins import fake_plugin, profiles_of

BASE_TEXT = 'waiting for available runtime pods for runtime "py"'


def near(app: str) -> dict[str, Any]:
    return affinity_object(required=[term_object({"app": app})])


def wakeups(host: Host) -> dict[WakeSource, int]:
    return {source: number for source, number in host.engine.tally.wakeups.items() if number}


def full(host: Host, name: str = "py-0") -> None:
    """A Pod without room, and a Run `r` that waits for it."""
    host.pod(name, runs=1)
    host.run("x", pod=name)
    host.run("r")
    host.settle()
    host.engine.tally.wakeups.clear()
    assert host.pod_of("r") is None


# Each source of a wakeup


@pytest.mark.parametrize(
    "change",
    [
        lambda host: host.pod("py-1", runs=1),
        lambda host: host.server.change(
            PODS, NAMESPACE, "py-0", {"metadata": {"annotations": {"kruntimes.io/capacity.runs": "2"}}}
        ),
    ],
    ids=["new", "more capacity"],
)
def test_a_new_or_changed_pod_wakes_by_runtime_pod(host: Host, change: Callable[[Host], Any]) -> None:
    full(host)
    change(host)
    host.settle()
    assert host.pod_of("r") is not None
    assert wakeups(host) == {WakeSource.RUNTIME_POD: 1}


def test_a_pod_that_gets_ready_wakes(host: Host) -> None:
    host.pod("py-0", ready=False)
    host.run("r")
    host.settle()
    host.ready("py-0", True)
    host.settle()
    assert host.pod_of("r") == "py-0"
    assert wakeups(host) == {WakeSource.RUNTIME_POD: 1}


@pytest.mark.parametrize("how", ["succeeded", "failed", "deleted", "pending again"])
def test_released_capacity_wakes_by_capacity_released(host: Host, how: str) -> None:
    full(host)
    if how == "deleted":
        host.delete("x")
    elif how == "pending again":
        host.change("x", status={"phase": "Pending", "assignedPod": None, "assignedPodUID": None})
        host.change("x", spec={"cancelRequested": True})
    else:
        host.end("x", phase=how.capitalize())
    host.settle()
    assert host.pod_of("r") == "py-0"
    assert wakeups(host) == {WakeSource.CAPACITY_RELEASED: 1}


def test_an_active_run_that_moves_its_claim_frees_its_former_pod(host: Host) -> None:
    full(host)
    host.change("x", status={"assignedPod": "py-7", "assignedPodUID": "uid-py-7"})
    host.settle()
    assert host.pod_of("r") == "py-0"


def test_a_target_wakes_those_that_asked_for_it(host: Host) -> None:
    host.pod("py-0")
    host.pod("py-1", runs=2)
    host.run("r", affinity=near("a"))
    host.settle()
    host.run("t", labels={"app": "a"}, pod="py-1")
    host.settle()
    assert host.pod_of("r") == "py-1"
    assert wakeups(host)[WakeSource.TARGET] == 1


@pytest.mark.parametrize("runtime", ["py", "js"])
def test_the_last_peer_that_leaves_makes_seeding_possible(host: Host, runtime: str) -> None:
    """Whatever Runtime it ran on: the freed Pod need not be a candidate."""
    host.pod(f"{runtime}-x", runtime=runtime)
    host.pod("py-1", runs=4)
    host.run("x", runtime=runtime, labels={"app": "a"}, pod=f"{runtime}-x")
    host.run("r", labels={"app": "a"}, affinity=near("a"))
    host.settle()
    assert host.pod_of("r") is None
    host.end("x")
    host.settle()
    assert host.pod_of("r") == "py-1"


def test_a_target_that_is_assumed_counts_before_it_is_written(host: Host) -> None:
    host.pod("py-0", runs=2)
    host.run("r", affinity=near("a"))
    host.settle()
    host.disturb("t", hold_request)
    host.run("t", labels={"app": "a"})
    host.settle()
    assert host.pod_of("t") is None
    assert host.pod_of("r") == "py-0"


def test_a_target_on_a_pod_that_cannot_be_a_candidate_costs_one_try_and_no_storm(host: Host) -> None:
    host.pod("py-0", runs=2)
    host.pod("js-0", runtime="js", runs=2)
    host.run("r", affinity=near("a"))
    host.settle()
    cycles = host.cycles
    host.run("t", runtime="js", labels={"app": "a"})
    host.advance(20)
    assert host.pod_of("t") == "js-0"
    assert host.pod_of("r") is None
    assert host.cycles <= cycles + 2


def test_relabelling_an_active_run_is_a_change_of_targets(host: Host) -> None:
    host.pod("py-0", runs=4)
    host.run("x", labels={"app": "b"}, pod="py-0")
    host.run("near-a", affinity=near("a"))
    host.run("away-b", affinity=affinity_object(required_anti=[term_object({"app": "b"})]))
    host.settle()
    assert (host.pod_of("near-a"), host.pod_of("away-b")) == (None, None)
    host.change("x", metadata={"labels": {"app": "a"}})
    host.settle()
    assert (host.pod_of("near-a"), host.pod_of("away-b")) == ("py-0", "py-0")


def test_an_assumption_that_is_undone_is_a_change_of_targets_for_other_runtimes(host: Host) -> None:
    """A cohort that cannot be seeded while a target is assumed elsewhere can be when that is undone."""
    host.pod("py-0", runs=4)
    host.pod("js-0", runtime="js", runs=1)
    host.disturb("t", hold_request)
    host.run("t", runtime="js", labels={"app": "a"})
    host.settle()
    host.run("r", labels={"app": "a"}, affinity=near("a"))
    host.settle()
    assert host.pod_of("r") is None
    host.delete("t")
    host.settle()
    assert host.pod_of("r") == "py-0"
    assert wakeups(host)[WakeSource.TARGET] == 1


def test_a_workspace_wakes_those_that_name_it_and_nobody_else(host: Host) -> None:
    host.pod("py-0", runs=2)
    host.pod("py-1", runs=2, ready=False)
    host.run("r", workspace="ws")
    host.run("other", workspace="ws-2")
    host.settle()
    cycles = host.cycles
    host.workspace("ws", phase="Bound", bound_pod="py-0")
    host.settle()
    assert (host.pod_of("r"), host.pod_of("other")) == ("py-0", None)
    assert wakeups(host)[WakeSource.WORKSPACE] == 1
    # One for the Run, and one evaluation of the class of the other when the Pod was taken from.
    assert host.cycles - cycles <= 2


def test_a_workspace_that_is_missing_then_pending_then_bound_then_lost_then_bound_elsewhere(
    host: Host,
) -> None:
    host.pod("py-0", runs=4)
    host.pod("py-1", runs=4)
    host.run("r", workspace="ws-1")
    host.run("r2", workspace="ws-2")
    host.run("r3")
    host.workspace("ws-2", runtime="js", bound_pod="js-0")
    host.settle()
    assert host.pod_of("r3") is not None
    host.workspace("ws-1", phase="Pending", bound_pod=None)
    host.advance(100)
    host.workspace("ws-1", phase="Bound", bound_pod="py-0")
    host.settle()
    assert host.pod_of("r") == "py-0"
    assert host.texts("r") == [
        "waiting for its persistent workspace to be created",
        "waiting for its persistent workspace to be bound to a runtime pod",
    ]
    assert host.texts("r2") == ['waiting for a persistent workspace of runtime "py"']
    host.workspace("ws-1", phase="Lost", bound_pod=None)
    host.run("r4", workspace="ws-1")
    host.settle()
    assert host.pod_of("r4") is None
    host.workspace("ws-1", phase="Bound", bound_pod="py-1")
    host.settle()
    assert host.pod_of("r4") == "py-1"


@pytest.mark.parametrize("gone_by", ["event", "list"])
def test_a_workspace_that_is_deleted_is_missing(host: Host, gone_by: str) -> None:
    host.pod("py-0", runs=1)
    host.workspace("ws", phase="Bound", bound_pod="py-9")
    host.run("r", workspace="ws")
    host.settle()
    if gone_by == "list":
        host.watches.hold(WORKSPACES)
    host.delete("ws", kind=WORKSPACES)
    if gone_by == "list":
        host.relist(WORKSPACES)
    host.settle()
    assert host.texts("r")[-1] == "waiting for its persistent workspace to be created"


def test_a_late_deletion_of_a_former_workspace_does_not_touch_its_successor(host: Host) -> None:
    host.pod("py-0", runs=1)
    host.workspace("ws", uid="W2", bound_pod="py-0")
    host.observe()
    host.tell(events.WorkspaceGone(namespace=NAMESPACE, name="ws", uid="W1", version="999"))
    host.run("r", workspace="ws")
    host.settle()
    assert host.pod_of("r") == "py-0"


def test_the_bound_pod_of_a_workspace_is_the_one_that_bears_the_name_now(host: Host) -> None:
    host.workspace("ws", bound_pod="py-0")
    host.pod("py-0", runs=1, uid="P0", ready=False)
    host.run("r", workspace="ws")
    host.settle()
    host.pod("py-0", runs=1, uid="P0b")
    host.settle()
    assert host.status("r")["assignedPodUID"] == "P0b"


def test_a_reservation_that_is_released_wakes_by_reservation_released(host: Host) -> None:
    host.pod("py-0", runs=1)
    host.disturb("r1", hold_request)
    host.run("r1")
    host.settle()
    host.run("r2")
    host.settle()
    host.engine.tally.wakeups.clear()
    host.change("r1", spec={"cancelRequested": True})
    host.release("r1")
    host.settle()
    assert host.pod_of("r2") == "py-0"
    assert wakeups(host) == {WakeSource.RESERVATION_RELEASED: 1}


def test_a_retry_delay_and_a_backoff_wake_by_timer(host: Host) -> None:
    host.pod("py-0", runs=2)
    host.run(
        "delayed",
        status={"attempt": 2, "conditions": [condition_object("Running", False, since=NOW)]},
    )
    host.disturb("refused", refuse(422))
    host.run("refused")
    host.advance(1)
    assert (host.pod_of("delayed"), host.pod_of("refused")) == ("py-0", "py-0")
    assert wakeups(host) == {WakeSource.TIMER: 2}


def test_a_heartbeat_that_runs_out_wakes_those_that_wait_for_fewer_targets_not_for_room(host: Host) -> None:
    """A Pod that became unavailable is offered once, and rejects."""
    full(host)
    host.silence("py-0")
    host.advance(29)
    assert host.pod_of("r") is None
    assert wakeups(host)[WakeSource.TIMER] == 1


def test_reload_wakes_all_and_counts_them(host: Host) -> None:
    def closed(pod: RuntimePod) -> Reject | None:
        return Reject("Closed")

    host = Host(profiles_of(fake_plugin(filter=closed, reasons=["Closed"])))
    host.pod("py-0", runs=2)
    host.run("r1")
    host.run("r2")
    host.settle()
    host.engine.reload(profiles_of(fake_plugin(filter=lambda pod: None)), host.now)
    host.settle()
    assert (host.pod_of("r1"), host.pod_of("r2")) == ("py-0", "py-0")
    assert wakeups(host)[WakeSource.RELOAD] == 2


def test_a_plan_by_a_former_profile_is_made_again_after_a_reload() -> None:
    host = Host(profiles_of(fake_plugin(filter=lambda pod: None)))
    host.pod("py-0", runs=2)
    host.run("r")
    host.observe()
    work = host.take()
    closed = fake_plugin(filter=lambda pod: Reject("Closed"), reasons=["Closed"])
    host.engine.reload(profiles_of(closed), host.now)
    host.finish(work)
    host.settle()
    assert host.pod_of("r") is None


def test_profiles_of_one_name_after_a_reload_have_needs_of_their_own() -> None:
    """A profile that is gone may leave its place in memory to the next: nothing may be kept by that."""

    def by_snapshot(pod: RuntimePod, snapshot: Snapshot) -> Reject | None:
        return None if sum(snapshot.targets.values()) else Reject("Alone")

    host = Host(profiles_of(fake_plugin(filter=lambda pod: Reject("Closed"), reasons=["Closed"])))
    host.pod("py-0", runs=2)
    host.run("r")
    host.settle()
    for number in range(50):
        host.engine.reload(
            profiles_of(fake_plugin(filter=lambda pod: Reject("No"), reasons=["No"])), host.now
        )
        host.settle()
        host.engine.reload(profiles_of(fake_plugin(filter=by_snapshot, reasons=["Alone"])), host.now)
        host.settle()
        host.run("t", uid=f"t{number}", runtime="js", pod="js-0")
        host.settle()
        assert host.pod_of("r") == "py-0"
        host.delete("t")
        host.delete("r")
        host.run("r", uid=f"r{number}")
        host.settle()


def test_nobody_joins_a_class_of_a_former_profile_whose_first_run_is_still_in_work() -> None:
    """What woke its Runs was read off other plugins."""

    def by_snapshot(pod: RuntimePod, snapshot: Snapshot) -> Reject | None:
        return None if sum(snapshot.targets.values()) else Reject("Alone")

    host = Host(profiles_of(fake_plugin(filter=lambda pod: Reject("Closed"), reasons=["Closed"])))
    host.run("r1")
    host.run("r2")
    host.settle()
    host.pod("py-0", runs=2)
    host.observe()
    work = host.take()
    host.engine.reload(profiles_of(fake_plugin(filter=by_snapshot, reasons=["Alone"])), host.now)
    host.work()
    host.finish(work)
    host.settle()
    host.run("t", runtime="js", pod="js-0")
    host.settle()
    assert (host.pod_of("r1"), host.pod_of("r2")) == ("py-0", "py-0")


# What the Run itself asks for


def test_its_own_labels_wake_a_run(host: Host) -> None:
    host.pod("py-0", runs=2)
    host.run("r", affinity=near("a"))
    host.settle()
    host.change("r", metadata={"labels": {"app": "a"}})
    host.settle()
    assert host.pod_of("r") == "py-0"


@pytest.mark.parametrize(
    "when", ["waiting", "in its delay", "in backoff", "with an invalid request", "queued"]
)
def test_a_cancelled_run_ends_at_once_and_first_of_all(host: Host, when: str) -> None:
    if when == "in its delay":
        stopped = condition_object("Running", False, since=NOW)
        host.run("r", status={"attempt": 5, "conditions": [stopped]})
    elif when == "in backoff":
        host.pod("py-0")
        host.disturb("r", refuse(422))
        host.run("r")
    elif when == "with an invalid request":
        host.run("r", requests={"gpu": "0.5"}, spec={"cancelRequested": True})
    else:
        host.run("r")
    if when not in ("queued", "with an invalid request"):
        host.settle()
    if when != "with an invalid request":
        host.change("r", spec={"cancelRequested": True})
    host.settle()
    status = host.status("r")
    assert status["phase"] == "Cancelled"
    assert status["completionTime"] == "2026-01-02T03:04:05Z"
    conditions = {c["type"]: (c["status"], c["reason"]) for c in status["conditions"]}
    assert conditions["Running"] == conditions["Completed"] == ("False", "Cancelled")
    assert host.pod_of("r") is None


def test_a_cancellation_after_the_accepted_bind_is_left_to_others(host: Host) -> None:
    host.pod("py-0")
    host.run("r")
    host.settle()
    host.change("r", spec={"cancelRequested": True})
    host.advance(60)
    assert host.status("r")["phase"] == "Scheduled"


def test_a_run_that_is_being_deleted_is_left_alone(host: Host) -> None:
    deleting = {"deletionTimestamp": "2026-01-02T03:04:05Z", "finalizers": ["example.com/f"]}
    host.pod("py-0", runs=4)
    host.run("r1", metadata=deleting)
    host.run("r2", metadata=deleting, spec={"cancelRequested": True})
    host.run("r3", metadata=deleting, requests={"gpu": "0.5"})
    host.advance(60)
    assert not host.requests


# Prefilters


@pytest.fixture
def asking() -> Callable[[Callable[[Targets], Any]], Host]:
    """A host whose one plugin has a prefilter that reads the targets, and rejects while it says so."""

    def make(read: Callable[[Targets], Any]) -> Host:
        def prefilter(targets: Targets) -> bool:
            return bool(read(targets))

        def closed(pod: RuntimePod, state: bool) -> Reject | None:
            return None if state else Reject("Closed")

        host = Host(profiles_of(fake_plugin(prefilter=prefilter, filter=closed, reasons=["Closed"])))
        host.pod("py-0", runs=9)
        host.run("r")
        host.settle()
        return host

    return make


APP_A: LabelSelector = matching(app="a")


def test_of_a_prefilter_that_asked_any_only_flips_wake(asking: Callable[..., Host]) -> None:
    host = asking(lambda targets: targets.any(APP_A) and False)
    cycles = []
    for number in range(3):
        host.run(f"t{number}", labels={"app": "a"}, pod="js-0")
        host.settle()
        cycles.append(host.cycles)
    host.run("other", labels={"app": "b"}, pod="js-0")
    host.settle()
    cycles.append(host.cycles)
    assert cycles == [2, 2, 2, 2]


def test_of_a_prefilter_that_asked_how_many_each_change_wakes(asking: Callable[..., Host]) -> None:
    host = asking(lambda targets: targets.count(APP_A) >= 3)
    for number in range(3):
        assert host.pod_of("r") is None
        host.run(f"t{number}", labels={"app": "a"}, pod="js-0")
        host.settle()
    assert host.pod_of("r") == "py-0"
    assert host.cycles == 4


@pytest.mark.parametrize(
    "read",
    [lambda t: sum(t.values()) >= 2, lambda t: len(t) >= 2, lambda t: any(k.get("app") == "b" for k in t)],
    ids=["values", "len", "iteration"],
)
def test_of_a_prefilter_that_looked_at_all_targets_any_change_wakes(
    asking: Callable[..., Host], read: Callable[[Targets], bool]
) -> None:
    host = asking(read)
    host.run("t1", labels={"app": "a"}, pod="js-0")
    host.settle()
    assert host.pod_of("r") is None
    host.run("t2", labels={"app": "b"}, pod="js-0")
    host.settle()
    assert host.pod_of("r") == "py-0"


def test_a_prefilter_that_did_not_look_is_not_woken_by_targets(asking: Callable[..., Host]) -> None:
    host = asking(lambda targets: False)
    host.run("t", labels={"app": "a"}, pod="js-0")
    host.settle()
    assert host.cycles == 1


def test_a_prefilter_that_named_the_snapshot_is_asked_again_at_any_change_of_the_namespace() -> None:
    def prefilter(snapshot: Snapshot) -> int:
        return len(snapshot.workspaces)

    def closed(pod: RuntimePod, state: int) -> Reject | None:
        return None if state else Reject("Closed")

    host = Host(profiles_of(fake_plugin(prefilter=prefilter, filter=closed, reasons=["Closed"])))
    host.pod("py-0")
    host.run("r")
    host.settle()
    host.workspace("ws", namespace="team-b")
    host.settle()
    assert host.pod_of("r") is None
    host.workspace("ws")
    host.settle()
    assert host.pod_of("r") == "py-0"


def test_a_change_during_the_plan_of_a_run_whose_prefilter_named_the_snapshot_is_not_lost() -> None:
    def prefilter(snapshot: Snapshot) -> int:
        return len(snapshot.workspaces)

    def closed(pod: RuntimePod, state: int) -> Reject | None:
        return None if state else Reject("Closed")

    host = Host(profiles_of(fake_plugin(prefilter=prefilter, filter=closed, reasons=["Closed"])))
    host.pod("py-0")
    host.run("r")
    host.observe()
    work = host.take()
    host.workspace("ws")
    host.observe()
    host.finish(work)
    host.settle()
    assert host.pod_of("r") == "py-0"


# Filters that may depend on more


def waits_for_three(snapshot: Snapshot) -> Reject | None:
    return None if sum(snapshot.targets.values()) >= 3 else Reject("Closed")


def test_a_filter_that_named_the_snapshot_is_asked_at_any_change_placements_included() -> None:
    def closed(pod: RuntimePod, snapshot: Snapshot) -> Reject | None:
        return waits_for_three(snapshot) if snapshot.runtime == "py" else None

    host = Host(profiles_of(fake_plugin(filter=closed, reasons=["Closed"])))
    host.pod("py-0")
    host.pod("js-0", runtime="js", runs=9)
    host.run("r")
    host.settle()
    for number in range(3):
        assert host.pod_of("r") is None
        host.run(f"t{number}", runtime="js")
        host.settle()
    assert host.pod_of("r") == "py-0"


def test_a_stateful_filter_is_asked_at_any_change_and_its_answers_are_never_reused() -> None:
    open_: list[bool] = []

    def closed(pod: RuntimePod) -> Reject | None:
        return None if open_ else Reject("Closed")

    host = Host(profiles_of(fake_plugin(filter=closed, reasons=["Closed"], stateful=True)))
    host.pod("py-0", runs=2)
    host.run("r")
    host.settle()
    open_.append(True)
    host.workspace("unrelated")
    host.settle()
    assert host.pod_of("r") == "py-0"


def test_runs_of_a_run_naming_filter_are_classes_of_their_own() -> None:
    def odd_only(pod: RuntimePod, run: Any) -> Reject | None:
        return None if run.labels.get("odd") else Reject("Even")

    host = Host(profiles_of(fake_plugin(filter=odd_only, reasons=["Even"])))
    for number in range(4):
        host.run(f"r{number}", labels={"odd": "yes"} if number % 2 else {})
    host.settle()
    host.pod("py-0", runs=9)
    host.settle()
    assert [host.pod_of(f"r{number}") for number in range(4)] == [None, "py-0", None, "py-0"]


@pytest.mark.parametrize("by", ["pod", "prefilter"])
def test_again_at_wakes_a_run_at_that_time_and_not_before(by: str) -> None:
    opens = NOW + timedelta(seconds=17)

    def closed(now: datetime) -> Reject | None:
        return None if now >= opens else Reject("Closed", again_at=opens)

    def by_pod(pod: RuntimePod, snapshot: Snapshot) -> Reject | None:
        return closed(snapshot.now)

    def prefilter(snapshot: Snapshot) -> bool:
        return snapshot.now >= opens

    def by_state(pod: RuntimePod, state: bool) -> Reject | None:
        return None if state else Reject("Closed", again_at=opens)

    plugin = (
        fake_plugin(filter=by_pod, reasons=["Closed"])
        if by == "pod"
        else fake_plugin(prefilter=prefilter, filter=by_state, reasons=["Closed"])
    )
    host = Host(profiles_of(plugin))
    host.pod("py-0")
    host.run("r")
    host.advance(16.999)
    assert (host.pod_of("r"), host.cycles) == (None, 1)
    host.advance(0.001)
    assert host.pod_of("r") == "py-0"
    assert wakeups(host) == {WakeSource.TIMER: 1}


def test_again_at_in_the_past_makes_no_loop() -> None:
    def closed(pod: RuntimePod, snapshot: Snapshot) -> Reject:
        return Reject("Closed", again_at=NOW)

    host = Host(profiles_of(fake_plugin(filter=closed, reasons=["Closed"])))
    host.pod("py-0", beating=False)
    host.run("r")
    host.advance(10)
    assert host.cycles == 1


def test_the_earliest_of_several_times_counts() -> None:
    def closed(pod: RuntimePod, snapshot: Snapshot) -> Reject | None:
        opens = NOW + timedelta(seconds=10 if pod.name == "py-1" else 20)
        if pod.usage:
            return Reject("Full")
        return None if snapshot.now >= opens else Reject("Closed", again_at=opens)

    host = Host(profiles_of(fake_plugin(filter=closed, reasons=["Closed", "Full"])))
    for name in ("py-0", "py-1"):
        host.pod(name, runs=1)
    host.run("r1")
    host.run("r2")
    host.advance(10)
    assert (host.pod_of("r1"), host.pod_of("r2")) == ("py-1", None)
    host.advance(10)
    assert host.pod_of("r2") == "py-0"


# Classes and order


def test_order_holds_within_a_class(host: Host) -> None:
    names = [f"r{number}" for number in range(9)]
    for name in names:
        host.run(name)
    host.settle()
    placed = []
    for number in range(9):
        host.pod(f"py-{number}", runs=1)
        host.settle()
        placed += [name for name in names if host.pod_of(name) and name not in placed]
    assert placed == names


def test_changed_pods_are_offered_to_the_classes_in_the_order_of_their_first_runs(host: Host) -> None:
    host.run("b1", requests={"gpu": "1"})
    host.run("a1")
    host.run("b2", requests={"gpu": "1"})
    host.run("a2")
    host.settle()
    for number, expected in enumerate(["b1", "a1", "b2", "a2"]):
        host.pod(f"py-{number}", runs=1, capacity={"gpu": "1"})
        host.settle()
        assert host.pod_of(expected) == f"py-{number}"


def test_a_smaller_later_run_may_pass_a_larger_one(host: Host) -> None:
    host.run("large", requests={"runs": "3"})
    host.run("small")
    host.settle()
    host.pod("py-0", runs=2)
    host.settle()
    assert (host.pod_of("large"), host.pod_of("small")) == (None, "py-0")


def test_a_pod_with_64_free_slots_places_64(host: Host) -> None:
    for number in range(100):
        host.run(f"r{number:02}")
    host.settle()
    cycles = host.cycles
    host.pod("py-0", runs=64)
    host.settle()
    placed = [f"r{number:02}" for number in range(100) if host.pod_of(f"r{number:02}")]
    assert placed == [f"r{number:02}" for number in range(64)]
    assert host.cycles - cycles == 65


@pytest.mark.parametrize("first", ["cancelled", "gone", "refused", "deleting", "broken", "elsewhere"])
def test_a_first_run_that_does_not_take_the_room_hands_it_on(first: str) -> None:
    def picky(pod: RuntimePod, run: Any) -> Reject | None:
        if first == "broken" and run.name == "r1" and pod.name == "py-0":
            raise RuntimeError("no")
        return None

    def room(pod: RuntimePod, state: Any) -> Reject | None:
        return None if pod.available and pod.fits(state) else Reject("Full")

    host = Host(
        profiles_of(
            fake_plugin("Room", prefilter=lambda request: request, filter=room, reasons=["Full"]),
            fake_plugin("Picky", score=lambda pod, run: picky(pod, run) or 0),
        )
    )
    for name in ("r1", "r2", "r3"):
        host.run(name)
    host.settle()
    host.pod("py-0", runs=1)
    if first == "refused":
        host.disturb("r1", refuse(422))
    host.observe()
    work = host.take()
    assert work.run.name == "r1"  # type: ignore[union-attr]
    if first == "cancelled":
        host.change("r1", spec={"cancelRequested": True})
    elif first == "gone":
        host.delete("r1")
    elif first == "deleting":
        host.change("r1", metadata={"deletionTimestamp": "2026-01-02T03:04:05Z"})
    elif first == "elsewhere":
        elsewhere = {"phase": "Scheduled", "assignedPod": "py-7", "assignedPodUID": "uid-py-7"}
        host.change("r1", status=elsewhere)
    host.observe()
    host.finish(work)
    host.settle()
    assert (host.pod_of("r2"), host.pod_of("r3")) == ("py-0", None)


def test_another_namespace_is_never_touched(host: Host) -> None:
    host.pod("py-0", runs=1)
    host.run("x", pod="py-0")
    host.run("r", affinity=near("a"), labels={"app": "a"})
    host.settle()
    cycles = host.cycles
    host.pod("py-0", namespace="team-b", runs=1)
    host.run("x", namespace="team-b", labels={"app": "a"}, pod="py-0")
    host.workspace("ws", namespace="team-b")
    host.settle()
    host.delete("x", namespace="team-b")
    host.settle()
    assert host.cycles == cycles


def test_one_run_of_a_class_is_in_work_at_a_time(host: Host) -> None:
    """Its answer is the answer of all of them."""
    for name in ("r1", "r2", "r3"):
        host.run(name)
    host.settle()
    host.pod("py-0", runs=1)
    host.observe()
    work = host.take()
    assert host.engine.take(host.now) is None
    host.finish(work)
    host.settle()
    assert [host.pod_of(name) for name in ("r1", "r2", "r3")] == ["py-0", None, None]


# The sweep


def test_the_sweep_looks_at_each_class_every_30_s_and_finds_nothing(host: Host) -> None:
    for number in range(50):
        host.run(f"r{number}", requests={f"gpu{number % 5}": "1"})
    host.pod("py-0", runs=1)
    host.settle()
    cycles = host.cycles
    host.advance(29.9)
    assert host.cycles == cycles
    host.advance(60)
    assert host.cycles - cycles == 2 * 5
    assert host.engine.tally.rescues == 0


def test_a_wakeup_that_was_lost_is_rescued_by_the_sweep_and_counted(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    full(host)
    waiting = host.engine._core.waiting
    with monkeypatch.context() as lossy:
        lossy.setattr(waiting, "pod_changed", lambda namespace, runtime: None)
        host.end("x")
        host.settle()
    assert host.pod_of("r") is None
    host.advance(31)
    assert host.pod_of("r") == "py-0"
    assert host.engine.tally.rescues == 1


def test_a_sweep_that_rescues_one_run_goes_on_with_its_class(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        host.run(f"r{number}")
    host.settle()
    with monkeypatch.context() as lossy:
        lossy.setattr(host.engine._core.waiting, "pod_changed", lambda namespace, runtime: None)
        host.pod("py-0", runs=3)
        host.settle()
    host.advance(31)
    assert [host.pod_of(f"r{number}") for number in range(3)] == ["py-0"] * 3


def test_the_sweep_gets_its_turn_while_the_queue_is_never_empty(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    full(host)
    with monkeypatch.context() as lossy:
        lossy.setattr(host.engine._core.waiting, "pod_changed", lambda namespace, runtime: None)
        host.end("x")
        host.settle()
    host.advance(29.9)
    for number in range(40):
        arrived = RunObservation(run=make_run(f"n{number}", runtime="js"), version="1")
        host.tell(events.RunObserved(arrived))
        host.pass_time(0.01)
        host.finish(host.take())
    assert host.engine.tally.rescues == 1


def test_a_heartbeat_storm_moves_nothing_and_does_not_delay_a_run_that_fits(host: Host) -> None:
    for number in range(20):
        host.pod(f"py-{number:02}", runs=9)
    for number in range(60):
        host.run(f"r{number:02}", requests={"gpu": "1"})
    host.settle()
    cycles = host.cycles
    host.advance(60)
    assert host.cycles - cycles == 2
    host.run("ok")
    host.settle()
    assert host.pod_of("ok") == "py-00"
    assert len(host.requests) == 61
    assert all(host.texts(f"r{number:02}") == [BASE_TEXT] for number in range(60))
    assert host.engine.tally.rescues == 0


def test_many_runs_few_slots_and_a_slow_server(host: Host) -> None:
    """Forty Runs, four slots, 200 ms a write, a watch that is 3 s late; each ends 1 s after its bind."""
    host.transport = arrive_late(0.2)
    host.pod("py-0", runs=4)
    names = [f"r{number:02}" for number in range(40)]
    for name in names:
        host.run(name)
    host.settle()
    ended: set[str] = set()
    for _ in range(400):
        host.watches.hold(RUNS)
        host.later(3, partial(host.watches.let_through, RUNS, len(host.server.events[RUNS])))
        host.advance(0.25)
        for name in names:
            if host.pod_of(name) and name not in ended:
                ended.add(name)
                host.later(1, partial(host.end, name))
    assert ended == set(names)
    assert set(host.server.invariants.binds.values()) == {1}
