"""What is known of Runtime Pods: values, claims by UID and name, heartbeats, versions."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from kruntimes_core.engine import events
from kruntimes_core.model.pod import RuntimePod, Unavailability
from kruntimes_core.model.snapshot import Pods
from kruntimes_core.testing import pod_object, run_object
from kruntimes_core.testing.builders import NAMESPACE, NOW
from kruntimes_core.testing.harness import PODS, RUNS, ApiServer, Host, hold_request

MICROSECOND = 0.000_001


def pods(host: Host, namespace: str = NAMESPACE) -> Pods:
    return host.engine.state.snapshot(namespace, "py", NOW).pods


def known(host: Host, name: str = "py-0") -> RuntimePod:
    return pods(host)[name]


def pod_event(host: Host, **fields: object) -> events.PodObserved:
    observation = host.server.decoder.pod(pod_object(**fields))  # type: ignore[arg-type]
    assert observation is not None
    return events.PodObserved(observation)


# Heartbeats


def test_a_heartbeat_or_another_version_makes_no_new_value(host: Host) -> None:
    host.pod("py-0")
    host.settle()
    before = known(host)
    host.advance(3)
    host.beat("py-0")
    host.server.change(PODS, NAMESPACE, "py-0", {"metadata": {"finalizers": ["example.com/x"]}})
    host.settle()
    assert known(host) is before


def test_a_heartbeat_of_exactly_the_limit_is_fresh_and_just_past_it_the_pod_is_not(host: Host) -> None:
    host.pod("py-0", beating=False)
    host.advance(15)
    assert known(host).available
    host.advance(MICROSECOND)
    assert known(host).unavailable is Unavailability.HEARTBEAT_STALE


def test_an_age_of_exactly_the_limit_at_first_sight_is_fresh(host: Host) -> None:
    host.pod("py-0", beating=False, probed_at=NOW - timedelta(seconds=15))
    host.pod("py-1", beating=False, probed_at=NOW - timedelta(seconds=16))
    host.settle()
    assert known(host, "py-0").available
    assert not known(host, "py-1").available


def test_the_engine_asks_to_be_woken_just_past_the_limit(host: Host) -> None:
    host.pod("py-0", beating=False)
    host.settle()
    assert host.engine.wake_at == 15_000_001


def test_a_heartbeat_after_the_limit_makes_the_pod_available_again(host: Host) -> None:
    host.pod("py-0", beating=False)
    host.advance(20)
    host.run("r")
    host.settle()
    assert host.pod_of("r") is None
    host.advance(10)
    host.beat("py-0")
    host.settle()
    assert host.pod_of("r") == "py-0"


def test_a_probe_time_in_the_future_counts_from_when_it_was_first_seen_and_no_edit_renews_it(
    host: Host,
) -> None:
    host.pod("py-0", beating=False, probed_at=NOW + timedelta(hours=1))
    host.settle()
    for step in range(14):
        host.advance(1)
        host.server.change(PODS, NAMESPACE, "py-0", {"metadata": {"annotations": {"edit": str(step)}}})
        host.relist(PODS)
    host.advance(1)
    assert known(host).available
    host.advance(MICROSECOND)
    assert not known(host).available


def test_a_pod_of_another_uid_gets_its_own_first_sight(host: Host) -> None:
    future = NOW + timedelta(hours=1)
    host.pod("py-0", beating=False, probed_at=future)
    host.advance(10)
    host.pod("py-0", uid="uid-next", beating=False, probed_at=future)
    host.advance(10)
    assert known(host).available
    host.advance(5 + MICROSECOND)
    assert not known(host).available


@pytest.mark.parametrize("uid", ["uid-py-0", "uid-next"])
def test_a_heartbeat_that_runs_out_earlier_than_the_one_before_is_noticed_in_time(
    host: Host, uid: str
) -> None:
    """By an edit of the same Pod, or by its successor: what was armed for the former is too late."""
    host.pod("py-0", beating=False, probed_at=NOW + timedelta(hours=1))
    host.advance(1)
    host.tell(pod_event(host, uid=uid, version="1000", probed_at=NOW - timedelta(seconds=9)))
    host.advance(5)
    assert known(host).available
    host.advance(MICROSECOND)
    assert not known(host).available


def test_the_age_is_taken_once_and_goes_on_by_the_monotonic_clock(host: Host) -> None:
    host.pod("py-0", beating=False)
    host.settle()
    host.jump(3_600)
    host.advance(15)
    assert known(host).available
    host.jump(-7_200)
    host.advance(MICROSECOND)
    assert not known(host).available


def test_a_wall_clock_that_jumped_ahead_recovers_with_the_next_heartbeat_after_it_is_back(
    host: Host,
) -> None:
    host.pod("py-0")
    host.settle()
    host.jump(3_600)
    host.beat("py-0", probed_at=NOW + timedelta(seconds=1))
    host.settle()
    assert not known(host).available
    host.jump(-3_600)
    host.beat("py-0", probed_at=NOW + timedelta(seconds=2))
    host.settle()
    assert known(host).available


@pytest.mark.parametrize(
    "runtimed",
    [
        {"type": "kruntimes.io/RuntimedReady", "status": "True", "lastProbeTime": None},
        {"type": "kruntimes.io/RuntimedReady", "status": "True"},
        {"type": "kruntimes.io/RuntimedReady", "status": "Unknown", "lastProbeTime": "2026-01-02T03:04:05Z"},
        {"type": "SomethingElse", "status": "True", "lastProbeTime": "2026-01-02T03:04:05Z"},
    ],
    ids=["null", "no time", "Unknown", "absent"],
)
def test_a_pod_without_a_probe_that_can_be_trusted_is_not_available(
    host: Host, runtimed: dict[str, str | None]
) -> None:
    pod = pod_object("py-0")
    pod["status"]["conditions"][1] = runtimed
    host.server.create(pod)
    host.run("r")
    host.advance(20)
    assert not known(host).available
    assert host.pod_of("r") is None


def test_a_heartbeat_that_runs_out_while_a_plan_is_under_way_stops_the_bind(host: Host) -> None:
    host.pod("py-0", beating=False)
    host.run("r")
    host.observe()
    work = host.take()
    host.advance(15 + MICROSECOND)
    host.finish(work)
    host.settle()
    assert host.pod_of("r") is None


@pytest.mark.parametrize("step", ["take", "finish", "send"])
def test_no_decision_trusts_a_heartbeat_that_ran_out_however_late_the_timer_is(host: Host, step: str) -> None:
    host.pod("py-0", beating=False)
    host.run("r")
    host.observe()
    if step == "take":
        host.pass_time(15 + MICROSECOND, tick=False)
    work = host.take()
    if step == "finish":
        host.pass_time(15 + MICROSECOND, tick=False)
    host.finish(work)
    if step == "send":
        host.pass_time(15 + MICROSECOND, tick=False)
    host.settle()
    assert host.pod_of("r") is None


# Claims


def test_usage_is_kept_by_pod_uid_whether_or_not_the_pod_is_known(host: Host) -> None:
    host.run("early", pod="py-0", pod_uid="uid-py-0", labels={"app": "a"})
    host.run("other", pod="py-0", pod_uid="uid-former", labels={"app": "b"})
    host.settle()
    host.pod("py-0", runs=2)
    host.settle()
    assert dict(known(host).usage) == {"runs": 1}
    assert [dict(labels) for labels in known(host).targets] == [{"app": "a"}]
    namespace = host.engine.state.snapshot(NAMESPACE, "py", NOW).targets
    assert sorted(dict(labels)["app"] for labels in namespace) == ["a", "b"]


def test_an_assignment_without_a_uid_counts_on_the_pod_that_bears_the_name_now(host: Host) -> None:
    run = run_object("r", pod="py-0")
    del run["status"]["assignedPodUID"]
    host.server.create(run)
    host.pod("py-0")
    host.settle()
    assert dict(known(host).usage) == {"runs": 1}
    host.pod("py-0", uid="uid-next")
    host.settle()
    assert dict(known(host).usage) == {"runs": 1}


def test_a_pod_that_is_created_again_under_its_name_carries_nothing_over(host: Host) -> None:
    host.pod("py-0", runs=1)
    host.run("r1")
    host.settle()
    host.pod("py-0", runs=1, uid="uid-next")
    host.settle()
    assert not known(host).usage
    host.run("r2")
    host.settle()
    assert host.status("r2")["assignedPodUID"] == "uid-next"


def test_a_pod_that_moves_to_another_runtime_leaves_the_first(host: Host) -> None:
    host.pod("py-0")
    host.settle()
    host.server.change(PODS, NAMESPACE, "py-0", {"metadata": {"labels": {"runtime": "js"}}})
    host.run("r-py")
    host.run("r-js", runtime="js")
    host.settle()
    assert (host.pod_of("r-py"), host.pod_of("r-js")) == (None, "py-0")


@pytest.mark.parametrize("phase", ["Hibernating", "Scheduled", "Running", "Ready"])
def test_an_active_or_unknown_phase_with_a_pod_holds_room(host: Host, phase: str) -> None:
    host.pod("py-0", runs=1)
    host.run("holder", pod="py-0", phase=phase)
    host.run("r")
    host.settle()
    assert host.pod_of("r") is None
    host.end("holder", phase="Failed")
    host.settle()
    assert host.pod_of("r") == "py-0"


def test_an_active_run_whose_request_cannot_be_read_holds_what_can_be(host: Host) -> None:
    host.pod("py-0", runs=4, capacity={"gpu": "2"})
    host.run("holder", pod="py-0", requests={"gpu": "2", "disk": "1K"})
    host.settle()
    assert dict(known(host).usage) == {"runs": 1, "gpu": 2}


def test_an_active_run_with_a_deletion_timestamp_counts_until_it_is_gone(host: Host) -> None:
    host.pod("py-0", runs=1)
    host.run("holder", pod="py-0", metadata={"deletionTimestamp": "2026-01-02T03:04:05Z"})
    host.run("r")
    host.settle()
    assert host.pod_of("r") is None
    host.delete("holder")
    host.settle()
    assert host.pod_of("r") == "py-0"


# Versions


def test_an_older_observation_of_a_pod_changes_nothing(host: Host) -> None:
    host.tell(pod_event(host, version="100", ready=False))
    host.tell(pod_event(host, version="99", ready=True))
    assert not known(host).available
    host.tell(pod_event(host, version="101", ready=True))
    assert known(host).available


def test_versions_are_ordered_as_numbers_not_as_texts(host: Host) -> None:
    host.tell(pod_event(host, version="9", ready=False))
    host.tell(pod_event(host, version="10", ready=True))
    assert known(host).available


def test_the_late_deletion_of_a_former_pod_does_not_touch_its_successor(host: Host) -> None:
    host.tell(pod_event(host, uid="P0", version="5"))
    host.tell(pod_event(host, uid="P0b", version="9"))
    host.tell(events.PodGone(namespace=NAMESPACE, name="py-0", uid="P0", version="8"))
    assert known(host).uid == "P0b"


def test_a_pod_that_a_list_does_not_have_is_gone_unless_it_is_newer_than_the_list(host: Host) -> None:
    host.tell(pod_event(host, name="old", version="5"))
    host.tell(pod_event(host, name="new", version="50"))
    host.tell(events.PodsListed(observations=(), version="20"))
    assert "old" not in pods(host)
    assert known(host, "new").name == "new"


def test_the_list_of_one_namespace_says_nothing_of_another(host: Host) -> None:
    host.tell(pod_event(host, namespace="team-b", version="5"))
    host.tell(events.PodsListed(observations=(), version="20", namespace=NAMESPACE))
    assert "py-0" in pods(host, "team-b")


def test_an_older_observation_of_a_run_changes_nothing(host: Host) -> None:
    """A list or a read of an older state (C9): the Run that was seen running does not queue again."""
    host.pod("py-0", runs=1)
    host.run("r1")
    host.run("r2")
    before = host.server.list(RUNS)
    host.settle()
    assert (host.pod_of("r1"), host.pod_of("r2")) == ("py-0", None)
    cycles = host.cycles
    host.relist(RUNS, listing=before)
    host.settle()
    host.advance(25)
    assert (host.pod_of("r1"), host.pod_of("r2")) == ("py-0", None)
    assert host.cycles == cycles


def test_a_list_from_before_the_answer_to_an_own_bind_does_not_undo_it(host: Host) -> None:
    host.pod("py-0", runs=1)
    host.run("r1")
    host.observe()
    before = host.server.list(RUNS)
    host.watches.hold(RUNS)
    host.settle()
    host.relist(RUNS, listing=before)
    host.run("r2")
    host.watches.resume(RUNS)
    host.settle()
    assert host.server.invariants.binds == {("uid-r1", 1): 1}
    assert host.pod_of("r2") is None


def test_versions_without_an_order_lead_to_reads_and_to_the_same_placements(
    make_host: Callable[..., Host],
) -> None:
    host = make_host(server=ApiServer(spell=lambda number: f"v{number:x}q"))
    host.pod("py-0", runs=1)
    host.run("r1")
    host.run("r2")
    host.advance(5)
    assert (host.pod_of("r1"), host.pod_of("r2")) == ("py-0", None)
    host.change("r2", metadata={"labels": {"app": "a"}})
    host.end("r1")
    host.advance(5)
    assert host.pod_of("r2") == "py-0"


def test_versions_without_an_order_do_not_end_a_reservation_before_its_echo(
    make_host: Callable[..., Host],
) -> None:
    """What stands there is the version that the bind replaced; being different makes it no newer."""
    host = make_host(server=ApiServer(spell=lambda number: f"v{number:x}q"))
    host.pod("py-0", runs=1)
    host.run("r1")
    host.run("r2")
    host.observe()
    host.watches.hold(RUNS)
    host.settle()
    assert (host.pod_of("r1"), host.pod_of("r2")) == ("py-0", None)


# Gaps and replacements


def test_a_run_that_vanished_while_the_watch_was_down_frees_its_room(host: Host) -> None:
    host.pod("py-0", runs=1)
    host.run("x", pod="py-0")
    host.run("r")
    host.settle()
    host.watches.hold(RUNS)
    host.delete("x")
    host.watches.resume(RUNS)
    host.relist(RUNS)
    host.settle()
    assert host.pod_of("r") == "py-0"


def test_a_reserved_run_that_a_list_does_not_have_gives_its_room_back(host: Host) -> None:
    host.pod("py-0", runs=1)
    host.run("r1")
    host.run("r2")
    host.observe()
    host.work()
    host.delete("r1")
    host.relist(RUNS)
    host.settle()
    assert host.pod_of("r2") == "py-0"


def test_a_pod_that_a_list_does_not_have_is_never_chosen(host: Host) -> None:
    host.pod("py-0")
    host.pod("py-1")
    host.settle()
    host.watches.hold(PODS)
    host.delete("py-0", kind=PODS)
    host.relist(PODS)
    host.run("r")
    host.settle()
    assert host.pod_of("r") == "py-1"


@pytest.mark.parametrize("deleted_first", [True, False])
def test_a_run_that_is_created_again_under_its_name_is_another_run(host: Host, deleted_first: bool) -> None:
    """The late deletion of the first does not take what the second holds, and its write changes nothing."""
    host.pod("py-0", runs=1)
    host.run("r1", uid="U1")
    host.disturb("r1", hold_request)
    host.settle()
    write, _ = host.held["U1"]
    gone = events.RunGone(namespace=NAMESPACE, name="r1", uid="U1", version="900")
    host.watches.hold(RUNS)
    host.run("r1", uid="U2", labels={"second": "yes"})
    host.watches.skip(RUNS)
    host.watches.resume(RUNS)
    successor = events.RunObserved(host.server.decoder.run(host.server.get(RUNS, NAMESPACE, "r1")))
    for event in (gone, successor) if deleted_first else (successor, gone):
        host.tell(event)
    host.settle()
    assert host.status("r1")["assignedPodUID"] == "uid-py-0"
    assert dict(known(host).usage) == {"runs": 1}
    status = host.status("r1")
    host.release("r1")
    host.settle()
    assert host.status("r1") == status
    assert write.guard != host.server.accepted[-1].guard


def test_a_late_event_of_a_former_run_does_not_bring_it_back(host: Host) -> None:
    host.pod("py-0", runs=1)
    decode = host.server.decoder.run
    host.tell(events.RunObserved(decode(run_object("r1", uid="U2", version="500"))))
    host.tell(events.RunObserved(decode(run_object("r1", uid="U1", version="400"))))
    entry = host.engine.find(NAMESPACE, "r1")
    assert entry is not None
    assert entry.run.uid == "U2"
    assert host.engine.sizes["runs"] == 1
