"""The counts counts what the API server accepted."""

from __future__ import annotations

from kruntimes_core.lab.dev.overview import RunCounts
from kruntimes_core.lab.runtimes.behaviour import Behaviour
from tests.unit.lab.runtimes.scene import TASK_SECONDS, Site, passes, play

BEHAVIOUR = Behaviour(run=(TASK_SECONDS, TASK_SECONDS))


def test_a_run_is_counted_from_its_creation_to_its_end() -> None:
    async def scene(site: Site) -> None:
        counts = RunCounts(site.clock)
        site.api.observers.append(counts.note)
        site.runtime()
        await passes(2)
        site.run("r")
        assert (counts.created, dict(+counts.alive), counts.unfinished) == (1, {"Pending": 1}, 1)
        site.bind("r", "py-0")
        await passes(1)
        assert (dict(+counts.alive), dict(counts.placed_on), counts.well) == (
            {"Running": 1},
            {"py-0": 1},
            False,
        )
        await passes(TASK_SECONDS)
        assert (dict(+counts.alive), dict(counts.ended), counts.well) == ({}, {"Succeeded": 1}, True)
        site.delete("runs", "r")
        assert (counts.created, dict(counts.ended)) == (1, {"Succeeded": 1})
        assert counts.runtimes == {("default", "py")}

    play(scene, BEHAVIOUR)


def test_a_retry_is_another_placement_of_the_same_run() -> None:
    async def scene(site: Site) -> None:
        counts = RunCounts(site.clock)
        site.api.observers.append(counts.note)
        site.runtime()
        await passes(2)
        site.run("r", retryPolicy={"maxAttempts": 2})
        for _ in range(2):
            site.bind("r", "py-0")
            await passes(TASK_SECONDS + 1)
        assert (counts.created, counts.placements, counts.retries) == (1, 2, 1)
        assert (dict(counts.ended), counts.well) == ({"Failed": 1}, False)

    play(scene, Behaviour(run=(TASK_SECONDS, TASK_SECONDS), failure_rate=1.0))


def test_a_run_deleted_before_its_end_did_not_end_well() -> None:
    async def scene(site: Site) -> None:
        counts = RunCounts(site.clock)
        site.api.observers.append(counts.note)
        site.run("r")
        site.delete("runs", "r")
        assert (counts.created, counts.unfinished, counts.well) == (1, 0, False)

    play(scene)


def test_the_rate_is_that_of_the_last_ten_seconds() -> None:
    async def scene(site: Site) -> None:
        counts = RunCounts(site.clock)
        site.api.observers.append(counts.note)
        site.runtime()
        await passes(20)
        for number in range(5):
            site.run(f"r{number}")
            site.bind(f"r{number}", "py-0")
        assert counts.rate() == 0.5
        await passes(11)
        assert counts.rate() == 0.0

    play(scene)
