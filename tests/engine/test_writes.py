"""Writes and doubt: one in flight, refused is not applied, and doubt is resolved by evidence alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kruntimes_core.engine import events
from kruntimes_core.engine.binding.requests import InDoubt, Read, Refused, Write
from kruntimes_core.engine.tally import Conflict
from kruntimes_core.testing import condition_object
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness import (
    PODS,
    RUNS,
    Host,
    hold_answer,
    hold_request,
    land_late,
    lose_answer,
    lose_request,
    refuse,
)

BASE_TEXT = 'waiting for available runtime pods for runtime "py"'
DEFINITE = [400, 401, 403, 404, 409, 410, 413, 415, 422, 429]


@pytest.fixture
def contested(host: Host) -> Host:
    """One Pod with room for one of `r1` and `r2`; both are seen and nothing is decided yet."""
    host.pod("py-0", runs=1)
    host.run("r1")
    host.run("r2")
    host.observe()
    return host


def usage(host: Host, name: str = "py-0") -> dict[str, int]:
    return dict(host.engine.state.snapshot(NAMESPACE, "py", host.now.wall).pods[name].usage)


def reads(host: Host, name: str) -> list[Read]:
    return [one for one in host.requests if isinstance(one, Read) and one.name == name]


# What a bind looks like


def test_a_placement_costs_one_small_patch_and_changes_nothing_else(host: Host) -> None:
    foreign = condition_object("Painted", reason="Blue") | {"observedGeneration": 3, "future": {"a": [1]}}
    host.pod("py-0")
    host.run(
        "r",
        spec={"source": {"inline": "x" * 200_000}},
        metadata={"finalizers": ["example.com/f"], "managedFields": [{"manager": "m"}]},
        status={
            "attempt": 2,
            "startTime": "2026-01-02T03:00:00Z",
            "outputs": {"a": "b"},
            "artifactRefs": [{"name": "log"}],
            "futureField": {"deep": [1, {"x": None}]},
            "message": "preparing the next attempt",
            "conditions": [condition_object("Running", False, since=host.now.wall), foreign],
        },
    )
    before = host.server.get(RUNS, NAMESPACE, "r")
    host.advance(2)
    (write,) = host.writes("r")
    assert len(str(write.body)) < 16_000
    assert set(write.body) == {"metadata", "status"}
    assert write.body["metadata"] == {"resourceVersion": write.guard}
    after = host.server.get(RUNS, NAMESPACE, "r")
    scheduled = after["status"]["conditions"].pop()
    assert scheduled == condition_object(
        "Scheduled", reason="Assigned", message="assigned to runtime pod py-0", since=host.now.wall
    ) | {"lastTransitionTime": "2026-01-02T03:04:06Z"}
    expected = dict(before["status"]) | {
        "phase": "Scheduled",
        "assignedPod": "py-0",
        "assignedPodUID": "uid-py-0",
    }
    assert after["status"] == expected
    assert after["spec"] == before["spec"]
    assert after["metadata"]["managedFields"] == before["metadata"]["managedFields"]


def test_a_bind_clears_a_waiting_text_and_leaves_the_text_of_somebody_else(host: Host) -> None:
    host.run("ours")
    host.settle()
    assert host.status("ours")["message"] == BASE_TEXT
    host.pod("py-0", runs=2)
    host.run("theirs", status={"message": "runtimed wrote this"})
    host.settle()
    assert "message" not in host.status("ours")
    assert host.status("theirs")["message"] == "runtimed wrote this"


def test_a_status_edit_between_take_and_write_is_never_overwritten(contested: Host) -> None:
    contested.work()
    contested.watches.hold(RUNS)
    contested.change("r1", status={"conditions": [condition_object("Painted")], "outputs": {"k": "v"}})
    contested.settle()
    assert contested.engine.tally.reservation_conflicts == {Conflict.BIND: 1}
    contested.watches.resume(RUNS)
    contested.advance(2)
    assert contested.pod_of("r1") == "py-0" or contested.pod_of("r2") == "py-0"
    conditions = contested.status("r1")["conditions"]
    assert conditions[0]["type"] == "Painted"
    assert contested.status("r1")["outputs"] == {"k": "v"}


# One write in flight


def test_at_most_one_write_for_a_run_is_in_flight(host: Host) -> None:
    host.disturb("r", hold_request)
    host.run("r")
    host.settle()
    host.pod("py-0")
    host.advance(20)
    assert len(host.writes("r")) == 1
    host.release("r")
    host.settle()
    assert host.pod_of("r") == "py-0"


def test_a_bind_replaces_a_text_that_was_not_sent_yet(host: Host) -> None:
    host.run("r")
    host.observe()
    host.work()
    host.pod("py-0")
    host.settle()
    assert [write.body["status"]["phase"] for write in host.writes("r")] == ["Scheduled"]


def test_a_bind_waits_for_a_text_under_way_and_uses_the_version_of_its_answer(host: Host) -> None:
    host.watches.hold(RUNS)
    host.run("r")
    host.relist(RUNS)
    host.disturb("r", hold_request)
    host.settle()
    host.pod("py-0")
    host.settle()
    assert len(host.writes("r")) == 1
    host.release("r")
    host.settle()
    text, bind = host.writes("r")
    assert int(bind.guard) > int(text.guard)
    assert host.pod_of("r") == "py-0"
    assert "message" not in host.status("r")


def test_nothing_is_written_when_nothing_changed(host: Host) -> None:
    host.pod("py-0", runs=1)
    host.run("x", pod="py-0")
    host.run("r")
    host.advance(300)
    assert host.texts("r") == [BASE_TEXT]
    assert len(host.writes("r")) == 1


# Checked again when its turn comes


@pytest.mark.parametrize("change", ["pod gone", "pod not ready", "pod replaced", "labels", "cancel"])
def test_a_bind_that_waited_is_dropped_if_its_pod_or_run_changed(contested: Host, change: str) -> None:
    host = contested
    host.work()
    assert usage(host) == {"runs": 1}
    if change == "pod gone":
        host.delete("py-0", kind=PODS)
    elif change == "pod not ready":
        host.ready("py-0", False)
    elif change == "pod replaced":
        host.pod("py-0", uid="P0b", runs=1, ready=False)
    elif change == "labels":
        host.change("r1", metadata={"labels": {"app": "b"}})
    else:
        host.change("r1", spec={"cancelRequested": True})
    host.settle()
    assert [w.guard for w in host.writes("r1") if "assignedPod" in w.body["status"]] == (
        [host.writes("r1")[0].guard] if change == "labels" else []
    )
    if change == "labels":
        assert int(host.writes("r1")[0].guard) > 4
    if change == "cancel":
        assert host.status("r1")["phase"] == "Cancelled"
        assert host.pod_of("r2") == "py-0"


def test_a_heartbeat_that_runs_out_while_a_bind_waits_drops_it(host: Host) -> None:
    host.pod("py-0", beating=False)
    host.run("r")
    host.observe()
    host.work()
    host.pass_time(15.000_001)
    host.settle()
    assert not [w for w in host.writes("r") if "assignedPod" in w.body["status"]]


def test_a_beat_while_a_bind_waits_does_not_drop_it(contested: Host) -> None:
    host = contested
    host.pod("py-0", runs=3)
    host.observe()
    host.work()
    cycles = host.cycles
    host.beat("py-0")
    host.run("x", pod="py-0")
    host.observe()
    host.send()
    assert host.pod_of("r1") == "py-0"
    assert host.cycles == cycles


# Refused


@pytest.mark.parametrize("status", DEFINITE)
def test_a_refused_bind_frees_its_room_at_once_for_the_next(contested: Host, status: int) -> None:
    host = contested
    host.disturb("r1", refuse(status))
    host.settle()
    assert host.pod_of("r2") == "py-0"
    assert host.engine.tally.reservation_conflicts == ({Conflict.BIND: 1} if status == 409 else {})


def test_a_conflict_keeps_the_runs_place_in_the_queue(contested: Host) -> None:
    """Put back, it is older than all that came later."""
    host = contested
    host.disturb("r1", refuse(409))
    host.settle()
    assert (host.pod_of("r1"), host.pod_of("r2")) == (None, "py-0")
    host.run("r3")
    host.settle()
    host.end("r2")
    host.settle()
    assert (host.pod_of("r1"), host.pod_of("r3")) == ("py-0", None)


def test_a_conflict_reads_the_newer_run_when_no_event_told_of_it(contested: Host) -> None:
    host = contested
    host.work()
    host.watches.hold(RUNS)
    host.change("r1", metadata={"annotations": {"a": "b"}})
    host.settle()
    assert len(reads(host, "r1")) == 1
    assert not host.engine.tally.plugin_errors


def test_a_conflict_needs_no_read_when_the_event_came_first(contested: Host) -> None:
    host = contested
    host.disturb("r1", hold_request)
    host.settle()
    host.change("r1", metadata={"annotations": {"a": "b"}})
    host.settle()
    host.release("r1")
    host.settle()
    assert not reads(host, "r1")
    assert (host.pod_of("r1"), host.pod_of("r2")) in {("py-0", None), (None, "py-0")}


def test_a_404_forgets_the_run(contested: Host) -> None:
    host = contested
    host.watches.hold(RUNS)
    host.delete("r1")
    host.settle()
    assert host.engine.find(NAMESPACE, "r1") is None
    assert host.pod_of("r2") == "py-0"


@pytest.mark.parametrize(("retry_after", "bound_at"), [(7.0, 7), (None, 1), (0.0, 1), (1e9, 60)])
def test_a_429_is_not_applied_and_tried_again_after_retry_after_within_a_cap(
    host: Host, retry_after: float | None, bound_at: int
) -> None:
    host.pod("py-0")
    host.run("r")
    host.disturb("r", refuse(429, retry_after))
    host.settle()
    assert not usage(host)
    host.advance(bound_at - 0.001)
    assert host.pod_of("r") is None
    host.advance(0.001)
    assert host.pod_of("r") == "py-0"


def test_other_refusals_back_off_longer_each_time(host: Host) -> None:
    host.pod("py-0")
    host.run("r")
    host.disturb("r", *[refuse(422)] * 4)
    sent = []
    for _ in range(20):
        sent.append(len(host.writes("r")))
        host.advance(1)
    assert [sent.index(number) for number in (2, 3, 4, 5)] == [1, 3, 7, 15]


def test_room_freed_by_a_refusal_goes_to_the_older_of_two_that_wait(host: Host) -> None:
    host.pod("py-0", runs=1)
    for name in ("r1", "r2", "r3"):
        host.run(name)
    host.disturb("r1", hold_request)
    host.settle()
    host.advance(3)
    assert [host.pod_of(name) for name in ("r1", "r2", "r3")] == [None] * 3
    host.delete("r1")
    host.watches.hold(RUNS)
    host.release("r1", Refused(404))
    host.settle()
    assert [host.pod_of(name) for name in ("r2", "r3")] == ["py-0", None]


# In doubt


@pytest.mark.parametrize("lost_reads", [0, 2])
@pytest.mark.parametrize("held_back", [0, 10])
def test_a_bind_that_was_applied_and_not_answered_is_found_by_a_read(
    contested: Host, lost_reads: int, held_back: float
) -> None:
    """The room is sold once, whether or not the watch is late and the reads fail too."""
    host = contested
    host.watches.hold(RUNS)
    host.later(held_back, lambda: host.watches.resume(RUNS))
    host.disturb("r1", lose_answer)
    host.read_faults.extend([lambda host, read: InDoubt()] * lost_reads)
    host.settle()
    assert host.pod_of("r2") is None
    host.advance(30)
    assert (host.pod_of("r1"), host.pod_of("r2")) == ("py-0", None)
    assert len([w for w in host.writes("r1") if "assignedPod" in w.body["status"]]) == 1
    host.end("r1")
    host.settle()
    assert host.pod_of("r2") == "py-0"


def test_while_in_doubt_nothing_is_freed(contested: Host) -> None:
    host = contested
    host.disturb("r1", lose_request)
    host.read_faults.extend([lambda host, read: InDoubt()] * 5)
    host.advance(25)
    assert usage(host) == {"runs": 1}
    assert host.pod_of("r2") is None
    host.advance(60)
    assert host.pod_of("r1") == "py-0"


def test_the_guarded_version_unchanged_repeats_the_same_guarded_patch_with_backoff(contested: Host) -> None:
    host = contested
    host.disturb("r1", *[lose_request] * 3)
    host.advance(0.999)
    assert len(host.writes("r1")) == 1
    host.advance(30)
    binds = host.writes("r1")
    assert len(binds) == 4
    assert {write.guard for write in binds} == {binds[0].guard}
    assert {write.body["status"]["assignedPodUID"] for write in binds} == {"uid-py-0"}
    assert host.pod_of("r1") == "py-0"


def test_a_request_that_lands_after_it_was_given_up_is_counted_once(contested: Host) -> None:
    """The repeat gets a 409 for its own first one: that proves nothing, a read does."""
    host = contested
    host.disturb("r1", land_late(1))
    host.advance(20)
    assert (host.pod_of("r1"), host.pod_of("r2")) == ("py-0", None)
    assert usage(host) == {"runs": 1}
    assert not host.engine.tally.reservation_conflicts


def test_a_409_to_a_repeat_leads_to_a_read_and_frees_nothing(contested: Host) -> None:
    host = contested
    host.disturb("r1", lose_request, refuse(409))
    host.watches.hold(RUNS)
    host.advance(1.5)
    assert len(reads(host, "r1")) == 2
    assert usage(host) == {"runs": 1}


@pytest.mark.parametrize("status", [403, 422, 429])
def test_any_refusal_of_a_repeat_frees_nothing(contested: Host, status: int) -> None:
    host = contested
    host.disturb("r1", land_late(20), refuse(status), refuse(status))
    host.advance(60)
    assert (host.pod_of("r1"), host.pod_of("r2")) == ("py-0", None)


def test_another_version_without_an_assignment_means_that_it_can_never_land(contested: Host) -> None:
    host = contested
    host.work()
    host.watches.hold(RUNS)
    host.change("r1", spec={"cancelRequested": True})
    host.disturb("r1", lose_request)
    host.settle()
    assert host.status("r1")["phase"] == "Cancelled"
    assert host.pod_of("r2") == "py-0"


def test_in_doubt_a_run_that_is_gone_frees_its_room(contested: Host) -> None:
    host = contested
    host.work()
    host.watches.hold(RUNS)
    host.delete("r1")
    host.disturb("r1", lose_request)
    host.settle()
    assert host.pod_of("r2") == "py-0"


def test_in_doubt_another_run_of_that_name_frees_the_room_and_is_taken_in(contested: Host) -> None:
    host = contested
    host.work()
    host.watches.hold(RUNS)
    host.run("r1", uid="U2")
    host.disturb("r1", lose_request)
    host.settle()
    assert host.engine.find(NAMESPACE, "r1").run.uid == "U2"  # type: ignore[union-attr]
    assert host.pod_of("r2") == "py-0"


def test_a_read_that_was_under_way_before_the_doubt_is_no_evidence(host: Host) -> None:
    """It shows an older version than the guarded one, not another one."""
    host.run("r1")
    host.disturb("r1", hold_request)
    host.settle()
    host.watches.hold(RUNS)
    host.change("r1", metadata={"annotations": {"a": "1"}})
    late: list[Callable[[], None]] = []

    def slow(host: Host, read: Read) -> None:
        found = host.server.read(read.namespace, read.name)
        late.append(lambda: host.engine.read(read, found, host.now))

    host.read_faults.append(slow)
    host.release("r1")
    host.settle()
    host.change("r1", metadata={"annotations": {"a": "2"}})
    host.watches.resume(RUNS)
    host.pod("py-0", runs=1, capacity={"gpu": "1"})
    host.disturb("r1", land_late(3), hold_request)
    host.settle()
    assert usage(host) == {"runs": 1}
    host.pod("py-1", runs=9)
    host.run("r2", requests={"gpu": "1"})
    late[0]()
    host.advance(30)
    assert (host.pod_of("r1"), host.pod_of("r2")) == ("py-0", None)


def test_a_pod_that_goes_while_its_bind_is_in_doubt_moves_the_version_on(contested: Host) -> None:
    """Nothing frees the Run but a write that makes the old one impossible."""
    host = contested
    host.disturb("r1", land_late(20))
    host.read_faults.append(lambda host, read: InDoubt())
    host.settle()
    host.delete("py-0", kind=PODS)
    host.pod("py-1", runs=2)
    host.advance(1)
    assert host.pod_of("r1") == "py-1"
    assert host.texts("r1") == ["waiting for an earlier assignment to be withdrawn"]
    host.advance(30)
    assert host.pod_of("r1") == "py-1"


def test_a_withdrawal_that_comes_too_late_finds_the_assignment(contested: Host) -> None:
    host = contested
    host.server.invariants.pods_may_go = True
    host.disturb("r1", land_late(1.5), hold_request)
    host.settle()
    host.ready("py-0", False)
    host.advance(5)
    host.release("r1")
    host.settle()
    assert host.pod_of("r1") == "py-0"
    assert usage(host) == {"runs": 1}
    assert not host.texts("r1")


def test_a_withdrawal_in_doubt_is_repeated_and_changes_the_text(contested: Host) -> None:
    host = contested
    host.disturb("r1", lose_request, lose_request, refuse(422))
    host.settle()
    host.delete("py-0", kind=PODS)
    host.advance(30)
    host.pod("py-1", runs=2)
    host.settle()
    assert host.pod_of("r1") == "py-1"


def test_a_text_under_way_does_not_confuse_a_cancellation(host: Host) -> None:
    host.run("r")
    host.disturb("r", hold_request)
    host.settle()
    host.change("r", spec={"cancelRequested": True})
    host.settle()
    host.release("r")
    host.advance(5)
    assert host.status("r")["phase"] == "Cancelled"


@pytest.mark.parametrize("fault", [lose_answer, lose_request, land_late(3), refuse(409), refuse(422)])
def test_a_terminal_write_gets_through_whatever_happens_to_the_first(host: Host, fault: Any) -> None:
    host.run("bad", requests={"gpu": "0.5"})
    host.disturb("bad", fault)
    host.advance(60)
    assert host.status("bad")["phase"] == "Failed"
    assert host.status("bad")["completionTime"]
    assert len([w for w in host.server.accepted if w.name == "bad"]) == 1


@pytest.mark.parametrize("fault", [lose_answer, lose_request, land_late(3), refuse(409), refuse(422)])
def test_a_waiting_text_gets_through_whatever_happens_to_the_first(host: Host, fault: Any) -> None:
    host.run("r")
    host.disturb("r", fault)
    host.advance(60)
    assert host.status("r")["message"] == BASE_TEXT
    assert host.texts("r") == [BASE_TEXT]


def test_a_text_that_met_an_edit_is_written_if_it_is_still_true(host: Host) -> None:
    host.run("r")
    host.observe()
    host.work()
    host.watches.hold(RUNS)
    host.change("r", metadata={"labels": {"a": "b"}})
    host.settle()
    assert host.status("r")["message"] == BASE_TEXT


def test_a_text_that_changed_back_while_another_was_under_way_is_corrected(host: Host) -> None:
    """It waits for A, then B is under way, then it waits for A again: A has to stand there in the end."""
    host.workspace("ws", phase="Pending", bound_pod=None)
    host.pod("py-0", runs=4)
    host.run("r", workspace="ws")
    host.settle()
    first = host.status("r")["message"]
    host.disturb("r", hold_request)
    host.workspace("ws", phase="Lost", bound_pod=None)
    host.settle()
    host.workspace("ws", phase="Pending", bound_pod=None)
    host.settle()
    host.release("r")
    host.settle()
    assert host.status("r")["message"] == first


# Pending observations and assumptions


def test_a_pending_echo_from_before_the_bind_keeps_the_reservation(contested: Host) -> None:
    host = contested
    host.watches.hold(RUNS)
    host.change("r1", metadata={"annotations": {"a": "b"}})
    host.watches.resume(RUNS)
    host.observe()
    host.watches.hold(RUNS)
    host.settle()
    old = host.server.events[RUNS][0].object
    host.tell(events.RunObserved(host.server.decoder.run(old)))
    host.settle()
    assert usage(host) == {"runs": 1}
    assert host.pod_of("r2") is None


def test_a_newer_pending_observation_releases_the_reservation(contested: Host) -> None:
    """Bound, ran, lost its Pod, and Pending again while the watch was down: nothing else would tell."""
    host = contested
    host.watches.hold(RUNS)
    host.settle()
    assert host.pod_of("r1") == "py-0"
    host.change(
        "r1",
        status={
            "phase": "Pending",
            "assignedPod": None,
            "assignedPodUID": None,
            "attempt": 2,
            "conditions": [condition_object("Running", False, since=host.now.wall)],
        },
    )
    host.watches.skip(RUNS)
    host.watches.resume(RUNS)
    host.relist(RUNS)
    host.settle()
    assert host.pod_of("r2") == "py-0"


def test_in_doubt_a_pending_observation_newer_than_the_guard_releases(contested: Host) -> None:
    host = contested
    host.disturb("r1", lose_request)
    host.read_faults.extend([lambda host, read: InDoubt()] * 20)
    host.settle()
    host.change("r1", spec={"cancelRequested": True})
    host.settle()
    assert host.pod_of("r2") == "py-0"
    assert host.status("r1")["phase"] == "Cancelled"


def test_a_pending_observation_that_overtakes_the_answer_is_looked_at_then(contested: Host) -> None:
    host = contested
    host.disturb("r1", hold_answer)
    host.watches.hold(RUNS)
    host.settle()
    host.change("r1", status={"phase": "Pending", "assignedPod": None, "assignedPodUID": None, "attempt": 2})
    host.relist(RUNS)
    host.settle()
    assert usage(host) == {"runs": 1}
    host.release("r1")
    host.settle()
    assert host.status("r1")["phase"] == "Scheduled" or host.pod_of("r2") == "py-0"
    assert host.server.invariants.binds[("uid-r1", 1)] == 1


def test_a_run_that_ended_before_its_assignment_was_seen_frees_its_room(contested: Host) -> None:
    host = contested
    host.watches.hold(RUNS)
    host.settle()
    host.end("r1")
    host.relist(RUNS)
    host.settle()
    assert host.pod_of("r2") == "py-0"


def test_answers_for_a_run_that_is_forgotten_or_to_an_older_write_change_nothing(contested: Host) -> None:
    host = contested
    host.disturb("r1", hold_request)
    host.settle()
    write, _ = host.held["uid-r1"]
    stranger = Write(
        namespace=NAMESPACE,
        name="nobody",
        uid="uid-nobody",
        kind=write.kind,
        guard="1",
        body={},
        pending=write.pending,
    )
    host.answer(stranger, Refused(409))
    host.engine.read(Read(namespace=NAMESPACE, name="nobody", uid="uid-nobody"), InDoubt(), host.now)
    assert usage(host) == {"runs": 1}
    host.release("r1")
    host.answer(write, Refused(409))
    host.settle()
    assert usage(host) == {"runs": 1}
