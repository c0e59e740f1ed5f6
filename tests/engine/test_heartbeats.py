"""How long a Runtime Pod is trusted: exact limits, clocks that jump, probes from the future."""

from __future__ import annotations

from datetime import timedelta

import pytest

from kruntimes_core.engine import events
from kruntimes_core.model.pod import Unavailability
from kruntimes_core.testing import pod_object
from kruntimes_core.testing.builders import NAMESPACE, NOW
from kruntimes_core.testing.harness import PODS, Host

MICROSECOND = 0.000_001


def pod_event(host: Host, **fields: object) -> events.PodObserved:
    observation = host.server.decoder.pod(pod_object(**fields))  # type: ignore[arg-type]
    assert observation is not None
    return events.PodObserved(observation)


def test_a_heartbeat_or_another_version_makes_no_new_value(host: Host) -> None:
    host.pod("py-0")
    host.settle()
    before = host.pods()["py-0"]
    host.advance(3)
    host.beat("py-0")
    host.server.change(PODS, NAMESPACE, "py-0", {"metadata": {"finalizers": ["example.com/x"]}})
    host.settle()
    assert host.pods()["py-0"] is before


def test_a_heartbeat_of_exactly_the_limit_is_fresh_and_just_past_it_the_pod_is_not(host: Host) -> None:
    host.pod("py-0", beating=False)
    host.advance(15)
    assert host.pods()["py-0"].available
    host.advance(MICROSECOND)
    assert host.pods()["py-0"].unavailable is Unavailability.HEARTBEAT_STALE


def test_an_age_of_exactly_the_limit_at_first_sight_is_fresh(host: Host) -> None:
    host.pod("py-0", beating=False, probed_at=NOW - timedelta(seconds=15))
    host.pod("py-1", beating=False, probed_at=NOW - timedelta(seconds=16))
    host.settle()
    assert host.pods()["py-0"].available
    assert not host.pods()["py-1"].available


def test_the_engine_asks_to_be_woken_just_past_the_limit(host: Host) -> None:
    host.pod("py-0", beating=False)
    host.settle()
    assert host.engine.wake_at == 15_000_001


def test_a_heartbeat_after_the_limit_makes_the_pod_available_again(host: Host) -> None:
    host.pod("py-0", beating=False)
    host.advance(20)
    host.run("r")
    host.settle()
    assert host.pod_of("r") is None
    host.advance(10)
    host.beat("py-0")
    host.settle()
    assert host.pod_of("r") == "py-0"


def test_a_probe_time_in_the_future_counts_from_when_it_was_first_seen_and_no_edit_renews_it(
    host: Host,
) -> None:
    host.pod("py-0", beating=False, probed_at=NOW + timedelta(hours=1))
    host.settle()
    for step in range(14):
        host.advance(1)
        host.server.change(PODS, NAMESPACE, "py-0", {"metadata": {"annotations": {"edit": str(step)}}})
        host.relist(PODS)
    host.advance(1)
    assert host.pods()["py-0"].available
    host.advance(MICROSECOND)
    assert not host.pods()["py-0"].available


@pytest.mark.parametrize("meanwhile", ["go", None], ids=["another Runtime", "no Runtime"])
def test_a_pod_that_changes_its_runtime_and_comes_back_buys_no_new_trust(
    host: Host, meanwhile: str | None
) -> None:
    host.pod("py-0", beating=False, probed_at=NOW + timedelta(hours=1))
    host.advance(10)
    for runtime in (meanwhile, "py"):
        host.server.change(PODS, NAMESPACE, "py-0", {"metadata": {"labels": {"runtime": runtime}}})
        host.settle()
    host.advance(5)
    assert host.pods()["py-0"].available
    host.advance(MICROSECOND)
    assert not host.pods()["py-0"].available


def test_a_pod_of_another_uid_gets_its_own_first_sight(host: Host) -> None:
    future = NOW + timedelta(hours=1)
    host.pod("py-0", beating=False, probed_at=future)
    host.advance(10)
    host.pod("py-0", uid="uid-next", beating=False, probed_at=future)
    host.advance(10)
    assert host.pods()["py-0"].available
    host.advance(5 + MICROSECOND)
    assert not host.pods()["py-0"].available


@pytest.mark.parametrize("uid", ["uid-py-0", "uid-next"])
def test_a_heartbeat_that_runs_out_earlier_than_the_one_before_is_noticed_in_time(
    host: Host, uid: str
) -> None:
    """By an edit of the same Pod, or by its successor: what was armed for the former is too late."""
    host.pod("py-0", beating=False, probed_at=NOW + timedelta(hours=1))
    host.advance(1)
    host.tell(pod_event(host, uid=uid, version="1000", probed_at=NOW - timedelta(seconds=9)))
    host.advance(5)
    assert host.pods()["py-0"].available
    host.advance(MICROSECOND)
    assert not host.pods()["py-0"].available


def test_the_age_is_taken_once_and_goes_on_by_the_monotonic_clock(host: Host) -> None:
    host.pod("py-0", beating=False)
    host.settle()
    host.jump(3_600)
    host.advance(15)
    assert host.pods()["py-0"].available
    host.jump(-7_200)
    host.advance(MICROSECOND)
    assert not host.pods()["py-0"].available


def test_a_wall_clock_that_jumped_ahead_recovers_with_the_next_heartbeat_after_it_is_back(
    host: Host,
) -> None:
    host.pod("py-0")
    host.settle()
    host.jump(3_600)
    host.beat("py-0", probed_at=NOW + timedelta(seconds=1))
    host.settle()
    assert not host.pods()["py-0"].available
    host.jump(-3_600)
    host.beat("py-0", probed_at=NOW + timedelta(seconds=2))
    host.settle()
    assert host.pods()["py-0"].available


@pytest.mark.parametrize(
    "runtimed",
    [
        {"type": "kruntimes.io/RuntimedReady", "status": "True", "lastProbeTime": None},
        {"type": "kruntimes.io/RuntimedReady", "status": "True"},
        {"type": "kruntimes.io/RuntimedReady", "status": "Unknown", "lastProbeTime": "2026-01-02T03:04:05Z"},
        {"type": "SomethingElse", "status": "True", "lastProbeTime": "2026-01-02T03:04:05Z"},
    ],
    ids=["null", "no time", "Unknown", "absent"],
)
def test_a_pod_without_a_probe_that_can_be_trusted_is_not_available(
    host: Host, runtimed: dict[str, str | None]
) -> None:
    pod = pod_object("py-0")
    pod["status"]["conditions"][1] = runtimed
    host.server.create(pod)
    host.run("r")
    host.advance(20)
    assert not host.pods()["py-0"].available
    assert host.pod_of("r") is None


def test_a_heartbeat_that_runs_out_while_a_plan_is_under_way_stops_the_bind(host: Host) -> None:
    host.pod("py-0", beating=False)
    host.run("r")
    host.observe()
    work = host.take()
    host.advance(15 + MICROSECOND)
    host.finish(work)
    host.settle()
    assert host.pod_of("r") is None


@pytest.mark.parametrize("step", ["take", "finish", "send"])
def test_no_decision_trusts_a_heartbeat_that_ran_out_however_late_the_timer_is(host: Host, step: str) -> None:
    host.pod("py-0", beating=False)
    host.run("r")
    host.observe()
    if step == "take":
        host.pass_time(15 + MICROSECOND, tick=False)
    work = host.take()
    if step == "finish":
        host.pass_time(15 + MICROSECOND, tick=False)
    host.finish(work)
    if step == "send":
        host.pass_time(15 + MICROSECOND, tick=False)
    host.settle()
    assert host.pod_of("r") is None
