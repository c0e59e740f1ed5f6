"""Who leads no more when its offers come back decides nothing by them."""

from __future__ import annotations

from kruntimes_core.testing.harness import Host
from tests.engine.offers.scene import ALL, ON_POD, Scene


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
