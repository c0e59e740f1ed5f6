"""A refused write was not applied: the room is free at once."""

from __future__ import annotations

import pytest

from kruntimes_core.engine.api_calls import Refused
from kruntimes_core.engine.counters import ConflictStage
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness import (
    RUNS,
    Host,
    hold_request,
    refuse,
)

DEFINITE = [400, 401, 403, 404, 409, 410, 413, 415, 422, 429]


@pytest.mark.parametrize("status", DEFINITE)
def test_a_refused_bind_frees_its_room_at_once_for_the_next(contested: Host, status: int) -> None:
    host = contested
    host.disturb("r1", refuse(status))
    host.settle()
    assert host.pod_of("r2") == "py-0"
    assert host.engine.counters.reservation_conflicts == ({ConflictStage.BIND: 1} if status == 409 else {})


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
    assert host.reads("r1") == 1
    assert not host.engine.counters.plugin_errors


def test_a_conflict_needs_no_read_when_the_event_came_first(contested: Host) -> None:
    host = contested
    host.disturb("r1", hold_request)
    host.settle()
    host.change("r1", metadata={"annotations": {"a": "b"}})
    host.settle()
    host.release("r1")
    host.settle()
    assert host.reads("r1") == 0
    assert (host.pod_of("r1"), host.pod_of("r2")) == ("py-0", None)


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
    assert not host.usage()
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


def test_a_backoff_begins_with_the_answer_however_long_that_took(host: Host) -> None:
    host.pod("py-0")
    host.run("r")
    host.disturb("r", hold_request)
    host.settle()
    host.pass_time(3, tick=False)
    write, _ = host.held["uid-r"]
    host.answer(write, Refused(422))
    host.advance(0.999)
    assert host.pod_of("r") is None
    host.advance(0.001)
    assert host.pod_of("r") == "py-0"
