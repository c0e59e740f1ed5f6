"""The retry delay of a re-queued Run, and backoff after failures."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kruntimes_core import RuntimePod
from kruntimes_core.engine.clock import SECOND, EngineClock, Now
from kruntimes_core.engine.decisions import Decision, Outcome
from kruntimes_core.engine.scheduling_queue import RunBackoff
from kruntimes_core.testing import condition_object
from kruntimes_core.testing.builders import NAMESPACE, NOW
from kruntimes_core.testing.harness import PODS, RUNS, WORKSPACES, Host


def decision(host: Host, name: str = "r") -> Decision:
    entry = host.engine.find(NAMESPACE, name)
    assert entry is not None
    assert entry.decision is not None
    return entry.decision


def requeued(attempt: int, *, backoff: str | None = None, since: int = 0) -> dict[str, Any]:
    policy = {"maxAttempts": 100, **({"backoff": backoff} if backoff is not None else {})}
    stopped = condition_object("Running", False, since=NOW + timedelta(seconds=since))
    return {"spec": {"retryPolicy": policy}, "status": {"attempt": attempt, "conditions": [stopped]}}


@pytest.mark.parametrize(
    ("attempt", "backoff", "since", "delay"),
    [
        (1, "10s", 0, 0),
        (2, None, 0, 1),
        (2, "10s", 0, 10),
        (3, "10s", 0, 20),
        (4, "10s", 0, 40),
        (5, "10s", 0, 60),
        (2, "10s", -4, 6),
        (2, "10s", -400, 0),
        (2, "10s", 300, 10),
        (2, "5m", 0, 60),
        (2, "nonsense", 0, 1),
        (2, "-5s", 0, 1),
        (2_147_483_647, "1ms", 0, 60),
    ],
)
def test_a_requeued_run_waits_its_retry_delay_and_no_longer(
    host: Host, attempt: int, backoff: str | None, since: int, delay: int
) -> None:
    host.pod("py-0")
    host.run("r", **requeued(attempt, backoff=backoff, since=since))
    host.settle()
    if delay:
        host.advance(delay - 0.001)
        assert host.pod_of("r") is None
        assert host.cycles == 0
        assert decision(host).outcome is Outcome.BACKOFF
        host.advance(0.001)
    assert host.pod_of("r") == "py-0"


def test_the_delay_counts_from_first_sight_and_no_edit_renews_it(host: Host) -> None:
    host.pod("py-0")
    host.run("r", **requeued(2, backoff="10s", since=300))
    for step in range(9):
        host.advance(1)
        host.change("r", metadata={"labels": {"step": str(step)}})
    host.advance(0.999)
    assert host.pod_of("r") is None
    host.advance(0.001)
    assert host.pod_of("r") == "py-0"


def test_the_delay_does_not_follow_a_wall_clock_that_jumps(host: Host) -> None:
    host.pod("py-0")
    host.run("r", **requeued(2, backoff="10s"))
    host.settle()
    host.jump(-3_600)
    host.advance(10)
    assert host.pod_of("r") == "py-0"


def test_each_attempt_has_a_delay_of_its_own(host: Host) -> None:
    host.pod("py-0")
    host.run("r", **requeued(2, backoff="2s"))
    host.advance(2)
    assert host.pod_of("r") == "py-0"
    stopped = condition_object("Running", False, since=host.now.wall)
    host.change(
        "r",
        status={
            "phase": "Pending",
            "assignedPod": None,
            "assignedPodUID": None,
            "attempt": 3,
            "conditions": [stopped],
        },
    )
    host.advance(3.9)
    assert host.pod_of("r") is None
    host.advance(0.1)
    assert host.pod_of("r") == "py-0"


def test_no_timer_makes_a_busy_loop(host: Host) -> None:
    """Delays end at their moment, each wakes once, and nothing polls."""
    for number in range(20):
        host.run(f"r{number}", **requeued(2, backoff="10s"))
    host.advance(29)
    assert host.cycles == 20


@pytest.mark.parametrize(("failures", "seconds"), [(1, 1), (2, 2), (6, 32), (7, 60), (64, 60), (2**31, 60)])
def test_the_backoff_doubles_up_to_its_cap_however_many_failures(failures: int, seconds: int) -> None:
    assert RunBackoff(EngineClock(Now(NOW, 0)), SECOND, 60 * SECOND).until(failures) == seconds * SECOND


def test_a_run_value_keeps_what_a_pod_advertises_exactly(host: Host) -> None:
    """`2500m` holds two, `999m` holds none: no rounding decides."""
    host.pod("py-0", runs=9, capacity={"half": "2500m", "almost": "999m"})
    for number in range(3):
        host.run(f"half{number}", requests={"half": "1"})
    host.run("almost", requests={"almost": "1"})
    host.settle()
    assert [host.pod_of(f"half{number}") for number in range(3)] == ["py-0", "py-0", None]
    assert host.pod_of("almost") is None


def test_an_available_pod_is_what_its_value_says(host: Host) -> None:
    host.pod("py-0", runs=3)
    host.run("r", labels={"app": "a"})
    host.settle()
    pod: RuntimePod = host.engine.cache.snapshot(NAMESPACE, "py", NOW).pods["py-0"]
    assert (pod.available, dict(pod.usage), dict(pod.capacity)) == (True, {"runs": 1}, {"runs": 3})


def test_a_standby_counts_the_delay_from_when_it_first_saw_the_run(make_host: Callable[..., Host]) -> None:
    """Whatever clock wrote the time: here it is an hour ahead."""
    standby = make_host(leading=False)
    standby.pod("py-0")
    standby.run("r", **requeued(2, backoff="60s", since=3600))
    standby.relist(PODS, WORKSPACES, RUNS)
    standby.advance(59)
    standby.engine.lead(standby.now)
    standby.settle()
    assert standby.pod_of("r") is None
    standby.advance(1)
    assert standby.pod_of("r") == "py-0"


def test_a_delay_may_end_after_the_last_time_that_can_be_written(host: Host) -> None:
    """As in a plan with `--now 9999-12-31T23:59:59Z`."""
    last = datetime.max.replace(tzinfo=UTC, microsecond=0) - timedelta(seconds=10)
    host.jump((last - NOW).total_seconds())
    host.run("r", **requeued(2, backoff="60s", since=int((last - NOW).total_seconds())))
    host.settle()
    assert decision(host).until == datetime.max.replace(tzinfo=UTC)
