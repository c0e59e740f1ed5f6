"""A time that comes wakes those that wait for it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from engine_scenes import full

from kruntimes_core import Reject, RuntimePod, Snapshot
from kruntimes_core.engine.clock import ticks
from kruntimes_core.engine.counters import WakeupSource
from kruntimes_core.testing import condition_object
from kruntimes_core.testing.builders import NAMESPACE, NOW
from kruntimes_core.testing.harness import PODS, Host, refuse
from kruntimes_core.testing.plugins import fake_plugin, profiles_of

PAUSE = timedelta(seconds=0.1)


def test_a_retry_delay_and_a_backoff_wake_by_timer(host: Host) -> None:
    host.pod("py-0", runs=2)
    host.run(
        "delayed",
        status={"attempt": 2, "conditions": [condition_object("Running", False, since=NOW)]},
    )
    host.disturb("refused", refuse(422))
    host.run("refused")
    host.advance(1)
    assert (host.pod_of("delayed"), host.pod_of("refused")) == ("py-0", "py-0")
    assert host.wakeups == {WakeupSource.TIMER: 2}


def test_a_heartbeat_that_runs_out_wakes_those_that_wait_for_fewer_targets_not_for_room(host: Host) -> None:
    """A Pod that became unavailable is offered once, and rejects."""
    full(host)
    host.silence("py-0")
    host.advance(29)
    assert host.pod_of("r") is None
    assert host.wakeups[WakeupSource.TIMER] == 1


def test_retry_at_is_not_forgotten_while_the_only_run_of_its_class_is_in_work() -> None:
    opens = NOW + timedelta(seconds=8)

    def nap(pod: RuntimePod, snapshot: Snapshot) -> Reject | None:
        return Reject("Naps", retry_at=opens) if snapshot.now < opens else None

    host = Host(profiles_of(fake_plugin(filter=nap, reasons=["Naps"])))
    host.pod("py-0")
    host.run("r")
    host.settle()
    host.server.change(PODS, NAMESPACE, "py-0", {"metadata": {"annotations": {"edit": "1"}}})
    host.observe()
    work = host.take()
    assert host.engine.wake_at is not None  # a driver may ask at any time; it used to drop the alarm
    host.finish(work)
    host.silence("py-0")
    host.advance(8)
    assert host.pod_of("r") == "py-0"


def test_a_host_is_not_woken_for_a_run_that_is_gone(host: Host) -> None:
    stopped = condition_object("Running", False, since=NOW)
    policy = {"retryPolicy": {"maxAttempts": 9, "backoff": "10s"}}
    host.run("r1", spec=policy, status={"attempt": 2, "conditions": [stopped]})
    host.run("r2", spec=policy, status={"attempt": 3, "conditions": [stopped]})
    host.settle()
    assert host.engine.wake_at == ticks(10)
    host.delete("r1")
    host.observe()
    assert host.engine.wake_at == ticks(20)
    host.delete("r2")
    host.observe()
    assert host.engine.wake_at == ticks(30)  # the sweep


def test_a_time_that_is_past_wakes_nobody() -> None:
    """The filter names no time, so its answer holds; to try again and again would change nothing."""
    opens = NOW + timedelta(seconds=8)
    asleep = fake_plugin(filter=lambda pod: Reject("Naps", retry_at=opens), reasons=["Naps"])
    host = Host(profiles_of(asleep))
    host.pod("py-0")
    host.run("r")
    host.advance(29)
    assert host.wakeups == {WakeupSource.TIMER: 1}
    assert host.cycles == 2
    host.advance(60)
    assert host.cycles == 2 + 2  # the sweeps


def test_a_time_in_the_past_from_the_first_wakes_nobody() -> None:
    past = NOW - timedelta(seconds=8)
    asleep = fake_plugin(filter=lambda pod, snapshot: Reject("Naps", retry_at=past), reasons=["Naps"])
    host = Host(profiles_of(asleep))
    host.pod("py-0")
    host.run("r")
    host.advance(29)
    assert (host.wakeups, host.cycles) == ({}, 1)


def test_a_filter_that_names_the_next_moment_each_time_does_not_keep_the_host_busy() -> None:
    def naps(pod: RuntimePod, snapshot: Snapshot) -> Reject:
        return Reject("Naps", retry_at=snapshot.now + timedelta(microseconds=1))

    host = Host(profiles_of(fake_plugin(filter=naps, reasons=["Naps"])))
    host.pod("py-0")
    host.run("r")
    host.settle()
    host.advance(1)
    assert host.wakeups == {WakeupSource.TIMER: 10}
    assert host.cycles == 1 + 10
    assert host.engine.counters.early_retries == {"Fake": 11}


@pytest.mark.parametrize(
    ("away", "early"),
    [(timedelta(microseconds=1), 3), (timedelta(microseconds=99_999), 3), (PAUSE, 0)],
    ids=str,
)
def test_the_plugin_that_names_a_time_within_the_smallest_pause_is_counted(
    away: timedelta, early: int
) -> None:
    """Of several rejections, it is the one that names the earliest time."""
    later = fake_plugin(
        "Later",
        filter=lambda pod: Reject("No", retry_at=NOW + timedelta(hours=1)) if pod.name == "py-0" else None,
        reasons=["No"],
    )
    soon = fake_plugin(
        "Soon", filter=lambda pod, snapshot: Reject("No", retry_at=snapshot.now + away), reasons=["No"]
    )
    host = Host(profiles_of(later, soon))
    host.pod("py-0")
    host.pod("py-1")
    host.run("r")
    host.settle()
    host.advance(0.2)
    assert host.engine.counters.early_retries == ({"Soon": early} if early else {})


def test_runs_that_each_name_the_next_moment_wait_for_the_smallest_pause_each() -> None:
    """Each is a class of its own, by its state."""
    host = Host(
        profiles_of(
            fake_plugin(
                prefilter=lambda run: run.name,
                filter=lambda pod, state, snapshot: Reject(
                    "Naps", retry_at=snapshot.now + timedelta.resolution
                ),
                reasons=["Naps"],
            )
        )
    )
    host.pod("py-0")
    for number in range(3):
        host.run(f"r{number}")
    host.settle()
    host.advance(1)
    assert host.cycles == 3 * (1 + 10)


def test_a_reserve_that_asks_to_be_called_again_at_once_waits_for_its_backoff() -> None:
    def reserve(pod: RuntimePod) -> Reject:
        return Reject("Taken", retry_at=NOW + timedelta.resolution)

    host = Host(profiles_of(fake_plugin(reserve=reserve, reasons=["Taken"])))
    host.pod("py-0")
    host.run("r")
    host.settle()
    host.advance(6)
    assert host.cycles == 3 * 2  # at once and after 1 and 3 seconds: a plan, and one without the Pod
