"""What changes between take and commit is looked at before anything is reserved or parked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from engine_scenes import in_work

from kruntimes_core.testing import affinity_object, term_object
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness import PODS, Host

COHORT: dict[str, Any] = {
    "labels": {"app": "a"},
    "affinity": affinity_object(required=[term_object({"app": "a"})]),
}


def test_two_runs_that_both_saw_no_target_do_not_seed_one_cohort_on_two_pods(host: Host) -> None:
    """Both plans say "seed it", the second one on the emptier Pod; its answer does not hold any more."""
    host.pod("py-0", runs=4)
    host.pod("py-1", runs=4)
    host.run("r1", **COHORT)
    host.run("r2", **COHORT)
    host.observe()
    first, second = host.take(), host.take()
    host.finish(first)
    host.finish(second)
    host.settle()
    assert host.pod_of("r1") == host.pod_of("r2") == "py-0"


def test_a_target_that_appears_during_a_plan_is_seen_at_the_commit(host: Host) -> None:
    """Anti-affinity is a rule of the Pod: the chosen one is asked about again, and turned down."""
    host.pod("py-0", runs=4)
    host.pod("py-1", runs=4)
    host.run("r", affinity=affinity_object(required_anti=[term_object({"app": "a"})]))
    with in_work(host):
        host.run("x", labels={"app": "a"}, pod="py-0")
    host.settle()
    assert host.pod_of("r") == "py-1"


def test_several_plans_under_way_do_not_oversell(host: Host) -> None:
    host.pod("py-0", runs=2)
    host.pod("py-1", runs=1)
    names = [f"r{number}" for number in range(6)]
    for name in names:
        host.run(name)
    host.observe()
    works = [host.take() for _ in names]
    for work in reversed(works):
        host.finish(work)
    host.settle()
    assert sorted(str(host.pod_of(name)) for name in names) == [*["None"] * 3, "py-0", "py-0", "py-1"]


def test_plans_of_one_worker_may_be_done_in_any_order(host: Host) -> None:
    """A plan on an older picture, made after one on a newer, decides from its own picture."""
    host.pod("py-0", runs=4)
    host.run("r1")
    host.observe()
    old = host.take()
    host.pod("py-1", runs=9)
    host.run("r2")
    host.observe()
    host.finish(host.take())
    host.finish(old)
    host.settle()
    assert host.pod_of("r2") == "py-1"
    assert host.pod_of("r1") == "py-0"


def test_room_that_was_freed_while_a_run_was_in_work_is_not_lost(host: Host) -> None:
    host.pod("py-0", runs=1)
    host.run("x", pod="py-0")
    host.run("r")
    with in_work(host):
        host.end("x")
    host.settle()
    assert host.pod_of("r") == "py-0"
    assert not host.engine.counters.rescues


@pytest.mark.parametrize(
    "cause",
    [
        lambda host: host.workspace("ws", phase="Bound", bound_pod="py-0"),
        lambda host: host.run("t", labels={"app": "a"}, pod="py-0"),
    ],
    ids=["workspace", "target"],
)
def test_a_workspace_or_target_that_came_while_a_run_was_in_work_is_not_lost(
    host: Host, cause: Callable[[Host], object]
) -> None:
    host.pod("py-0", runs=3)
    host.workspace("ws", phase="Pending", bound_pod=None)
    host.run("by-workspace", workspace="ws")
    host.run("by-target", affinity=affinity_object(required=[term_object({"app": "a"})]))
    host.observe()
    works = [host.take(), host.take()]
    cause(host)
    host.observe()
    for work in works:
        host.finish(work)
    host.settle()
    assert [host.pod_of("by-workspace"), host.pod_of("by-target")].count("py-0") == 1


@pytest.mark.parametrize("change", ["gone", "replaced", "not ready", "full", "terminating"])
def test_a_pod_that_changed_during_a_plan_is_not_bound_to(host: Host, change: str) -> None:
    host.pod("py-0", runs=1)
    host.run("r")
    with in_work(host):
        if change == "gone":
            host.delete("py-0", kind=PODS)
        elif change == "replaced":
            host.pod("py-0", runs=1, uid="P0b", ready=False)
        elif change == "not ready":
            host.ready("py-0", False)
        elif change == "full":
            host.run("x", pod="py-0")
        else:
            going = {"metadata": {"deletionTimestamp": "2026-01-02T03:04:05Z"}}
            host.server.change(PODS, NAMESPACE, "py-0", going)
    host.settle()
    assert host.pod_of("r") is None
    assert not host.server.invariants.binds
    if change == "replaced":
        host.ready("py-0", True)
        host.settle()
        assert host.status("r")["assignedPodUID"] == "P0b"


@pytest.mark.parametrize("patch", [{"labels": {"app": "b"}}, {"annotations": {"note": "x"}}])
def test_a_run_that_changed_during_its_plan_is_planned_again(host: Host, patch: dict[str, Any]) -> None:
    host.pod("py-0", runs=1)
    host.run("r")
    with in_work(host):
        host.change("r", metadata=patch)
    assert not host.usage()
    host.settle()
    assert host.pod_of("r") == "py-0"
    assert host.cycles == 2


def test_a_run_that_went_away_during_its_plan_leaves_nothing(host: Host) -> None:
    host.pod("py-0", runs=1)
    host.run("r")
    with in_work(host):
        host.delete("r")
    host.settle()
    assert not host.usage()
    assert not host.requests


def test_a_status_edit_by_somebody_else_does_not_void_a_plan(host: Host) -> None:
    """A version is no part of the Run value: the answer holds, and the bind uses the newer version."""
    host.pod("py-0", runs=1)
    host.run("r")
    with in_work(host):
        host.change("r", status={"outputs": {"a": "b"}})
    host.settle()
    assert host.pod_of("r") == "py-0"
    assert (host.cycles, len(host.writes("r"))) == (1, 1)
