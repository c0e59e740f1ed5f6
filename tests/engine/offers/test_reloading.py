"""Profiles that are loaded while offers are under way: nothing is decided by the former ones."""

from __future__ import annotations

from kruntimes_core import Reject
from kruntimes_core.engine.counters import WakeupSource
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.testing.plugins import fake_plugin, profiles_of
from tests.engine.offers.scene import ALL, WAITS, Scene


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
