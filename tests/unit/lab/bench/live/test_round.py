"""A round: which Runs come, in which cohort, and what its figures are counted from."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kruntimes_core.lab.bench.live.cluster import LoadedCluster
from kruntimes_core.lab.bench.live.load import BenchLoad, Cell, Mode
from kruntimes_core.lab.bench.live.results import RoundResult, round_of
from kruntimes_core.lab.bench.live.round import LoadRound, Mark, RunTimes, create_load
from kruntimes_core.lab.bench.live.scheduler import Usage
from kruntimes_core.lab.bench.objects import ROLE_LABEL
from kruntimes_core.lab.invariants import RunVersion

PATIENCE = 60.0


def figured(round_: LoadRound, in_flight: int = 1, *, waited: bool = False) -> RoundResult:
    """The figures of a round that is over."""
    return round_of(
        1, round_, waited=waited, own_versions={"1"}, ceiling=[1.0, 3.0], in_flight=in_flight, late_seconds=0
    )


class Scene:
    """A round whose waits are scripted: each either brings a placement, or lasts to its end."""

    def __init__(self, *placed: bool) -> None:
        self._placed: Iterator[bool] = iter(placed)
        self.waits: list[float] = []
        cluster: Any = SimpleNamespace(
            load=BenchLoad(mode=Mode.BURST), watch=SimpleNamespace(until=self._until)
        )
        self.loading = LoadRound(cluster, cast("asyncio.TaskGroup", None), 1, PATIENCE)
        self.loading.expected = 3
        # A second of the processor from each look to the next.
        used = count()
        self.loading.release(lambda: Usage(float(next(used)), 1, 1))

    def seconds(self) -> float:
        """What the scheduler used, after the round was followed to its end."""
        asyncio.run(self.loading.follow())
        result = figured(self.loading)
        each = result.figures["processorSecondsPerRun"]
        assert each is not None
        return each * result.placed

    async def _until(self, holds: Callable[[], bool], seconds: float) -> bool:
        self.waits.append(seconds)
        if next(self._placed):
            number = str(self.loading.placed)
            fields: dict[str, Any] = {"namespace": "ns", "name": number, "uid": number, "version": number}
            run = RunVersion(
                **fields, labels={ROLE_LABEL: "load"}, phase="Scheduled", pod="p", pod_uid="P", requests={}
            )
            self.loading.heard(run, 0.0)
        return holds()


def test_the_last_placement_is_the_end_where_all_are_placed() -> None:
    scene = Scene(True, True, True)
    # Looks: at the release, the first placement and the last one.
    assert scene.seconds() == pytest.approx(2.0)


def test_patience_with_what_is_never_placed_is_of_no_placement() -> None:
    scene = Scene(True, True, False, False)
    # The third look is that after a lull: none follows when patience has run out.
    assert scene.seconds() == pytest.approx(2.0)
    assert sum(scene.waits[-2:]) == PATIENCE
    assert scene.waits[-2] < scene.waits[-1]


def test_a_round_goes_on_after_a_lull() -> None:
    scene = Scene(True, False, True, True)
    # The lull was a look too, and not the last one.
    assert scene.seconds() == pytest.approx(3.0)
    assert scene.loading.done


def result(runs: int, seconds: float, in_flight: int = 1, *, waited: bool = False) -> RoundResult:
    """A round of Runs that come at 100 s and are placed evenly from then on, within `seconds`."""
    round_ = LoadRound(cast("LoadedCluster", None), cast("asyncio.TaskGroup", None), 1, PATIENCE)
    round_.expected = runs
    round_.released = round_.last = Mark(100.0, None, 0.0)
    for number in range(runs):
        placed_at = 100.0 + seconds * (number + 1) / runs
        round_.runs["ns", str(number)] = RunTimes(100.0, placed_at, ["1", "2", "3"])
    return figured(round_, in_flight, waited=waited)


def test_rates_are_of_what_was_placed_after_the_beginning() -> None:
    figures = result(4, 2.0).figures
    assert (figures["perSecond"], figures["ceilingPerSecond"], figures["shareOfCeiling"]) == (
        2.0,
        1.5,
        2 / 1.5,
    )
    assert (figures["p50Seconds"], figures["p99Seconds"]) == (1.0, 2.0)
    assert (figures["writesPerRun"], figures["eventsPerRun"]) == (2.0, 3.0)
    # Where all waited, it begins with the first placement, which is not counted.
    waited = result(4, 2.0, waited=True)
    assert (waited.seconds, waited.figures["perSecond"]) == (1.5, 2.0)


def test_too_few_runs_have_no_share_and_too_short_a_time_no_rate() -> None:
    few = result(4, 2.0, in_flight=4).figures
    assert (few["perSecond"], few["shareOfCeiling"]) == (2.0, None)
    for short in (result(4, 0.09), result(1, 0.0), result(1, 2.0, waited=True)):
        assert short.figures["perSecond"] is short.figures["shareOfCeiling"] is None


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
