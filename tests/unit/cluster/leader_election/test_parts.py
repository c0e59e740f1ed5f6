"""The small parts of an election: record, durations, names, the limits of what is trusted."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from kruntimes_core.cluster.leader_election.elector import LeaseDurations
from kruntimes_core.cluster.leader_election.lease_lock import (
    Lease,
    ObservedLease,
    held,
    lease_namespace,
    new_identity,
    released,
)
from kruntimes_core.engine.clock import SECOND
from kruntimes_core.model.messages import InputError
from kruntimes_core.model.times import micro_time

NOW = datetime(2026, 1, 2, 3, 4, 5, 120, tzinfo=UTC)
TIME = "2026-01-02T03:04:05.000120Z"


def lease(uid: str = "u1", **spec: Any) -> Lease:
    return Lease({"metadata": {"name": "x", "uid": uid, "resourceVersion": "7"}, "spec": spec})


# Record


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (NOW, TIME),
        (NOW.replace(microsecond=0), "2026-01-02T03:04:05.000000Z"),
        (NOW.astimezone(timezone(timedelta(hours=-7))), TIME),
    ],
)
def test_a_micro_time_has_six_digits_and_is_utc(moment: datetime, text: str) -> None:
    assert micro_time(moment) == text


def test_a_renewal_changes_the_time_alone() -> None:
    before = held(None, "a_1", 15, NOW - timedelta(seconds=2))
    assert held(lease(**before), "a_1", 15, NOW) == {**before, "renewTime": TIME}


def test_a_takeover_counts_and_keeps_what_it_does_not_know() -> None:
    before = lease(
        holderIdentity="b_1", leaseTransitions=3, acquireTime="x", strategy="S", preferredHolder="p"
    )
    assert held(before, "a_1", 15, NOW) == {
        "holderIdentity": "a_1",
        "leaseDurationSeconds": 15,
        "acquireTime": TIME,
        "renewTime": TIME,
        "leaseTransitions": 4,
        "strategy": "S",
        "preferredHolder": "p",
    }


def test_a_release_keeps_the_count() -> None:
    after = lease(**released(lease(**held(None, "a_1", 15, NOW), strategy="S"), NOW))
    assert (after.holder, after.seconds, after.transitions) == ("", 1, 0)
    assert after.spec["strategy"] == "S"
    assert held(after, "b_1", 15, NOW)["leaseTransitions"] == 1


@pytest.mark.parametrize(
    "spec", [{}, {"holderIdentity": None}, {"leaseTransitions": "x", "leaseDurationSeconds": 0}]
)
def test_a_record_with_gaps_reads_as_empty(spec: dict[str, Any]) -> None:
    assert (lease(**spec).holder, lease(**spec).seconds, lease(**spec).transitions) == ("", None, 0)


def test_the_count_stays_within_what_the_api_takes() -> None:
    assert held(lease(leaseTransitions=2**31 - 1), "a_1", 15, NOW)["leaseTransitions"] == 2**31 - 1


# Observation


def observed() -> ObservedLease:
    return ObservedLease(default_ticks=15 * SECOND, absent_ticks=3 * SECOND)


def test_a_record_is_free_once_it_stood_still_exactly_as_long_as_it_says() -> None:
    seen = observed()
    for second in range(10):
        seen.see(lease(holderIdentity="b_1", leaseDurationSeconds=8), second * SECOND)
    assert not seen.free("a_1", 8 * SECOND - 1)
    assert seen.free("a_1", 8 * SECOND)


@pytest.mark.parametrize("change", [{"renewTime": "y"}, {"leaseTransitions": 9}, {"holderIdentity": "c_1"}])
def test_any_change_of_the_record_is_a_sign_of_life(change: dict[str, Any]) -> None:
    seen = observed()
    record: dict[str, Any] = {"holderIdentity": "b_1", "leaseDurationSeconds": 8, "renewTime": "x"}
    seen.see(lease(**record), 0)
    seen.see(lease(**{**record, **change}), 7 * SECOND)
    assert not seen.free("a_1", 14 * SECOND)


def test_a_lease_that_was_created_again_is_another() -> None:
    seen = observed()
    seen.see(lease(holderIdentity="b_1"), 0)
    seen.see(None, 5 * SECOND)
    seen.see(lease("u2", holderIdentity="b_1"), 10 * SECOND)
    assert not seen.free("a_1", 24 * SECOND)


@pytest.mark.parametrize(("holder", "free"), [("", True), ("a_1", True), ("a_10", False), ("a_", False)])
def test_what_nobody_or_itself_holds_is_free(holder: str, free: bool) -> None:
    seen = observed()
    seen.see(lease(holderIdentity=holder), 0)
    assert seen.free("a_1", 1) is free


def test_a_missing_lease_is_free_after_a_while_and_a_vanished_one_when_it_would_be() -> None:
    seen = observed()
    assert not seen.free("a_1", 10 * SECOND)
    seen.see(None, 10 * SECOND)
    assert not seen.free("a_1", 13 * SECOND - 1)
    assert seen.free("a_1", 13 * SECOND)
    seen.see(lease(holderIdentity="b_1"), 14 * SECOND)
    seen.see(None, 15 * SECOND)
    assert not seen.free("a_1", 28 * SECOND)
    assert seen.free("a_1", 29 * SECOND)


# Durations


def test_the_defaults_are_those_of_go_and_leave_four_seconds_for_a_write() -> None:
    durations = LeaseDurations()
    durations.check()
    assert (durations.lease, durations.deadline, durations.retry) == (15, 10, 2)
    assert (durations.write_seconds, durations.request_seconds) == (4, 4)


@pytest.mark.parametrize(
    ("lease_seconds", "deadline", "write", "request_limit", "written"),
    [(60, 30, 4, 4, 60), (4, 2, 1, 1, 4), (6.5, 4, 1.5, 1.5, 7), (10, 2, 4, 1, 10)],
)
def test_no_write_outlives_the_lease(
    lease_seconds: float, deadline: float, write: float, request_limit: float, written: int
) -> None:
    durations = LeaseDurations(lease=lease_seconds, deadline=deadline, retry=1)
    durations.check()
    assert (durations.write_seconds, durations.request_seconds) == (write, request_limit)
    assert durations.written_seconds == written


@pytest.mark.parametrize(
    ("lease_seconds", "deadline", "retry", "named"),
    [
        (15, 10, 0, "--leader-elect-retry-period must be"),
        (15, 2.4, 2, "--leader-elect-renew-deadline 2.4s is too short: make it longer than 1.2 times"),
        (10, 10, 2, "--leader-elect-lease-duration 10s is too short: make it 12s or longer"),
        (11.9, 10, 2, "--leader-elect-lease-duration 11.9s is too short"),
    ],
)
def test_durations_that_do_not_go_together_are_named(
    lease_seconds: float, deadline: float, retry: float, named: str
) -> None:
    with pytest.raises(InputError, match=re.escape(named)):
        LeaseDurations(lease=lease_seconds, deadline=deadline, retry=retry).check()


# Names


def test_an_identity_is_never_given_twice() -> None:
    identities = {new_identity() for _ in range(100)}
    assert len(identities) == 100
    assert len({one.rpartition("_")[0] for one in identities}) == 1


@pytest.mark.parametrize(
    ("asked", "pod", "account", "context", "found"),
    [
        ("a", "b", "c", "d", "a"),
        (None, "b", "c", "d", "b"),
        (None, "", "c\n", "d", "c"),
        (None, "", "\n", "d", "d"),
        (None, None, None, "d", "d"),
    ],
)
def test_where_the_lease_is(
    tmp_path: Path, asked: str | None, pod: str | None, account: str | None, context: str | None, found: str
) -> None:
    if account is not None:
        (tmp_path / "namespace").write_text(account)
    environment = {} if pod is None else {"POD_NAMESPACE": pod}
    assert lease_namespace(asked, environment, context, tmp_path) == found


@pytest.mark.parametrize(
    ("asked", "environment", "named"),
    [
        (None, {}, "the namespace of the Lease is not known: give --lease-namespace"),
        ("", {}, "--lease-namespace '' is not a valid name of a namespace"),
        ("Team A", {}, "--lease-namespace 'Team A' is not a valid name of a namespace"),
        (None, {"POD_NAMESPACE": "a/b"}, "POD_NAMESPACE 'a/b' is not a valid name of a namespace"),
    ],
)
def test_no_namespace_is_one_line(
    tmp_path: Path, asked: str | None, environment: dict[str, str], named: str
) -> None:
    with pytest.raises(InputError, match=re.escape(named)):
        lease_namespace(asked, environment, None, tmp_path)
