"""Which Runs are created, and in which cohort."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any, cast

import pytest

from kruntimes_core.lab.bench.live.cluster import LoadedCluster
from kruntimes_core.lab.bench.live.load import BenchLoad, Cell, Mode
from kruntimes_core.lab.bench.live.round import create_load


class Noting:
    """A site in which nothing is made."""

    def __init__(self, load: BenchLoad) -> None:
        self.load = load
        self.cohorts: dict[Cell, Counter[str | None]] = {}
        self.names: list[str] = []

    async def add_run(self, where: Cell, name: str, role: str, *, cohort: str | None) -> Any:
        self.names.append(name)
        self.cohorts.setdefault(where, Counter())[cohort] += 1


def created(load: BenchLoad) -> Noting:
    site = Noting(load)
    asyncio.run(create_load(cast("LoadedCluster", site), 7, load.arrivals(7)))
    return site


@pytest.mark.parametrize(("pods", "namespaces"), [(4, 1), (4, 2), (1, 1), (12, 2)])
def test_each_place_has_all_cohorts_evenly(pods: int, namespaces: int) -> None:
    load = BenchLoad(mode=Mode.BURST, runs=24, pods=pods, namespaces=namespaces, cohorts=3)
    load.check()
    site = created(load)
    assert len(site.cohorts) == namespaces
    for where, counts in site.cohorts.items():
        assert set(counts) == {f"{where.namespace}-{where.runtime}-{number}" for number in range(3)}
        assert set(counts.values()) == {24 // namespaces // 3}


def test_runs_are_numbered_and_without_cohorts_there_is_none() -> None:
    site = created(BenchLoad(mode=Mode.BURST, runs=3, pods=1))
    assert site.names == ["run-7-000000", "run-7-000001", "run-7-000002"]
    assert list(site.cohorts.values()) == [Counter({None: 3})]
