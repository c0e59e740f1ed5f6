"""A target that comes or goes wakes those that asked for it."""

from __future__ import annotations

from typing import Any

import pytest

from kruntimes_core.engine.counters import WakeupSource
from kruntimes_core.testing import affinity_object, term_object
from kruntimes_core.testing.harness import Host, hold_request


def near(app: str) -> dict[str, Any]:
    return affinity_object(required=[term_object({"app": app})])


def test_a_target_wakes_those_that_asked_for_it(host: Host) -> None:
    host.pod("py-0")
    host.pod("py-1", runs=2)
    host.run("r", affinity=near("a"))
    host.settle()
    host.run("t", labels={"app": "a"}, pod="py-1")
    host.settle()
    assert host.pod_of("r") == "py-1"
    assert host.wakeups[WakeupSource.TARGET] == 1


@pytest.mark.parametrize("runtime", ["py", "js"])
def test_the_last_peer_that_leaves_makes_seeding_possible(host: Host, runtime: str) -> None:
    """Whatever Runtime it ran on: the freed Pod need not be a candidate."""
    host.pod(f"{runtime}-x", runtime=runtime)
    host.pod("py-1", runs=4)
    host.run("x", runtime=runtime, labels={"app": "a"}, pod=f"{runtime}-x")
    host.run("r", labels={"app": "a"}, affinity=near("a"))
    host.settle()
    assert host.pod_of("r") is None
    host.end("x")
    host.settle()
    assert host.pod_of("r") == "py-1"


def test_a_target_that_is_assumed_counts_before_it_is_written(host: Host) -> None:
    host.pod("py-0", runs=2)
    host.run("r", affinity=near("a"))
    host.settle()
    host.disturb("t", hold_request)
    host.run("t", labels={"app": "a"})
    host.settle()
    assert host.pod_of("t") is None
    assert host.pod_of("r") == "py-0"


def test_a_target_on_a_pod_that_cannot_be_a_candidate_costs_one_try_and_no_storm(host: Host) -> None:
    host.pod("py-0", runs=2)
    host.pod("js-0", runtime="js", runs=2)
    host.run("r", affinity=near("a"))
    host.settle()
    cycles = host.cycles
    host.run("t", runtime="js", labels={"app": "a"})
    host.advance(20)
    assert host.pod_of("t") == "js-0"
    assert host.pod_of("r") is None
    assert host.cycles == cycles + 2


def test_relabelling_an_active_run_is_a_change_of_targets(host: Host) -> None:
    host.pod("py-0", runs=4)
    host.run("x", labels={"app": "b"}, pod="py-0")
    host.run("near-a", affinity=near("a"))
    host.run("away-b", affinity=affinity_object(required_anti=[term_object({"app": "b"})]))
    host.settle()
    assert (host.pod_of("near-a"), host.pod_of("away-b")) == (None, None)
    host.change("x", metadata={"labels": {"app": "a"}})
    host.settle()
    assert (host.pod_of("near-a"), host.pod_of("away-b")) == ("py-0", "py-0")


def test_an_assumption_that_is_undone_is_a_change_of_targets_for_other_runtimes(host: Host) -> None:
    """A cohort that cannot be seeded while a target is assumed elsewhere can be when that is undone."""
    host.pod("py-0", runs=4)
    host.pod("js-0", runtime="js", runs=1)
    host.disturb("t", hold_request)
    host.run("t", runtime="js", labels={"app": "a"})
    host.settle()
    host.run("r", labels={"app": "a"}, affinity=near("a"))
    host.settle()
    assert host.pod_of("r") is None
    host.delete("t")
    host.settle()
    assert host.pod_of("r") == "py-0"
    assert host.wakeups[WakeupSource.TARGET] == 1
