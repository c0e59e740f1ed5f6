"""Each source of a wakeup, by itself."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from kruntimes_core import Reject, RuntimePod, Snapshot
from kruntimes_core.engine import events
from kruntimes_core.engine.tally import WakeSource
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.testing import affinity_object, condition_object, term_object
from kruntimes_core.testing.builders import NAMESPACE, NOW
from kruntimes_core.testing.harness import PODS, WORKSPACES, Host, hold_request, refuse
from kruntimes_core.testing.plugins import fake_plugin, profiles_of


def near(app: str) -> dict[str, Any]:
    return affinity_object(required=[term_object({"app": app})])


def full(host: Host, name: str = "py-0") -> None:
    """A Pod without room, and a Run `r` that waits for it."""
    host.pod(name, runs=1)
    host.run("x", pod=name)
    host.run("r")
    host.settle()
    host.engine.tally.wakeups.clear()
    assert host.pod_of("r") is None


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
    assert host.wakeups == {WakeSource.RUNTIME_POD: 1}


def test_a_pod_that_gets_ready_wakes(host: Host) -> None:
    host.pod("py-0", ready=False)
    host.run("r")
    host.settle()
    host.ready("py-0", True)
    host.settle()
    assert host.pod_of("r") == "py-0"
    assert host.wakeups == {WakeSource.RUNTIME_POD: 1}


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
    assert host.wakeups == {WakeSource.CAPACITY_RELEASED: 1}


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
    assert host.wakeups[WakeSource.TARGET] == 1


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
    assert host.wakeups[WakeSource.TARGET] == 1


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
    assert host.wakeups[WakeSource.WORKSPACE] == 1
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
    assert host.wakeups == {WakeSource.RESERVATION_RELEASED: 1}


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
    assert host.wakeups == {WakeSource.TIMER: 2}


def test_a_heartbeat_that_runs_out_wakes_those_that_wait_for_fewer_targets_not_for_room(host: Host) -> None:
    """A Pod that became unavailable is offered once, and rejects."""
    full(host)
    host.silence("py-0")
    host.advance(29)
    assert host.pod_of("r") is None
    assert host.wakeups[WakeSource.TIMER] == 1


def test_again_at_is_not_forgotten_while_the_only_run_of_its_class_is_in_work() -> None:
    opens = NOW + timedelta(seconds=8)

    def nap(pod: RuntimePod, snapshot: Snapshot) -> Reject | None:
        return Reject("Naps", again_at=opens) if snapshot.now < opens else None

    host = Host(profiles_of(fake_plugin(filter=nap, reasons=["Naps"])))
    host.pod("py-0")
    host.run("r")
    host.settle()
    host.server.change(PODS, NAMESPACE, "py-0", {"metadata": {"annotations": {"edit": "1"}}})
    host.observe()
    work = host.take()
    assert host.engine.wake_at is not None  # a driver may ask at any time; it used to drop the alarm
    host.finish(work)
    host.silence("py-0")
    host.advance(8)
    assert host.pod_of("r") == "py-0"


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
    assert host.wakeups[WakeSource.RELOAD] == 2


def raising(*_: Any) -> None:
    raise RuntimeError("broken")


@pytest.mark.parametrize(
    "former",
    [
        fake_plugin(filter=lambda pod: raising()),
        fake_plugin(reserve=lambda pod: Reject("Closed"), reasons=["Closed"]),
        fake_plugin(queue_key=lambda run: raising()),
    ],
    ids=["a plugin fails", "reserve says no", "queue_key fails"],
)
def test_reload_ends_the_backoff_that_the_former_plugins_caused(former: ActivePlugin) -> None:
    host = Host(profiles_of(former))
    host.pod("py-0")
    host.run("r")
    host.advance(70)
    host.engine.reload(profiles_of(fake_plugin(filter=lambda pod: None)), host.now)
    host.settle()
    assert host.pod_of("r") == "py-0"


def test_reload_leaves_the_retry_delay_and_what_the_server_asked_for_alone() -> None:
    host = Host(profiles_of(fake_plugin(filter=lambda pod: None)))
    host.pod("py-0", runs=3)
    stopped = condition_object("Running", False, since=NOW)
    host.run("r1", spec={"retryPolicy": {"backoff": "30s"}}, status={"attempt": 2, "conditions": [stopped]})
    host.run("r2")
    host.disturb("r2", refuse(429, retry_after=30))
    host.settle()
    host.engine.reload(profiles_of(fake_plugin(filter=lambda pod: None)), host.now)
    host.advance(29)
    assert (host.pod_of("r1"), host.pod_of("r2")) == (None, None)
    host.advance(1)
    assert (host.pod_of("r1"), host.pod_of("r2")) == ("py-0", "py-0")


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
