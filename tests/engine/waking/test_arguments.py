"""Who is tried again follows from what its answers were given from."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from scenes.working import in_work

from kruntimes_core import LabelSelector, Reject, RuntimePod, Snapshot, Targets
from kruntimes_core.engine.counters import WakeupSource
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.testing import matching
from kruntimes_core.testing.builders import NOW
from kruntimes_core.testing.harness import Host
from kruntimes_core.testing.plugins import fake_plugin, profiles_of

# Prefilters


@pytest.fixture
def asking() -> Callable[[Callable[[Targets], Any]], Host]:
    """A host whose one plugin has a prefilter that reads the targets, and rejects while it says so."""

    def make(read: Callable[[Targets], Any]) -> Host:
        def prefilter(targets: Targets) -> bool:
            return bool(read(targets))

        def closed(pod: RuntimePod, state: bool) -> Reject | None:
            return None if state else Reject("Closed")

        host = Host(profiles_of(fake_plugin(prefilter=prefilter, filter=closed, reasons=["Closed"])))
        host.pod("py-0", runs=9)
        host.run("r")
        host.settle()
        return host

    return make


APP_A: LabelSelector = matching(app="a")


def test_of_a_prefilter_that_asked_any_only_flips_wake(asking: Callable[..., Host]) -> None:
    host = asking(lambda targets: targets.any(APP_A) and False)
    cycles = []
    for number in range(3):
        host.run(f"t{number}", labels={"app": "a"}, pod="js-0")
        host.settle()
        cycles.append(host.cycles)
    host.run("other", labels={"app": "b"}, pod="js-0")
    host.settle()
    cycles.append(host.cycles)
    assert cycles == [2, 2, 2, 2]


def test_of_a_prefilter_that_asked_how_many_each_change_wakes(asking: Callable[..., Host]) -> None:
    host = asking(lambda targets: targets.count(APP_A) >= 3)
    for number in range(3):
        assert host.pod_of("r") is None
        host.run(f"t{number}", labels={"app": "a"}, pod="js-0")
        host.settle()
    assert host.pod_of("r") == "py-0"
    assert host.cycles == 4


@pytest.mark.parametrize(
    "read",
    [lambda t: sum(t.values()) >= 2, lambda t: len(t) >= 2, lambda t: any(k.get("app") == "b" for k in t)],
    ids=["values", "len", "iteration"],
)
def test_of_a_prefilter_that_looked_at_all_targets_any_change_wakes(
    asking: Callable[..., Host], read: Callable[[Targets], bool]
) -> None:
    host = asking(read)
    host.run("t1", labels={"app": "a"}, pod="js-0")
    host.settle()
    assert host.pod_of("r") is None
    host.run("t2", labels={"app": "b"}, pod="js-0")
    host.settle()
    assert host.pod_of("r") == "py-0"


def test_a_prefilter_that_did_not_look_is_not_woken_by_targets(asking: Callable[..., Host]) -> None:
    host = asking(lambda targets: False)
    host.run("t", labels={"app": "a"}, pod="js-0")
    host.settle()
    assert host.cycles == 1


def waits_for_a_workspace() -> Host:
    """A Run `r`, not observed yet, that a prefilter holds back until its namespace has any workspace."""

    def prefilter(snapshot: Snapshot) -> int:
        return len(snapshot.workspaces)

    def closed(pod: RuntimePod, state: int) -> Reject | None:
        return None if state else Reject("Closed")

    host = Host(profiles_of(fake_plugin(prefilter=prefilter, filter=closed, reasons=["Closed"])))
    host.pod("py-0")
    host.run("r")
    return host


def test_a_change_during_the_plan_of_a_run_whose_prefilter_named_the_snapshot_is_not_lost() -> None:
    host = waits_for_a_workspace()
    with in_work(host):
        host.workspace("ws")
    host.settle()
    assert host.pod_of("r") == "py-0"


# Filters that may depend on more


DOORS: dict[str, Callable[[list[bool]], ActivePlugin]] = {
    "prefilter names snapshot": lambda shut: fake_plugin(
        prefilter=lambda snapshot: bool(shut),
        filter=lambda pod, state: Reject("Shut") if state else None,
        reasons=["Shut"],
    ),
    "filter names snapshot": lambda shut: fake_plugin(
        filter=lambda pod, snapshot: Reject("Shut") if shut else None, reasons=["Shut"]
    ),
    "stateful prefilter": lambda shut: fake_plugin(
        prefilter=lambda: bool(shut),
        filter=lambda pod, state: Reject("Shut") if state else None,
        reasons=["Shut"],
        stateful=True,
    ),
    "stateful filter": lambda shut: fake_plugin(
        filter=lambda pod: Reject("Shut") if shut else None, reasons=["Shut"], stateful=True
    ),
}
ANY_CHANGE: dict[str, Callable[..., object]] = {
    "a workspace": lambda host, **where: host.workspace("ws", **where),
    "a Pod of another Runtime": lambda host, **where: host.pod("js-0", runtime="js", **where),
    "a target on a Pod that is not known": lambda host, **where: host.run("t", pod="js-9", **where),
    "a placement": lambda host, **where: host.run("t", runtime="go", **where),
}


@pytest.mark.parametrize("change", ANY_CHANGE)
@pytest.mark.parametrize("door", DOORS)
def test_what_may_depend_on_anything_of_the_namespace_is_called_again_at_any_change_of_it(
    door: str, change: str
) -> None:
    shut = [True]
    host = Host(profiles_of(DOORS[door](shut)))
    host.pod("py-0", runs=9)
    host.run("r")
    host.settle()
    assert host.pod_of("r") is None
    if change == "a placement":
        host.pod("go-0", runtime="go", runs=9)
        host.settle()
        assert host.pod_of("r") is None
    shut.clear()
    ANY_CHANGE[change](host, namespace="team-b")
    host.settle()
    assert host.pod_of("r") is None
    ANY_CHANGE[change](host)
    host.settle()
    assert host.pod_of("r") == "py-0"


def test_runs_of_a_run_naming_filter_are_classes_of_their_own() -> None:
    def odd_only(pod: RuntimePod, run: Any) -> Reject | None:
        return None if run.labels.get("odd") else Reject("Even")

    host = Host(profiles_of(fake_plugin(filter=odd_only, reasons=["Even"])))
    for number in range(4):
        host.run(f"r{number}", labels={"odd": "yes"} if number % 2 else {})
    host.settle()
    host.pod("py-0", runs=9)
    host.settle()
    assert [host.pod_of(f"r{number}") for number in range(4)] == [None, "py-0", None, "py-0"]


@pytest.mark.parametrize("by", ["pod", "prefilter"])
def test_retry_at_wakes_a_run_at_that_time_and_not_before(by: str) -> None:
    opens = NOW + timedelta(seconds=17)

    def closed(now: datetime) -> Reject | None:
        return None if now >= opens else Reject("Closed", retry_at=opens)

    def by_pod(pod: RuntimePod, snapshot: Snapshot) -> Reject | None:
        return closed(snapshot.now)

    def prefilter(snapshot: Snapshot) -> bool:
        return snapshot.now >= opens

    def by_state(pod: RuntimePod, state: bool) -> Reject | None:
        return None if state else Reject("Closed", retry_at=opens)

    plugin = (
        fake_plugin(filter=by_pod, reasons=["Closed"])
        if by == "pod"
        else fake_plugin(prefilter=prefilter, filter=by_state, reasons=["Closed"])
    )
    host = Host(profiles_of(plugin))
    host.pod("py-0")
    host.run("r")
    host.advance(16.999)
    assert (host.pod_of("r"), host.cycles) == (None, 1)
    host.advance(0.001)
    assert host.pod_of("r") == "py-0"
    assert host.wakeups == {WakeupSource.TIMER: 1}


def test_retry_at_in_the_past_makes_no_loop() -> None:
    def closed(pod: RuntimePod, snapshot: Snapshot) -> Reject:
        return Reject("Closed", retry_at=NOW)

    host = Host(profiles_of(fake_plugin(filter=closed, reasons=["Closed"])))
    host.pod("py-0", beating=False)
    host.run("r")
    host.advance(10)
    assert host.cycles == 1


def test_the_earliest_of_several_times_counts() -> None:
    def closed(pod: RuntimePod, snapshot: Snapshot) -> Reject | None:
        opens = NOW + timedelta(seconds=10 if pod.name == "py-1" else 20)
        if pod.usage:
            return Reject("Full")
        return None if snapshot.now >= opens else Reject("Closed", retry_at=opens)

    host = Host(profiles_of(fake_plugin(filter=closed, reasons=["Closed", "Full"])))
    for name in ("py-0", "py-1"):
        host.pod(name, runs=1)
    host.run("r1")
    host.run("r2")
    host.advance(10)
    assert (host.pod_of("r1"), host.pod_of("r2")) == ("py-1", None)
    host.advance(10)
    assert host.pod_of("r2") == "py-0"
