"""The garbage collector rarely looks through all that a scheduler knows."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator
from itertools import pairwise

import pytest
from virtual.time import run_virtual

from kruntimes_core.cluster import garbage_collection
from kruntimes_core.cluster.garbage_collection import freeze_regularly
from kruntimes_core.engine.engine import Settings
from kruntimes_core.engine.events import PodsListed, RunsListed
from kruntimes_core.lab.bench.engine.driver import EngineSetup, Stopwatch, prepared
from kruntimes_core.lab.bench.engine.shape import Shape
from kruntimes_core.lab.bench.engine.workloads import WORKLOADS, Timed
from kruntimes_core.testing.plugins import installed_profiles

FULL = 2


class Host:
    """Decides from a moment on."""

    deciding = False


@pytest.fixture
def collected() -> Iterator[list[int]]:
    """The generations that were collected, and the collector as it was before."""
    generations: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "stop":
            generations.append(info["generation"])

    thresholds = gc.get_threshold()
    gc.callbacks.append(note)
    yield generations
    gc.callbacks.remove(note)
    gc.set_threshold(*thresholds)
    gc.unfreeze()


def test_what_is_known_is_set_aside_once_it_decides_and_again(collected: list[int]) -> None:
    async def main() -> list[int]:
        host, frozen = Host(), []
        resting = asyncio.create_task(freeze_regularly(lambda: host.deciding))
        await asyncio.sleep(5)
        frozen.append(gc.get_freeze_count())
        host.deciding = True
        await asyncio.sleep(5)
        frozen.append(gc.get_freeze_count())
        learnt = [[number] for number in range(2_000)]
        await asyncio.sleep(120)
        frozen.append(gc.get_freeze_count() - len(learnt) // 2)
        resting.cancel()
        return frozen

    before, listed, later = run_virtual(main())
    assert before == 0
    assert 0 < listed < later
    assert FULL not in collected


class Cyclic:
    """Refers to itself, as a transport of asyncio does."""

    def __init__(self) -> None:
        self.itself = self


def test_what_was_set_aside_and_is_garbage_is_freed_in_time(collected: list[int]) -> None:
    async def main() -> tuple[bool, bool, int]:
        resting = asyncio.create_task(freeze_regularly(lambda: True))
        connection = Cyclic()
        gone = weakref.ref(connection)
        await asyncio.sleep(200)
        del connection
        await asyncio.sleep(200)
        kept = gone() is not None
        collections = len(collected)
        await asyncio.sleep(400)
        full = collected[collections:].count(FULL)
        resting.cancel()
        return kept, gone() is None, full

    assert run_virtual(main()) == (True, True, 1)


def test_a_slow_full_collection_is_made_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    """It stops the process: a quarter of a second, beside 100,000 Runs."""
    made: list[float] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()

        def slow() -> float:
            made.append(loop.time())
            return 0.25

        monkeypatch.setattr(garbage_collection, "collect_frozen_objects", slow)
        resting = asyncio.create_task(freeze_regularly(lambda: True))
        await asyncio.sleep(2 * 3600)
        resting.cancel()

    run_virtual(main())
    between = [later - earlier for earlier, later in pairwise(made)]
    assert between
    assert min(between) >= 2_500


def test_young_objects_are_few_enough_to_look_through(collected: list[int]) -> None:
    async def main() -> None:
        resting = asyncio.create_task(freeze_regularly(lambda: False))
        await asyncio.sleep(1)
        resting.cancel()

    run_virtual(main())
    first, second, _ = gc.get_threshold()
    assert first * (second + 1) <= 25_000


@pytest.mark.parametrize(
    "name", ["placements", "burst", "affinity", "preferences", "new-states", "freed-slot"]
)
def test_the_engine_makes_no_rings_that_only_a_collection_frees(name: str) -> None:
    (workload,) = (one for one in WORKLOADS if one.name == name and isinstance(one, Timed))
    shape = Shape(pods=8, runs=10, known=40, waiting=10, requests=3, cohorts=3)
    site, watch = workload.prepare(shape, EngineSetup(installed_profiles(), Settings())), Stopwatch()
    workload.repeat(site, watch)
    gc.collect()
    workload.repeat(site, watch)
    assert gc.collect() == 0


def test_what_is_gone_from_the_cluster_is_freed_without_a_collection() -> None:
    site = prepared(Shape(pods=8, known=200, waiting=50), EngineSetup(installed_profiles(), Settings()))
    gc.collect()
    site.runs.clear()
    site.tell(RunsListed(observations=(), version="999999"))
    site.tell(PodsListed(observations=(), version="999999"))
    site.settle()
    assert site.engine.sizes["runs"] == 0
    assert gc.collect() == 0
