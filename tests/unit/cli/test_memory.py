"""The garbage collector never looks through all that a scheduler knows."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator

import pytest
from virtual.time import run_virtual

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
