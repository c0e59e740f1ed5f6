"""What the tests on a real API server hold each event to: each rule, broken once."""

from __future__ import annotations

from typing import Any

import pytest

from realcluster.ledger import Event, Invariants


def pod(version: int, uid: str = "P0", *, ready: bool = True, kind: str = "MODIFIED") -> Event:
    metadata = {
        "namespace": "ns",
        "name": "py-0",
        "uid": uid,
        "resourceVersion": str(version),
        "annotations": {"kruntimes.io/capacity.runs": "1"},
    }
    conditions = [{"type": one, "status": str(ready)} for one in ("Ready", "kruntimes.io/RuntimedReady")]
    return Event(
        "pods", kind, {"metadata": metadata, "status": {"phase": "Running", "conditions": conditions}}
    )


def run(version: int, name: str, phase: str, uid: str | None = "P0", attempt: int = 1) -> Event:
    metadata = {"namespace": "ns", "name": name, "uid": name, "resourceVersion": str(version)}
    status: dict[str, Any] = {"phase": phase, "attempt": attempt}
    if uid is not None:
        status |= {"assignedPod": "py-0", "assignedPodUID": uid}
    return Event("runs", "MODIFIED", {"metadata": metadata, "spec": {}, "status": status})


def take(*events: Event) -> None:
    invariants = Invariants()
    for event in sorted(events, key=lambda event: event.version):
        invariants.take(event)


def test_a_history_without_a_fault_passes() -> None:
    take(
        pod(1),
        run(2, "a", "Scheduled"),
        run(3, "a", "Succeeded"),
        run(4, "b", "Scheduled"),
        run(5, "b", "Pending", None, attempt=2),
        run(6, "b", "Scheduled", attempt=2),
        pod(7, kind="DELETED"),
        pod(8, "P1", ready=True),
        run(9, "c", "Scheduled", "P1"),
    )


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ((pod(1), run(2, "a", "Scheduled"), run(3, "b", "Scheduled")), "oversold"),
        (
            (pod(1), run(2, "a", "Scheduled"), run(3, "a", "Pending", None), run(4, "a", "Scheduled")),
            "bound twice",
        ),
        ((pod(1, kind="DELETED"), run(2, "a", "Scheduled")), "does not exist"),
        ((run(2, "a", "Scheduled"), pod(3)), "does not exist"),
        ((pod(1, ready=False), run(2, "a", "Scheduled")), "not ready"),
        ((pod(1), run(2, "a", "Scheduled"), pod(3, "P1"), run(4, "a", "Scheduled", "P1")), "moved"),
    ],
    ids=["oversold", "twice", "gone", "not yet", "not ready", "moved"],
)
def test_a_fault_is_found_at_its_event(events: tuple[Event, ...], words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        take(*events)
