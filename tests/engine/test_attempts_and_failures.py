"""What is counted of single Runs: how often each was tried, and why one ended as Failed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kruntimes_core import InvalidRun
from kruntimes_core.testing import affinity_object, term_object
from kruntimes_core.testing.harness import Host, lose_request, refuse
from kruntimes_core.testing.plugins import fake_plugin, profiles_of


def attempts(host: Host, name: str) -> int:
    entry = host.engine.find("team-a", name)
    assert entry is not None
    return entry.attempts


# Attempts


def found_at_once(host: Host) -> None:
    host.pod("py-0")


def waits_for_a_pod(host: Host) -> None:
    host.settle()
    host.pod("py-0")


def waits_for_room_twice(host: Host) -> None:
    host.pod("py-0", runs=1)
    host.run("x", pod="py-0")
    host.settle()
    host.pod("py-1", runs=1)
    host.run("y", pod="py-1")
    host.settle()
    host.end("y")


def bind_is_refused(host: Host) -> None:
    host.pod("py-0")
    host.disturb("r", refuse(500))


@pytest.mark.parametrize(
    ("prepare", "expected"),
    [(found_at_once, 1), (waits_for_a_pod, 2), (waits_for_room_twice, 3), (bind_is_refused, 2)],
)
def test_each_try_of_a_run_counts(host: Host, prepare: Callable[[Host], None], expected: int) -> None:
    host.run("r")
    prepare(host)
    host.advance(10)
    assert host.pod_of("r") is not None
    assert attempts(host, "r") == expected


def test_a_plugin_error_is_an_attempt() -> None:
    answers = iter([RuntimeError("not yet")])

    def fails_once(pod: Any) -> None:
        for error in answers:
            raise error

    host = Host(profiles_of(fake_plugin(filter=fails_once)))
    host.pod("py-0")
    host.run("r")
    host.advance(10)
    assert host.pod_of("r") == "py-0"
    assert attempts(host, "r") == 2


def test_a_run_that_is_pending_again_begins_again(host: Host) -> None:
    host.run("r")
    waits_for_a_pod(host)
    host.settle()
    assert attempts(host, "r") == 2
    host.change("r", status={"phase": "Pending", "assignedPod": None, "assignedPodUID": None, "attempt": 2})
    host.advance(10)
    assert host.pod_of("r") == "py-0"
    assert attempts(host, "r") == 1


def test_other_runs_of_a_class_are_not_tried_with_its_first(host: Host) -> None:
    for name in ("first", "second"):
        host.run(name)
    host.settle()
    host.pod("py-0", ready=False)
    host.settle()
    assert (attempts(host, "first"), attempts(host, "second")) == (2, 1)


# Failed Runs


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"requests": {"gpu": "-1"}}, "InvalidResources"),
        ({"affinity": affinity_object(required=[term_object()])}, "InvalidAffinity"),
        ({"spec": {"workspace": {"name": "ws", "kind": "Deployment"}}}, "InvalidWorkspace"),
        ({"spec": {"runtime": 7}}, "InvalidObject"),
    ],
)
def test_an_invalid_run_is_counted_by_its_reason(host: Host, fields: dict[str, Any], reason: str) -> None:
    host.run("r", **fields)
    host.run("ok")
    host.advance(100)
    assert host.status("r")["phase"] == "Failed"
    assert host.engine.counters.failed_runs == {reason: 1}


@pytest.mark.parametrize(
    ("declared", "labels"),
    [(["TenantMissing"], {"TenantMissing": 3}), (["Other"], {"_other": 3}), ([], {"_other": 3})],
)
def test_a_reason_that_no_plugin_declares_is_no_label(declared: list[str], labels: dict[str, int]) -> None:
    def prefilter(run: Any) -> None:
        raise InvalidRun("TenantMissing" if declared == ["TenantMissing"] else f"No{run.name.title()}", "no")

    host = Host(profiles_of(fake_plugin(prefilter=prefilter, reasons=declared)))
    for name in ("a", "b", "c"):
        host.run(name)
    host.settle()
    assert host.engine.counters.failed_runs == labels


@pytest.mark.parametrize("fault", [refuse(409), refuse(500), lose_request], ids=["409", "500", "lost"])
def test_an_end_that_is_written_again_is_one_end(host: Host, fault: Any) -> None:
    host.disturb("r", fault)
    host.run("r", requests={"gpu": "-1"})
    host.advance(10)
    assert host.status("r")["phase"] == "Failed"
    assert len(host.writes("r")) == 2
    assert host.engine.counters.failed_runs == {"InvalidResources": 1}


def test_a_cancelled_run_has_not_failed(host: Host) -> None:
    host.run("r", spec={"cancelRequested": True})
    host.settle()
    assert host.status("r")["phase"] == "Cancelled"
    assert host.engine.counters.failed_runs == {}


def test_the_next_attempt_of_a_run_fails_by_itself(host: Host) -> None:
    host.run("r", requests={"gpu": "-1"})
    host.settle()
    host.change("r", status={"phase": "Pending", "attempt": 2, "conditions": None, "completionTime": None})
    host.advance(10)
    assert host.engine.counters.failed_runs == {"InvalidResources": 2}
