"""A Pending observation of an assumed Run: an echo from before, or the end of its placement."""

from __future__ import annotations

from kruntimes_core.engine import events
from kruntimes_core.engine.api_calls import CallPriority, OutcomeUnknown, Read, Refused, Write
from kruntimes_core.testing import condition_object
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness import (
    RUNS,
    Host,
    hold_answer,
    hold_request,
    lose_request,
)


def test_a_pending_echo_from_before_the_bind_keeps_the_reservation(contested: Host) -> None:
    host = contested
    host.watches.hold(RUNS)
    host.change("r1", metadata={"annotations": {"a": "b"}})
    host.watches.resume(RUNS)
    host.observe()
    host.watches.hold(RUNS)
    host.settle()
    old = host.server.told(host.server.changes(RUNS)[0])
    host.tell(events.RunObserved(host.server.decoder.run(old)))
    host.settle()
    assert host.usage() == {"runs": 1}
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
    host.read_faults.extend([lambda host, read: OutcomeUnknown()] * 20)
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
    assert host.usage() == {"runs": 1}
    host.release("r1")
    host.settle()
    assert (host.pod_of("r1"), host.pod_of("r2")) == (None, "py-0")
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
    host.engine.read(
        Read(namespace=NAMESPACE, name="nobody", uid="uid-nobody", priority=CallPriority.OTHER),
        OutcomeUnknown(),
        host.now,
    )
    assert host.usage() == {"runs": 1}
    host.release("r1")
    host.answer(write, Refused(409))
    host.settle()
    assert host.usage() == {"runs": 1}
