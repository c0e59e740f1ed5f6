"""A waiting text is held back for a moment: whoever is placed meanwhile never gets one."""

from __future__ import annotations

from collections import Counter

import pytest
from engine_scenes import BASE_TEXT

from kruntimes_core.engine.api_calls import CallPriority, CallQueue, PendingText, Write, WriteKind
from kruntimes_core.engine.clock import SECOND, Timers
from kruntimes_core.engine.engine import Settings
from kruntimes_core.engine.runs import RunEntry, Runs
from kruntimes_core.framework.configuration import Configuration, Profiles
from kruntimes_core.model.run import RunObservation
from kruntimes_core.testing import make_run
from kruntimes_core.testing.harness import Host


@pytest.fixture
def patient(profiles: Profiles) -> Host:
    """A host that holds texts back for a second, with one Pod that is taken."""
    host = Host(profiles, settings=Settings(text_delay=SECOND))
    host.pod("py-0", runs=1)
    host.run("x", pod="py-0")
    host.settle()
    return host


def kinds(host: Host, name: str) -> Counter[WriteKind]:
    return Counter(write.kind for write in host.requests if isinstance(write, Write) and write.name == name)


def fire(timers: Timers, until: int) -> None:
    for action in timers.due(until):
        action()


def test_a_run_that_waits_on_is_told_why_after_a_second(patient: Host) -> None:
    patient.run("r")
    patient.advance(0.999)
    assert kinds(patient, "r") == {}
    patient.advance(0.001)
    assert patient.status("r")["message"] == BASE_TEXT
    patient.advance(600)
    assert kinds(patient, "r") == {WriteKind.TEXT: 1}


def test_a_run_that_is_placed_meanwhile_gets_no_text(patient: Host) -> None:
    patient.run("r")
    patient.advance(0.5)
    patient.end("x")
    patient.advance(600)
    assert patient.pod_of("r") == "py-0"
    assert kinds(patient, "r") == {WriteKind.BIND: 1}


def test_a_burst_that_is_placed_in_time_costs_a_write_for_each_run(patient: Host) -> None:
    names = [f"r{number}" for number in range(8)]
    patient.end("x")
    for name in names:
        patient.run(name)
    for _ in names:
        patient.advance(0.1)
        (placed,) = (name for name in names if patient.status(name)["phase"] == "Scheduled")
        patient.end(placed)
    patient.advance(600)
    assert sum((kinds(patient, name) for name in names), Counter()) == {WriteKind.BIND: 8}


def test_a_text_that_keeps_changing_is_said_at_last(patient: Host) -> None:
    """Another reason every fifth of a second: the one that holds when the time comes is said."""
    patient.end("x")
    patient.run("r", workspace="ws")
    for phase in ("Pending", "Lost", "Pending", "Lost"):
        patient.advance(0.2)
        patient.workspace("ws", phase=phase)
    patient.advance(0.2)
    assert "lost" in patient.status("r")["message"]
    assert kinds(patient, "r") == {WriteKind.TEXT: 1}


def test_a_run_that_is_gone_or_cancelled_meanwhile_gets_no_text(patient: Host) -> None:
    patient.run("gone")
    patient.run("cancelled")
    patient.advance(0.5)
    patient.delete("gone")
    patient.change("cancelled", spec={"cancelRequested": True})
    patient.advance(600)
    assert kinds(patient, "gone") == {}
    assert kinds(patient, "cancelled") == {WriteKind.TERMINAL: 1}


def test_a_text_whose_time_comes_while_another_write_is_in_flight_waits_for_its_answer() -> None:
    timers = Timers()
    queue = CallQueue(Runs(), timers)
    entry = RunEntry(RunObservation(run=make_run("r"), version="1"), floor="1")
    text = PendingText("waiting for")
    write = Write(
        namespace="team-a", name="r", uid="uid-r", kind=WriteKind.TEXT, guard="1", body={}, pending=text
    )
    queue.sent(entry, write)
    queue.delay(entry, "waiting for more", until=5)
    fire(timers, 4)
    queue.answered(entry)
    assert queue.next_write(CallPriority.OTHER) is None  # the answer came first, and its time has not come
    fire(timers, 5)
    assert queue.next_write(CallPriority.OTHER) == (entry, PendingText("waiting for more"))
    assert timers.next is None


def test_a_text_whose_time_has_come_waits_until_the_write_in_flight_is_answered() -> None:
    timers = Timers()
    queue = CallQueue(Runs(), timers)
    entry = RunEntry(RunObservation(run=make_run("r"), version="1"), floor="1")
    text = PendingText("waiting for")
    write = Write(
        namespace="team-a", name="r", uid="uid-r", kind=WriteKind.TEXT, guard="1", body={}, pending=text
    )
    queue.sent(entry, write)
    queue.delay(entry, "waiting for more", until=5)
    fire(timers, 5)
    assert queue.next_write(CallPriority.OTHER) is None
    queue.answered(entry)
    assert queue.next_write(CallPriority.OTHER) == (entry, PendingText("waiting for more"))
    assert timers.next is None


def test_nothing_wakes_a_host_whose_held_texts_are_not_due_any_more(patient: Host) -> None:
    patient.run("r")
    patient.settle()
    assert patient.engine.wake_at == patient.now.ticks + SECOND
    patient.end("x")
    patient.settle()
    assert patient.pod_of("r") == "py-0"
    assert patient.engine.wake_at != patient.now.ticks + SECOND


def test_without_a_delay_texts_are_said_at_once(host: Host) -> None:
    host.run("r")
    host.settle()
    assert host.status("r")["message"] == BASE_TEXT


def test_a_scheduler_holds_texts_back_for_a_second() -> None:
    assert Settings.of(Configuration()).text_delay == SECOND


def test_a_text_whose_time_has_come_gives_its_turn_to_a_newer_one(patient: Host) -> None:
    """Its place among the writes is kept, what it says is not: the newer text waits for no second more."""
    patient.end("x")
    patient.workspace("ws", phase="Pending", bound_pod=None)
    patient.run("r", workspace="ws")
    patient.observe()
    patient.work()
    patient.pass_time(1)
    patient.workspace("ws", phase="Lost", bound_pod=None)
    patient.observe()
    patient.work()
    patient.settle()
    assert patient.texts("r") == ["waiting for its persistent workspace, which is lost, to be bound again"]
