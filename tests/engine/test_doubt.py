"""A write in doubt: nothing is freed without evidence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from scenes.looking import BASE_TEXT

from kruntimes_core.engine.api_calls import OutcomeUnknown, Read
from kruntimes_core.engine.counters import SyncResult
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness import (
    PODS,
    RUNS,
    Host,
    answer_late,
    apply,
    hold_request,
    land_late,
    lose_answer,
    lose_request,
    refuse,
)

WITHDRAWAL = "waiting for an earlier assignment to be withdrawn"


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
    host.read_faults.extend([lambda host, read: OutcomeUnknown()] * lost_reads)
    host.settle()
    assert host.pod_of("r2") is None
    host.advance(30)
    assert (host.pod_of("r1"), host.pod_of("r2")) == ("py-0", None)
    assert len([w for w in host.writes("r1") if "assignedPod" in w.body["status"]]) == 1
    host.end("r1")
    host.settle()
    assert host.pod_of("r2") == "py-0"


@pytest.mark.parametrize("fault", [apply, lose_answer, answer_late(3), land_late(3), refuse(409)])
def test_each_bind_is_counted_once_however_it_became_known(host: Host, fault: Any) -> None:
    host.pod("py-0", runs=1)
    host.run("r1")
    host.disturb("r1", fault)
    host.advance(60)
    assert host.pod_of("r1") == "py-0"
    assert host.engine.counters.syncs[SyncResult.SCHEDULED] == 1


def test_while_in_doubt_nothing_is_freed(contested: Host) -> None:
    host = contested
    host.disturb("r1", lose_request)
    host.read_faults.extend([lambda host, read: OutcomeUnknown()] * 5)
    host.advance(25)
    assert host.usage() == {"runs": 1}
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
    assert host.usage() == {"runs": 1}
    assert not host.engine.counters.reservation_conflicts


@pytest.mark.parametrize("status", [403, 422, 429])
def test_any_refusal_of_a_repeat_frees_nothing(contested: Host, status: int) -> None:
    host = contested
    host.disturb("r1", land_late(20), refuse(status), refuse(status))
    host.advance(60)
    assert (host.pod_of("r1"), host.pod_of("r2")) == ("py-0", None)


@pytest.mark.parametrize("status", [403, 409, 422, 429])
def test_after_a_refused_repeat_the_first_patch_is_as_much_in_doubt_as_before(
    contested: Host, status: int
) -> None:
    """It is repeated until something proves what became of it; no room is given away meanwhile."""
    host = contested
    host.disturb("r1", lose_request, refuse(status), refuse(status))
    host.advance(6.9)
    assert (len(host.writes("r1")), host.reads("r1")) == (3, 3)
    assert host.usage() == {"runs": 1}
    host.advance(0.1)
    assert (host.pod_of("r1"), host.pod_of("r2")) == ("py-0", None)
    assert len(host.writes("r1")) == 4


@pytest.mark.parametrize("status", [403, 409, 422, 429])
def test_a_pod_that_goes_after_a_refused_repeat_moves_the_version_on_too(
    contested: Host, status: int
) -> None:
    """The first patch may still land: the room is free when another write has made that impossible."""
    host = contested
    host.disturb("r1", land_late(20), refuse(status), hold_request)
    host.advance(1)
    assert len(host.writes("r1")) == 2
    host.ready("py-0", False)
    host.advance(2)
    assert host.writes("r1")[2].body["status"]["message"] == WITHDRAWAL
    assert host.usage() == {"runs": 1}
    host.release("r1")
    host.settle()
    assert host.usage() == {}
    host.advance(30)
    assert host.pod_of("r1") is None


@pytest.mark.parametrize(
    ("change", "becomes"),
    [
        (lambda host: host.change("r1", spec={"cancelRequested": True}), ("uid-r1", "Cancelled")),
        (lambda host: host.delete("r1"), None),
        (lambda host: host.run("r1", uid="U2"), ("U2", "Pending")),
    ],
    ids=["another version without an assignment", "gone", "another Run of that name"],
)
def test_a_read_that_shows_that_the_bind_can_never_be_applied_frees_the_room(
    contested: Host, change: Callable[[Host], object], becomes: tuple[str, str] | None
) -> None:
    host = contested
    host.work()
    host.watches.hold(RUNS)
    change(host)
    host.disturb("r1", lose_request)
    host.settle()
    assert host.pod_of("r2") == "py-0"
    entry = host.engine.find(NAMESPACE, "r1")
    assert (entry and (entry.run.uid, host.status("r1")["phase"])) == becomes


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
    assert host.usage() == {"runs": 1}
    host.pod("py-1", runs=9)
    host.run("r2", requests={"gpu": "1"})
    late[0]()
    host.advance(30)
    assert (host.pod_of("r1"), host.pod_of("r2")) == ("py-0", None)


def test_a_pod_that_goes_while_its_bind_is_in_doubt_moves_the_version_on(contested: Host) -> None:
    """Nothing frees the Run but a write that makes the old one impossible."""
    host = contested
    host.disturb("r1", land_late(20))
    host.read_faults.append(lambda host, read: OutcomeUnknown())
    host.settle()
    host.delete("py-0", kind=PODS)
    host.pod("py-1", runs=2)
    host.advance(1)
    assert host.pod_of("r1") == "py-1"
    assert host.texts("r1") == [WITHDRAWAL]
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
    assert host.usage() == {"runs": 1}
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
@pytest.mark.parametrize(
    ("run", "phase"), [({"requests": {"gpu": "0.5"}}, "Failed"), ({}, "Pending")], ids=["terminal", "text"]
)
def test_a_write_gets_through_once_whatever_happens_to_the_first(
    host: Host, fault: Any, run: dict[str, Any], phase: str
) -> None:
    host.run("r", **run)
    host.disturb("r", fault)
    host.advance(60)
    status = host.status("r")
    assert status["phase"] == phase
    assert status["completionTime"] if phase == "Failed" else status["message"] == BASE_TEXT
    assert len([write for write in host.server.accepted if write.name == "r"]) == 1


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


def test_a_read_that_failed_is_repeated_some_time_after_its_answer(host: Host) -> None:
    host.pod("py-0")
    host.run("r")
    host.disturb("r", lose_answer)
    sent: list[Read] = []
    host.read_faults.append(lambda host, read: sent.append(read))
    host.settle()
    host.pass_time(3, tick=False)
    host.engine.read(sent[0], OutcomeUnknown(), host.now)
    host.advance(0.999)
    assert host.reads("r") == 1
    host.advance(0.001)
    assert host.reads("r") == 2
