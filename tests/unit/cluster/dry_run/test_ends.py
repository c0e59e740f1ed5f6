"""Runs that are failed or cancelled by one of the two schedulers, or by both."""

from __future__ import annotations

from typing import Any

import pytest
from dryrun.site import PATIENCE_SECONDS, Beside, play
from memoryapi.site import Site

from kruntimes_core.cluster.dry_run.report import DifferenceKind
from kruntimes_core.framework.hookspecs import InvalidRun
from kruntimes_core.model.run import Run
from kruntimes_core.testing.plugins import fake_plugin, profiles_of
from tests.unit.cluster.played import dry_run_scene


@pytest.mark.parametrize(
    ("fields", "phase"),
    [({"requests": {"runs": "-1"}}, "Failed"), ({"spec": {"cancelRequested": True}}, "Cancelled")],
)
@dry_run_scene()
async def test_both_end_it(site: Site, other: Beside, fields: dict[str, Any], phase: str) -> None:
    await other.starts_with("r1", **fields)
    assert other.comparer.held == 1
    other.ends("r1", phase)
    await site.passes(1)
    assert other.counts() == (1, 0, {})
    assert other.comparer.held == 0


@dry_run_scene()
async def test_it_fails_what_would_be_placed_here(site: Site, other: Beside) -> None:
    await other.starts_with("r1", "r2", pods={"py-0": 1})
    other.ends("r1", "Failed", "too\tlarge")
    found = await other.sees()
    assert (found.kind, found.ours, found.theirs) == (DifferenceKind.ENDED, "py-0", "failed")
    assert found.detail == "too\tlarge"
    # What was reserved for it is free.
    other.binds("r2", "py-0")
    await site.passes(1)
    assert other.counts() == (1, 1, {})


@dry_run_scene()
async def test_it_fails_what_waits_here(site: Site, other: Beside) -> None:
    await other.starts_with("r1")
    other.ends("r1", "Failed")
    found = await other.sees()
    assert (found.kind, found.ours, found.theirs) == (DifferenceKind.ENDED, "waiting", "failed")


@dry_run_scene()
async def test_it_cancels_what_is_invalid_here(site: Site, other: Beside) -> None:
    await other.starts_with("r1", requests={"runs": "-1"})
    other.ends("r1", "Cancelled")
    found = await other.sees()
    assert (found.kind, found.ours, found.theirs) == (
        DifferenceKind.ENDED_OTHERWISE,
        "failed",
        "cancelled",
    )


@dry_run_scene()
async def test_it_cancels_what_was_to_be_placed_until_somebody_asked_for_that(
    site: Site, other: Beside
) -> None:
    await other.starts_with("r1", pods={"py-0": 1})
    site.change("r1", spec={"cancelRequested": True})
    await site.passes(1)
    other.ends("r1", "Cancelled")
    await site.passes(1)
    assert other.counts() == (1, 0, {"changed": 1})


@dry_run_scene()
async def test_it_cancels_faster_than_this_scheduler_hears_that_somebody_asked_for_it(
    site: Site, other: Beside
) -> None:
    await other.starts_with("r1")
    site.change("r1", spec={"cancelRequested": True}, status={"phase": "Cancelled"})
    await site.passes(1)
    assert other.counts() == (0, 0, {"changed": 1})


@dry_run_scene()
async def test_it_cancels_before_this_scheduler_has_decided_to(site: Site, other: Beside) -> None:
    await other.starts_with("r1")
    site.change("r1", spec={"cancelRequested": True})
    other.ends("r1", "Cancelled")
    await site.passes(1)
    assert other.counts() == (0, 0, {"before": 1})


@dry_run_scene()
async def test_it_places_what_is_invalid_here(site: Site, other: Beside) -> None:
    await other.starts_with("r1", pods={"py-0": 1}, requests={"cpu": "500m"})
    other.binds("r1", "py-0")
    found = await other.sees()
    assert (found.kind, found.plugin, found.reason) == (
        DifferenceKind.PLACED_ENDED,
        "",
        "InvalidResources",
    )
    assert (found.ours, found.theirs) == ("failed", "py-0")


def test_it_places_what_a_plugin_says_is_invalid() -> None:
    def prefilter(run: Run) -> None:
        raise InvalidRun("TooOdd", "make it even")

    async def scene(site: Site, other: Beside) -> None:
        await other.starts_with("r1", pods={"py-0": 1})
        other.binds("r1", "py-0")
        found = await other.sees()
        assert (found.kind, found.plugin, found.reason) == (DifferenceKind.PLACED_ENDED, "Parity", "TooOdd")
        assert found.detail == "make it even"

    play(profiles_of(fake_plugin("Parity", prefilter=prefilter)), scene)


@dry_run_scene()
async def test_it_places_what_should_be_cancelled(site: Site, other: Beside) -> None:
    await other.starts_with("r1", pods={"py-0": 1}, spec={"cancelRequested": True})
    other.binds("r1", "py-0")
    found = await other.sees()
    assert (found.kind, found.reason, found.ours) == (
        DifferenceKind.PLACED_ENDED,
        "Cancelled",
        "cancelled",
    )


@dry_run_scene()
async def test_it_leaves_what_should_be_ended(site: Site, other: Beside) -> None:
    await other.starts_with("r1", seconds=PATIENCE_SECONDS + 2, requests={"runs": "-1"})
    found = await other.sees()
    assert (found.kind, found.ours, found.theirs) == (DifferenceKind.LEFT_UNENDED, "failed", "pending")
    await site.passes(600)
    assert other.counts() == (0, 1, {})
    other.ends("r1", "Failed")
    await site.passes(1)
    assert other.counts() == (0, 1, {"late": 1})


@dry_run_scene()
async def test_a_run_that_is_seen_only_when_it_is_over_is_not_compared(site: Site, other: Beside) -> None:
    await other.starts_with("r1", pods={"py-0": 1})
    other.ends("r1", "Succeeded")
    await site.passes(1)
    assert other.counts() == (0, 0, {"gap": 1})
