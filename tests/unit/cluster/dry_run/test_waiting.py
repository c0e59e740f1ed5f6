"""Runs that only one of the two schedulers places, and which plugin keeps the other from it."""

from __future__ import annotations

import re

from dryrun.site import PATIENCE_SECONDS, Beside, play
from memoryapi.site import Site

from kruntimes_core.cluster.dry_run.report import DifferenceKind, Hint
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.framework.hookspecs import Reject
from kruntimes_core.testing.builders import NOW
from kruntimes_core.testing.objects import time_text
from kruntimes_core.testing.plugins import fake_plugin, profiles_of
from tests.unit.cluster.played import dry_run_scene


def cycles(site: Site) -> int:
    """How many plans there were."""
    shown = site.host.metrics.exposition().decode()
    (number,) = re.findall(r"^kruntimes_scheduler_sync_duration_seconds_count (\S+)$", shown, re.MULTILINE)
    return int(float(number))


@dry_run_scene()
async def test_it_placed_what_waits_here(site: Site, other: Beside) -> None:
    await other.starts_with("r1", pods={"py-0": 1}, placed={"first": "py-0"})
    other.binds("r1", "py-0")
    found = await other.sees()
    assert (found.kind, found.plugin) == (DifferenceKind.PLACED_WAITING, "RuntimePodAvailability")
    assert (found.reason, found.ours, found.theirs) == ("InsufficientCapacity", "waiting", "py-0")
    assert "plugin=RuntimePodAvailability reason=InsufficientCapacity" in site.log


@dry_run_scene()
async def test_it_placed_what_waits_here_on_a_pod_that_is_not_known(site: Site, other: Beside) -> None:
    await other.starts_with("r1")
    site.api.lag_seconds["pods"] = 5
    site.pod("py-0")
    other.binds("r1", "py-0")
    assert (await other.sees()).kind is DifferenceKind.POD_UNKNOWN


@dry_run_scene()
async def test_it_was_faster_to_use_a_room_that_came_free(site: Site, other: Beside) -> None:
    await other.starts_with("r1", pods={"py-0": 1}, placed={"first": "py-0"})
    site.end("first")
    other.binds("r1", "py-0")
    await site.passes(1)
    assert other.counts() == (0, 0, {"before": 1})


def test_a_reservation_that_is_refused_again_and_again() -> None:
    refusing = fake_plugin(
        "Quota", reasons=["Spent"], stateful=True, reserve=lambda pod: Reject("Spent", "none left")
    )

    async def scene(site: Site, other: Beside) -> None:
        await other.starts_with("r1", pods={"py-0": 1})
        other.binds("r1", "py-0")
        found = await other.sees()
        assert (found.kind, found.plugin, found.reason) == (DifferenceKind.PLACED_WAITING, "Quota", "Spent")

    play(profiles_of(refusing), scene)


def test_it_placed_what_is_left_alone_here_after_a_plugin_failed() -> None:
    def broken(pod: object) -> None:
        raise RuntimeError("no")

    async def scene(site: Site, other: Beside) -> None:
        await other.starts_with("r1", pods={"py-0": 1}, seconds=0.5)
        other.binds("r1", "py-0")
        found = await other.sees()
        assert (found.kind, found.plugin, found.reason) == (
            DifferenceKind.PLACED_HELD_BACK,
            "Broken",
            "PluginError",
        )
        assert (found.detail, found.ours) == ("RuntimeError: no", "backoff")

    play(profiles_of(fake_plugin("Broken", filter=broken)), scene)


@dry_run_scene()
async def test_it_placed_a_run_in_its_retry_delay(site: Site, other: Beside) -> None:
    stopped = {"type": "Running", "status": "False", "lastTransitionTime": time_text(NOW)}
    await other.starts_with(
        "r1", pods={"py-0": 1}, seconds=0.5, status={"attempt": 3, "conditions": [stopped]}
    )
    other.binds("r1", "py-0")
    found = await other.sees()
    assert (found.kind, found.reason) == (DifferenceKind.PLACED_HELD_BACK, "RetryDelay")


@dry_run_scene()
async def test_it_left_waiting_what_would_be_placed_here(site: Site, other: Beside) -> None:
    await other.starts_with("r1", pods={"py-0": 1})
    other.lets_wait("r1", "waiting for a\nmiracle")
    await site.passes(PATIENCE_SECONDS - 3)
    assert other.counts() == (0, 0, {})
    await site.passes(3)
    found = await other.sees()
    assert (found.kind, found.ours, found.theirs) == (DifferenceKind.LEFT_WAITING, "py-0", "pending")
    assert found.detail == "waiting for a\nmiracle"
    assert r"waiting for a\nmiracle" in site.log


@dry_run_scene()
async def test_what_it_left_waiting_keeps_nobody_out(site: Site, other: Beside) -> None:
    await other.starts_with("r1", "r2", pods={"py-0": 1}, seconds=PATIENCE_SECONDS + 2)
    assert [one.run.name for one in other.differences] == ["r1"]
    # Its room is free again: the next one would get it.
    other.binds("r2", "py-0")
    await site.passes(1)
    assert other.counts() == (1, 1, {})


def test_what_it_left_waiting_is_told_once_and_is_no_hot_loop(profiles: Profiles) -> None:
    longest_backoff = 60

    async def scene(site: Site, other: Beside) -> None:
        await other.starts_with("r1", pods={"py-0": 1}, seconds=PATIENCE_SECONDS + 2)
        before = cycles(site)
        await site.passes(900)
        assert cycles(site) - before == 900 // (PATIENCE_SECONDS + longest_backoff)
        assert len(other.differences) == 1

    play(profiles, scene)


@dry_run_scene()
async def test_what_it_places_later_after_all_is_not_compared(site: Site, other: Beside) -> None:
    await other.starts_with("r1", pods={"py-0": 1}, seconds=PATIENCE_SECONDS + 2)
    other.binds("r1", "py-0")
    await site.passes(1)
    assert other.counts() == (0, 1, {"late": 1})
    # The next attempt is a new question.
    site.change("r1", status={"phase": "Pending", "assignedPod": None, "assignedPodUID": None})
    await site.passes(1)
    other.binds("r1", "py-0")
    await site.passes(1)
    assert other.counts() == (1, 1, {"late": 1})


@dry_run_scene()
async def test_a_hint_that_it_may_be_left_for_an_earlier_difference(site: Site, other: Beside) -> None:
    await other.starts_with("r1", "r2", pods={"py-0": 1, "py-1": 1})
    other.binds("r1", "py-1")
    await site.passes(PATIENCE_SECONDS + 2)
    assert (await other.sees(only="r2")).hints == (Hint.FOLLOWS,)


@dry_run_scene()
async def test_a_run_that_changes_meanwhile_is_decided_anew(site: Site, other: Beside) -> None:
    await other.starts_with("r1", pods={"py-0": 1}, seconds=PATIENCE_SECONDS / 2)
    site.change("r1", metadata={"labels": {"app": "b"}})
    await site.passes(PATIENCE_SECONDS - 3)
    assert other.counts() == (0, 0, {"changed": 1})
    other.binds("r1", "py-0")
    await site.passes(1)
    assert other.counts() == (1, 0, {"changed": 1})


@dry_run_scene()
async def test_a_run_that_is_deleted_meanwhile(site: Site, other: Beside) -> None:
    await other.starts_with("r1", pods={"py-0": 1})
    site.delete("r1")
    site.run("r2")
    await site.passes(1)
    assert other.counts() == (0, 0, {"gone": 1})
    other.binds("r2", "py-0")
    await site.passes(1)
    assert other.counts() == (1, 0, {"gone": 1})


@dry_run_scene()
async def test_a_run_that_is_replaced_meanwhile(site: Site, other: Beside) -> None:
    await other.starts_with("r1", pods={"py-0": 1}, uid="old")
    site.run("r1", uid="new")
    await site.passes(1)
    other.binds("r1", "py-0")
    await site.passes(1)
    assert other.counts() == (1, 0, {"gone": 1})


@dry_run_scene()
async def test_what_was_held_at_a_stop(site: Site, other: Beside) -> None:
    await other.starts_with("r1", pods={"py-0": 1})
    await site.end_host()
    assert other.counts() == (0, 0, {"stopped": 1})
    assert other.comparer.held == 0
