"""Pods and Runs that go, or change, between an offer and what follows from it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kruntimes_core.engine.plugin_work import PlanWork
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness import PODS, hold_request
from tests.engine.offers.scene import ALL, FIRST, ON_POD, Scene


def replaced(scene: Scene) -> None:
    scene.host.pod("py-0", uid="another", runs=50, capacity={"gpu": "0"})


def gone(scene: Scene) -> None:
    scene.host.delete("py-0", kind=PODS)


def not_ready(scene: Scene) -> None:
    scene.gpus(0)


def terminating(scene: Scene) -> None:
    going = {"metadata": {"deletionTimestamp": "2026-01-02T03:04:05Z"}}
    scene.host.server.change(PODS, NAMESPACE, "py-0", going)


@pytest.mark.parametrize("change", [gone, replaced, not_ready, terminating])
def test_a_pod_that_is_of_no_use_any_more_is_not_bound_to(
    scene: Scene, change: Callable[[Scene], None]
) -> None:
    scene.gpus(1)
    work = scene.offered()
    change(scene)
    scene.host.observe()
    scene.host.finish(work)
    scene.host.settle()
    assert scene.placed == []


@pytest.mark.parametrize("change", [gone, replaced, not_ready, terminating])
def test_a_bind_that_was_not_sent_before_its_pod_went_is_not_sent(
    scene: Scene, change: Callable[[Scene], None]
) -> None:
    scene.gpus(1)
    scene.host.observe()
    scene.host.work()
    assert scene.host.usage() == {"gpu": 1, "runs": 1}
    change(scene)
    scene.host.observe()
    scene.host.settle()
    assert scene.placed == []
    full_or_none = ("waiting for Full", 'waiting for available runtime pods for runtime "py"')
    assert scene.host.status("c1-0")["message"] == full_or_none[change is gone]


def test_room_that_was_taken_meanwhile_is_not_given_twice(scene: Scene) -> None:
    scene.gpus(4)
    work = scene.offered()
    scene.host.run("other", requests={"gpu": "3"}, pod="py-0")
    scene.host.observe()
    scene.host.finish(work)
    scene.host.settle()
    assert scene.placed == ["c1-0"]


def test_room_that_came_meanwhile_is_found(scene: Scene) -> None:
    scene.annotate({"note": "of no use to anybody"})
    work = scene.offered()
    scene.host.pod("py-1", runs=50, capacity={"gpu": "1"})
    scene.host.observe()
    scene.host.finish(work)
    scene.host.settle()
    assert scene.placed == ["c1-0"]
    assert scene.host.engine.counters.rescues == 0


def test_two_rounds_at_once_do_not_give_one_room_twice(scene: Scene) -> None:
    """The second round is for classes that came meanwhile."""
    scene.gpus(1)
    first = scene.offered()
    scene.host.run("late", requests={"gpu": "1"}, labels={"app": "a"})
    scene.host.observe()
    second = scene.host.take()
    scene.host.finish(second)
    scene.host.finish(first)
    scene.host.settle()
    assert scene.placed == ["late"]


NEXT = {
    "c4-0": ["c3-0", "c1-0"],
    "c3-0": ["c2-0", "c1-0"],
    "c2-0": ["c1-0", "c1-1"],
    "c1-0": ["c1-1"],
}
"""Who gets the GPUs that were for a Run, by order of arrival."""


@pytest.mark.parametrize("name", FIRST)
def test_a_run_that_is_deleted_while_it_is_offered_hands_the_offer_on(scene: Scene, name: str) -> None:
    scene.gpus(int(name[1]))
    work = scene.offered()
    scene.host.delete(name)
    scene.host.observe()
    scene.host.finish(work)
    scene.host.settle()
    assert scene.placed == NEXT[name]
    assert scene.host.engine.counters.rescues == 0


def test_a_class_whose_last_run_is_deleted_while_it_is_offered_is_forgotten(scene: Scene) -> None:
    scene.gpus(1)
    work = scene.offered()
    for name in ALL:
        scene.host.delete(name)
    scene.host.observe()
    scene.host.finish(work)
    scene.host.settle()
    assert scene.host.usage() == {}
    assert (scene.host.engine.sizes["classes"], scene.host.engine.sizes["queue"]) == (0, 0)


def test_a_run_that_is_deleted_before_its_bind_is_sent_gives_its_room_to_the_next(scene: Scene) -> None:
    scene.gpus(1)
    scene.host.observe()
    scene.host.work()
    scene.host.delete("c1-0")
    scene.host.settle()
    assert scene.placed == ["c1-1"]


def test_a_run_that_is_deleted_while_its_bind_is_under_way_gives_its_room_to_the_next(scene: Scene) -> None:
    scene.host.disturb("c1-0", hold_request)
    scene.gpus(1)
    scene.host.settle()
    scene.host.delete("c1-0")
    scene.host.settle()
    scene.host.release("c1-0")
    scene.host.settle()
    assert scene.placed == ["c1-1"]


@pytest.mark.parametrize("how", ["cancelled", "relabelled", "bound"])
def test_a_run_that_became_another_while_it_is_offered_is_not_bound_by_it(scene: Scene, how: str) -> None:
    scene.gpus(1)
    work = scene.offered()
    if how == "cancelled":
        scene.host.change("c1-0", spec={"cancelRequested": True})
    elif how == "relabelled":
        scene.host.change("c1-0", metadata={"labels": {"app": "other"}})
    else:
        scene.host.change("c1-0", status=ON_POD)
    scene.host.observe()
    scene.host.finish(work)
    assert scene.host.usage() == ({"gpu": 1, "runs": 1} if how == "bound" else {})
    scene.host.settle()
    assert scene.placed == {"cancelled": ["c1-1"], "relabelled": ["c1-0"], "bound": []}[how]


def test_the_run_behind_the_offers_may_go_too(scene: Scene) -> None:
    scene.host.run("late")
    scene.annotate({"note": "of no use to anybody"})
    work = scene.offered()
    assert isinstance(work.next_plan, PlanWork)
    scene.host.delete("late")
    scene.host.observe()
    scene.host.finish(work)
    scene.host.settle()
    assert scene.placed == []
    assert scene.host.usage() == {}
    assert scene.waiting == ALL
