"""Profiles that are loaded wake everybody, once, and nothing of the former ones stays."""

from __future__ import annotations

from typing import Any

import pytest

from kruntimes_core import Reject, RuntimePod, Snapshot
from kruntimes_core.engine.counters import WakeupSource
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.testing import condition_object
from kruntimes_core.testing.builders import NOW
from kruntimes_core.testing.harness import Host, refuse
from kruntimes_core.testing.plugins import fake_plugin, profiles_of


def test_reload_wakes_all_and_counts_them(host: Host) -> None:
    def closed(pod: RuntimePod) -> Reject | None:
        return Reject("Closed")

    host = Host(profiles_of(fake_plugin(filter=closed, reasons=["Closed"])))
    host.pod("py-0", runs=2)
    host.run("r1")
    host.run("r2")
    host.settle()
    host.engine.reload(profiles_of(fake_plugin(filter=lambda pod: None)), host.now)
    host.settle()
    assert (host.pod_of("r1"), host.pod_of("r2")) == ("py-0", "py-0")
    assert host.wakeups[WakeupSource.RELOAD] == 2


def raising(*_: Any) -> None:
    raise RuntimeError("broken")


@pytest.mark.parametrize(
    "former",
    [
        fake_plugin(filter=lambda pod: raising()),
        fake_plugin(reserve=lambda pod: Reject("Closed"), reasons=["Closed"]),
        fake_plugin(queue_key=lambda run: raising()),
    ],
    ids=["a plugin fails", "reserve says no", "queue_key fails"],
)
def test_reload_ends_the_backoff_that_the_former_plugins_caused(former: ActivePlugin) -> None:
    host = Host(profiles_of(former))
    host.pod("py-0")
    host.run("r")
    host.advance(70)
    host.engine.reload(profiles_of(fake_plugin(filter=lambda pod: None)), host.now)
    host.settle()
    assert host.pod_of("r") == "py-0"


def test_reload_leaves_the_retry_delay_and_what_the_server_asked_for_alone() -> None:
    host = Host(profiles_of(fake_plugin(filter=lambda pod: None)))
    host.pod("py-0", runs=3)
    stopped = condition_object("Running", False, since=NOW)
    host.run("r1", spec={"retryPolicy": {"backoff": "30s"}}, status={"attempt": 2, "conditions": [stopped]})
    host.run("r2")
    host.disturb("r2", refuse(429, retry_after=30))
    host.settle()
    host.engine.reload(profiles_of(fake_plugin(filter=lambda pod: None)), host.now)
    host.advance(29)
    assert (host.pod_of("r1"), host.pod_of("r2")) == (None, None)
    host.advance(1)
    assert (host.pod_of("r1"), host.pod_of("r2")) == ("py-0", "py-0")


def test_a_plan_by_a_former_profile_is_made_again_after_a_reload() -> None:
    host = Host(profiles_of(fake_plugin(filter=lambda pod: None)))
    host.pod("py-0", runs=2)
    host.run("r")
    host.observe()
    work = host.take()
    closed = fake_plugin(filter=lambda pod: Reject("Closed"), reasons=["Closed"])
    host.engine.reload(profiles_of(closed), host.now)
    host.finish(work)
    host.settle()
    assert host.pod_of("r") is None


def test_profiles_of_one_name_after_a_reload_have_needs_of_their_own() -> None:
    """A profile that is gone may leave its place in memory to the next: nothing may be kept by that."""

    def by_snapshot(pod: RuntimePod, snapshot: Snapshot) -> Reject | None:
        return None if sum(snapshot.targets.values()) else Reject("Alone")

    host = Host(profiles_of(fake_plugin(filter=lambda pod: Reject("Closed"), reasons=["Closed"])))
    host.pod("py-0", runs=2)
    host.run("r")
    host.settle()
    for number in range(50):
        host.engine.reload(
            profiles_of(fake_plugin(filter=lambda pod: Reject("No"), reasons=["No"])), host.now
        )
        host.settle()
        host.engine.reload(profiles_of(fake_plugin(filter=by_snapshot, reasons=["Alone"])), host.now)
        host.settle()
        host.run("t", uid=f"t{number}", runtime="js", pod="js-0")
        host.settle()
        assert host.pod_of("r") == "py-0"
        host.delete("t")
        host.delete("r")
        host.run("r", uid=f"r{number}")
        host.settle()


def test_nobody_joins_a_class_of_a_former_profile_whose_first_run_is_still_in_work() -> None:
    """What woke its Runs was read off other plugins."""

    def by_snapshot(pod: RuntimePod, snapshot: Snapshot) -> Reject | None:
        return None if sum(snapshot.targets.values()) else Reject("Alone")

    host = Host(profiles_of(fake_plugin(filter=lambda pod: Reject("Closed"), reasons=["Closed"])))
    host.run("r1")
    host.run("r2")
    host.settle()
    host.pod("py-0", runs=2)
    host.observe()
    work = host.take()
    host.engine.reload(profiles_of(fake_plugin(filter=by_snapshot, reasons=["Alone"])), host.now)
    host.work()
    host.finish(work)
    host.settle()
    host.run("t", runtime="js", pod="js-0")
    host.settle()
    assert (host.pod_of("r1"), host.pod_of("r2")) == ("py-0", "py-0")
