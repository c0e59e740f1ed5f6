"""The engine knows which profiles have Runs to place, by what changed and without a look at all Runs."""

from __future__ import annotations

import pytest

from kruntimes_core.framework.profile import Profile, Profiles
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness import PODS, RUNS, Host
from kruntimes_core.testing.plugins import fake_plugin


@pytest.fixture
def host() -> Host:
    """One with a profile for `go` and one for all other Runtimes; there are no Pods."""
    plugin = fake_plugin("All", filter=lambda pod: None)
    go = Profile(name="go", plugins=(plugin,), runtimes=frozenset({"go"}))
    return Host(Profiles((Profile(plugins=(plugin,)), go)))


def pending(host: Host) -> list[str]:
    return sorted(profile.name for profile in host.engine.pending_profiles)


def test_a_profile_is_one_of_them_from_the_first_run_to_the_last(host: Host) -> None:
    assert pending(host) == []
    for name, runtime in (("r1", "py"), ("r2", "rb"), ("g1", "go")):
        host.run(name, runtime=runtime)
    host.settle()
    assert pending(host) == ["default", "go"]
    host.delete("g1")
    host.delete("r1")
    host.settle()
    assert pending(host) == ["default"]
    host.delete("r2")
    host.settle()
    assert pending(host) == []


def test_placed_ended_and_cancelled_runs_are_not_pending(host: Host) -> None:
    host.run("r1")
    host.run("r2", spec={"cancelRequested": True})
    host.run("g1", runtime="go")
    host.settle()
    assert pending(host) == ["default", "go"]
    host.pod("py-0")
    host.pod("go-0", runtime="go")
    host.settle()
    assert pending(host) == []
    host.change("r1", status={"phase": "Pending", "assignedPod": None, "assignedPodUID": None})
    host.delete("py-0", kind=PODS)
    host.settle()
    assert pending(host) == ["default"]
    host.end("r1", phase="Failed")
    host.settle()
    assert pending(host) == []


def test_a_run_that_is_being_deleted_is_not_to_be_placed(host: Host) -> None:
    host.run("r1")
    host.settle()
    host.server.change(RUNS, NAMESPACE, "r1", {"metadata": {"deletionTimestamp": "2026-01-02T03:04:05Z"}})
    host.settle()
    assert pending(host) == []


def test_a_list_and_a_reload_leave_nothing_behind(host: Host) -> None:
    host.run("r1", runtime="go")
    host.settle()
    host.engine.reload(Profiles((Profile(plugins=host.engine.profiles.all[0].plugins),)), host.now)
    assert pending(host) == ["default"]
    host.relist(RUNS)
    assert pending(host) == ["default"]
    host.server.delete(RUNS, NAMESPACE, "r1")
    host.relist(RUNS)
    assert pending(host) == []
