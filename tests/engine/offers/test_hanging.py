"""A plugin that hangs while changed Pods are offered: it is named, and no class pays for another's Run."""

from __future__ import annotations

from offering.scene import ALL, Scene

from kruntimes_core.engine.decisions import Outcome
from kruntimes_core.engine.plugin_work import PlanWork
from kruntimes_core.framework.profile import InterruptedCallError


def test_a_call_that_never_came_back_names_the_plugin_and_binds_nobody(scene: Scene) -> None:
    scene.moody.fails_for = 2
    scene.gpus(1)
    assert not scene.finish(scene.offered())
    assert scene.errors == {("Moody", "filter"): 1}
    assert scene.placed == []
    assert scene.waiting == ALL


def test_each_class_of_a_round_that_hung_is_tried_by_itself(scene: Scene) -> None:
    """Nobody knows in whose offer it was, so the others must not meet it a second time."""
    scene.moody.fails_for = 2
    scene.gpus(1)
    # The round, and each Run of the class once.
    assert scene.settle() == 1 + 3
    assert scene.errors == {("Moody", "filter"): 4}
    assert scene.placed == ["c1-0"]
    assert scene.with_outcome(Outcome.BACKOFF) == ["c2-0", "c2-1", "c2-2"]
    assert scene.waiting == [name for name in ALL if name != "c1-0"]
    assert scene.texts_written == len(ALL)


def test_a_later_change_is_offered_to_all_together_again(scene: Scene) -> None:
    scene.moody.fails_for = 2
    scene.gpus(1)
    scene.settle()
    scene.moody.fails_for = None
    scene.gpus(2)
    assert [offer.run.name for offer in scene.offered().retries] == ["c4-0", "c3-0", "c1-1"]


def test_those_that_met_the_hang_are_placed_when_the_plugin_is_well_again(scene: Scene) -> None:
    scene.moody.fails_for = 2
    scene.gpus(1)
    scene.settle()
    scene.moody.fails_for = None
    scene.gpus(100)
    scene.host.advance(60)
    assert sorted(scene.placed) == sorted(ALL)


def test_the_run_behind_the_offers_goes_back_to_its_place(scene: Scene) -> None:
    """What hung may have been its own plan: it is made again, and the classes are offered nothing with it."""
    scene.moody.fails_for = 7
    scene.host.run("late", requests={"gpu": "7"})
    scene.annotate({"note": "of no use to anybody"})
    work = scene.offered()
    assert work.next_plan is not None
    assert work.next_plan.run.name == "late"
    assert not scene.finish(work)
    assert scene.settle() == 1
    assert scene.with_outcome(Outcome.BACKOFF) == ["late"]
    assert scene.with_outcome(Outcome.WAITING) == ALL


def test_runs_that_went_away_while_their_round_hung_leave_nothing(scene: Scene) -> None:
    scene.moody.fails_for = 2
    scene.gpus(1)
    work = scene.offered()
    for number in range(3):
        scene.host.delete(f"c2-{number}")
    assert not scene.finish(work)
    assert scene.settle() == 0
    assert scene.placed == ["c1-0"]
    assert scene.host.engine.sizes["classes"] == 3


def test_what_is_freed_while_a_round_hangs_is_not_lost(scene: Scene) -> None:
    scene.moody.fails_for = 2
    scene.gpus(1)
    work = scene.offered()
    scene.gpus(4)
    scene.host.observe()
    assert not scene.finish(work)
    scene.settle()
    assert scene.placed == ["c4-0"]


def test_a_call_that_never_came_back_to_a_host_that_leads_no_more(scene: Scene) -> None:
    scene.moody.fails_for = 2
    scene.gpus(1)
    work = scene.offered()
    scene.host.engine.stand_down(scene.host.now)
    assert not scene.finish(work)
    assert scene.settle() == 0
    assert scene.placed == []
    scene.moody.fails_for = None
    scene.host.engine.lead(scene.host.now)
    assert scene.settle() == 0
    assert scene.placed == ["c1-0"]


def test_an_offer_to_one_class_with_nothing_behind_it_blames_the_run_of_that_offer() -> None:
    """There is no other whose call it could have been: the Run backs off at once."""
    scene = Scene(["c2-0"])
    scene.moody.fails_for = 2
    scene.annotate({"note": "of no use to anybody"})
    work = scene.offered()
    assert ([offer.run.name for offer in work.retries], work.next_plan) == (["c2-0"], None)
    assert not scene.finish(work)
    assert scene.with_outcome(Outcome.BACKOFF) == ["c2-0"]
    assert scene.settle() == 0
    assert scene.errors == {("Moody", "filter"): 1}


def test_an_offer_to_one_class_with_a_run_behind_it_blames_neither() -> None:
    """It may have been the call of either, so each is tried by itself, and who hangs again is named."""
    scene = Scene(["c2-0"])
    scene.moody.fails_for = 2
    scene.host.run("late")
    scene.annotate({"note": "of no use to anybody"})
    work = scene.offered()
    assert len(work.retries) == 1
    assert work.next_plan is not None
    assert not scene.finish(work)
    assert scene.with_outcome(Outcome.BACKOFF) == []
    assert scene.settle() == 1
    assert scene.with_outcome(Outcome.BACKOFF) == ["c2-0"]
    assert scene.placed == ["late"]
    assert scene.errors == {("Moody", "filter"): 2}


def test_offers_to_two_classes_blame_neither() -> None:
    scene = Scene(["c2-0", "c1-0"])
    scene.moody.fails_for = 2
    scene.gpus(1)
    work = scene.offered()
    assert (len(work.retries), work.next_plan) == (2, None)
    assert not scene.finish(work)
    assert scene.with_outcome(Outcome.BACKOFF) == []
    assert scene.settle() == 1
    assert scene.with_outcome(Outcome.BACKOFF) == ["c2-0"]
    assert scene.placed == ["c1-0"]


def interrupt() -> None:
    raise InterruptedCallError


def test_a_plugin_that_is_interrupted_in_the_time_of_others_is_not_blamed(scene: Scene) -> None:
    """The limit is for a plan, and a round may be of 64: the one that it struck gets a time of its own."""
    once = [interrupt]
    scene.fail(2, "filter", lambda: once.pop()() if once else None)
    scene.gpus(2)
    scene.host.finish(scene.offered())
    again = scene.host.take()
    assert isinstance(again, PlanWork)
    assert again.run.name == "c2-0"
    scene.host.finish(again)
    scene.host.settle()
    assert scene.placed == ["c2-0"]
    assert scene.errors == {}


def test_a_plugin_that_is_interrupted_in_its_own_time_is(scene: Scene) -> None:
    scene.fail(2, "filter", interrupt)
    scene.gpus(1)
    scene.host.settle()
    assert scene.placed == ["c1-0"]
    assert scene.errors == {("Moody", "filter"): 3}
    assert scene.with_outcome(Outcome.BACKOFF) == ["c2-0", "c2-1", "c2-2"]


def test_the_first_of_a_round_had_all_of_the_time(scene: Scene) -> None:
    scene.fail(4, "filter", interrupt)
    scene.gpus(1)
    scene.host.finish(scene.offered())
    assert scene.errors == {("Moody", "filter"): 1}
    assert scene.with_outcome(Outcome.BACKOFF) == ["c4-0"]


def test_the_run_behind_the_offers_gets_a_time_of_its_own_too(scene: Scene) -> None:
    once = [interrupt]
    scene.fail(0, "filter", lambda: once.pop()() if once else None)
    scene.host.run("late")
    scene.annotate({"note": "of no use to anybody"})
    scene.host.finish(scene.offered())
    assert not once
    scene.host.settle()
    assert scene.placed == ["late"]
    assert scene.errors == {}
