"""Batched retry: what came of each class, whatever happened to the batch."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from offering.scene import ALL, FIRST, ON_POD, WAITS, Scene

from kruntimes_core import Reject
from kruntimes_core.engine.counters import SyncResult, WakeupSource
from kruntimes_core.engine.decisions import Outcome
from kruntimes_core.engine.plugin_work import PlanWork
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.framework.profile import InterruptedCallError
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness import PODS, Host, hold_request
from kruntimes_core.testing.plugins import fake_plugin, profiles_of

# A host whose Runs all wait.


@pytest.fixture
def scene() -> Scene:
    """A host that has told all Runs that they wait."""
    scene = Scene()
    assert scene.waiting == ALL
    return scene


# Pods and Runs that go, or change, between an offer and what follows from it.


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


# A plugin that raises while changed Pods are offered fails the Run that met it, and no other.


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


# A plugin that hangs while changed Pods are offered: it is named, and no class pays for another's Run.


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


# Who leads no more when its offers come back decides nothing by them.


def test_offers_that_come_back_after_the_lease_was_lost_bind_nobody(scene: Scene) -> None:
    scene.gpus(1)
    work = scene.offered()
    scene.host.engine.stand_down(scene.host.now)
    scene.host.finish(work)
    scene.host.settle()
    assert scene.placed == []
    assert scene.host.usage() == {}
    assert scene.waiting == ALL


def test_they_are_made_again_when_it_leads_again(scene: Scene) -> None:
    scene.gpus(1)
    work = scene.offered()
    scene.host.engine.stand_down(scene.host.now)
    scene.host.finish(work)
    scene.host.engine.lead(scene.host.now)
    scene.host.settle()
    assert scene.placed == ["c1-0"]
    assert scene.host.engine.counters.rescues == 0


def test_they_count_if_it_leads_again_before_they_come_back(scene: Scene) -> None:
    """Room that another leader gave away meanwhile is seen, and not given again."""
    scene.gpus(1)
    work = scene.offered()
    scene.host.engine.stand_down(scene.host.now)
    scene.host.change("c4-2", status=ON_POD)
    scene.gpus(4)
    scene.host.observe()
    scene.host.engine.lead(scene.host.now)
    scene.host.finish(work)
    scene.host.settle()
    assert scene.placed == []
    assert scene.host.usage()["gpu"] == 4


def test_the_run_behind_the_offers_is_not_lost(scene: Scene) -> None:
    scene.host.run("late")
    scene.annotate({"note": "of no use to anybody"})
    work = scene.offered()
    assert work.next_plan is not None
    scene.host.engine.stand_down(scene.host.now)
    scene.host.finish(work)
    scene.host.settle()
    assert scene.placed == []
    scene.host.engine.lead(scene.host.now)
    scene.host.settle()
    assert scene.placed == ["late"]


def test_two_leaders_one_after_the_other_bind_each_run_once(scene: Scene) -> None:
    """The former one's offers come back when the next one has placed everybody."""
    scene.gpus(100)
    work = scene.offered()
    scene.host.engine.stand_down(scene.host.now)
    successor = Host(scene.profiles(), server=scene.host.server)
    successor.settle()
    assert sorted(scene.placed) == sorted(ALL)
    scene.host.finish(work)
    scene.host.settle()
    successor.settle()
    assert len(scene.placed) == len(ALL)


# Profiles that are loaded while offers are under way: nothing is decided by the former ones.


def closed() -> Profiles:
    """Profiles by which no Run goes anywhere."""
    return profiles_of(fake_plugin("Closed", filter=lambda pod: Reject("Shut"), reasons=["Shut"]))


def test_who_passed_by_the_former_profile_is_not_bound_by_it(scene: Scene) -> None:
    scene.gpus(1)
    work = scene.offered()
    scene.host.engine.reload(closed(), scene.host.now)
    scene.host.finish(work)
    scene.host.settle()
    assert scene.placed == []
    assert scene.host.usage() == {}
    assert {scene.host.status(name)["message"] for name in ALL} == {"waiting for Shut"}


def test_who_did_not_pass_by_the_former_profile_is_tried_by_the_new_one(scene: Scene) -> None:
    scene.annotate({"note": "of no use to anybody"})
    work = scene.offered()
    scene.host.engine.reload(profiles_of(fake_plugin("Open", filter=lambda pod: None)), scene.host.now)
    scene.gpus(100)
    scene.host.observe()
    scene.host.finish(work)
    scene.host.settle()
    assert scene.placed == ALL


def test_each_run_is_tried_once_by_the_new_profile(scene: Scene) -> None:
    scene.annotate({"note": "of no use to anybody"})
    work = scene.offered()
    scene.host.engine.reload(scene.profiles(), scene.host.now)
    scene.host.finish(work)
    before = scene.host.cycles
    scene.host.settle()
    assert scene.host.cycles - before == len(ALL)
    assert scene.host.wakeups[WakeupSource.RELOAD] == len(ALL)
    assert scene.waiting == ALL
    assert scene.texts_written == len(ALL)


def test_classes_of_the_former_profile_leave_nothing_behind(scene: Scene) -> None:
    sizes = scene.host.engine.sizes
    scene.annotate({"note": "of no use to anybody"})
    work = scene.offered()
    scene.host.engine.reload(scene.profiles(), scene.host.now)
    scene.host.settle()
    scene.host.finish(work)
    scene.host.settle()
    assert scene.host.engine.sizes == sizes
    scene.gpus(1)
    scene.host.settle()
    assert scene.placed == ["c1-0"]


def test_a_reload_while_a_round_hangs_ends_the_hang_for_its_runs(scene: Scene) -> None:
    scene.moody.fails_for = 2
    scene.gpus(2)
    work = scene.offered()
    scene.host.engine.reload(profiles_of(*scene.profiles().all[0].plugins[1:]), scene.host.now)
    assert not scene.finish(work)
    assert scene.settle() == 0
    assert scene.placed == ["c2-0"]
    assert scene.host.status("c4-0") == WAITS
