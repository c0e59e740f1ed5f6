"""A plugin that raises while changed Pods are offered fails the Run that met it, and no other."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kruntimes_core.engine.counters import SyncResult
from kruntimes_core.engine.decisions import Outcome
from tests.engine.offers.scene import ALL, Scene


def fail() -> None:
    raise RuntimeError("no")


@pytest.mark.parametrize("failure", [fail, lambda: exit(3)], ids=["raises", "exits"])
def test_the_first_run_that_met_it_is_tried_later_and_the_round_goes_on(
    scene: Scene, failure: Callable[[], object]
) -> None:
    scene.fail(2, "filter", failure)
    scene.gpus(1)
    scene.host.settle()
    assert scene.placed == ["c1-0"]
    assert scene.errors == {("Moody", "filter"): 3}
    assert scene.with_outcome(Outcome.BACKOFF) == ["c2-0", "c2-1", "c2-2"]
    assert scene.with_outcome(Outcome.WAITING) == [n for n in ALL if n[1] != "2" and n != "c1-0"]


def test_a_raise_is_no_rejection(scene: Scene) -> None:
    """What is said of a Run that met it stays, and nothing is counted but the error."""
    scene.fail(4, "filter", fail)
    rejections = dict(scene.host.engine.counters.filter_rejections)
    scene.annotate({"note": "of no use to anybody"})
    work = scene.offered()
    scene.host.finish(work)
    assert scene.host.engine.counters.filter_rejections == rejections
    assert scene.host.engine.counters.syncs[SyncResult.SELECTION_ERROR] == 1
    scene.host.settle()
    assert scene.waiting == ALL
    assert scene.texts_written == len(ALL)


def test_a_scorer_that_raises_for_the_run_that_passed_hands_the_room_on(scene: Scene) -> None:
    scene.fail(2, "score", fail)
    scene.gpus(2)
    scene.host.settle()
    assert scene.placed == ["c1-0", "c1-1"]
    assert scene.errors == {("Moody", "score"): 1}


def test_the_others_of_the_class_are_tried_when_only_one_met_it(scene: Scene) -> None:
    """A failure that is over at the next question costs one Run its turn, not its class."""
    once = [fail]
    scene.fail(1, "filter", lambda: once.pop()() if once else None)
    scene.gpus(1)
    scene.host.settle()
    assert scene.placed == ["c1-1"]
    assert scene.with_outcome(Outcome.BACKOFF) == ["c1-0"]
    scene.gpus(2)
    scene.host.advance(2)
    assert scene.placed == ["c1-1", "c1-2"]


def test_all_are_placed_when_it_is_well_again(scene: Scene) -> None:
    scene.fail(3, "filter", fail)
    scene.gpus(100)
    scene.host.settle()
    assert [name for name in scene.placed if name[1] == "3"] == []
    scene.moody.fails_for = None
    scene.host.advance(60)
    assert sorted(scene.placed) == sorted(ALL)


def test_a_raise_in_the_plan_behind_the_offers_leaves_the_offers_as_they_are(scene: Scene) -> None:
    scene.fail(7, "filter", fail)
    scene.host.run("late", requests={"gpu": "7"})
    scene.annotate({"note": "of no use to anybody"})
    work = scene.offered()
    assert work.next_plan is not None
    scene.host.finish(work)
    scene.host.settle()
    assert scene.with_outcome(Outcome.BACKOFF) == ["late"]
    assert scene.with_outcome(Outcome.WAITING) == ALL
    assert scene.errors == {("Moody", "filter"): 1}
