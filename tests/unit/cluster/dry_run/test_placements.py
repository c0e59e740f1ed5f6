"""A Run that both schedulers place: the same, or not, and by which plugin."""

from __future__ import annotations

import pytest
from dryrun.site import TWO_PODS, Beside, play
from memoryapi.site import Site

from kruntimes_core.cluster.dry_run.report import DifferenceKind, Hint
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.framework.hookspecs import Reject
from kruntimes_core.model.pod import RuntimePod
from kruntimes_core.testing.plugins import fake_plugin, profiles_of
from tests.unit.cluster.played import dry_run_scene


@dry_run_scene()
async def test_the_same_pod(site: Site, other: Beside) -> None:
    await other.starts_with("r1", pods=TWO_PODS)
    assert other.comparer.held == 1
    other.binds("r1", "py-0")
    await site.passes(1)
    assert other.counts() == (1, 0, {})
    assert other.comparer.held == 0


@dry_run_scene()
async def test_a_pod_of_the_same_name_that_is_another(site: Site, other: Beside) -> None:
    site.pod("py-0", uid="old")
    await other.starts_with("r1")
    # It sees the Pod that took its place, and the dry run's watch of Pods is behind.
    site.api.lag_seconds["pods"] = 5
    site.pod("py-0", uid="new")
    other.binds("r1", "py-0")
    found = await other.sees()
    assert (found.kind, found.ours, found.theirs) == (DifferenceKind.POD_UNKNOWN, "py-0", "py-0")


@dry_run_scene()
async def test_a_pod_with_a_lower_total(site: Site, other: Beside) -> None:
    await other.starts_with(pods=TWO_PODS, placed={"before": "py-0"})
    site.run("r1")
    await site.passes(1)
    other.binds("r1", "py-0")
    found = await other.sees()
    assert (found.kind, found.plugin) == (DifferenceKind.POD_SCORED_LOWER, "LeastLoaded")
    assert (found.ours, found.theirs) == ("py-1", "py-0")
    scores = {pair.plugin: (pair.ours.normalized, pair.theirs.normalized) for pair in found.scores}
    assert scores == {"PreferredRunAffinity": (0, 0), "LeastLoaded": (100, 0)}
    assert found.hints == ()
    assert "raw highest load 0.2500, sum 0.2500 to highest load 0.5000, sum 0.5000" in site.log


def test_the_scorer_that_tells_most_is_to_blame() -> None:
    names = {"py-0": 10, "py-1": 0}
    profiles = profiles_of(
        fake_plugin("Little", score=lambda pod: names[pod.name]),
        fake_plugin("Much", score=lambda pod: names[pod.name] // 2, weight=3),
        fake_plugin("Against", score=lambda pod: 10 - names[pod.name]),
    )

    async def scene(site: Site, other: Beside) -> None:
        await other.starts_with("r1", pods=TWO_PODS)
        other.binds("r1", "py-1")
        found = await other.sees()
        assert (found.kind, found.plugin, found.theirs) == (DifferenceKind.POD_SCORED_LOWER, "Much", "py-1")
        assert [pair.lead for pair in found.scores] == [10, 15, -10]

    play(profiles, scene)


@dry_run_scene()
async def test_equal_totals_are_told_apart_by_name(site: Site, other: Beside) -> None:
    await other.starts_with("r1", pods=TWO_PODS)
    other.binds("r1", "py-1")
    found = await other.sees()
    assert (found.kind, found.plugin, found.ours, found.theirs) == (
        DifferenceKind.POD_TIED,
        "",
        "py-0",
        "py-1",
    )


@dry_run_scene()
async def test_a_pod_that_a_plugin_rejects(site: Site, other: Beside) -> None:
    await other.starts_with("r1", pods={"py-0": 1, "py-1": 1}, placed={"full": "py-1"})
    other.binds("r1", "py-1")
    found = await other.sees()
    assert (found.kind, found.plugin) == (DifferenceKind.POD_REJECTED, "RuntimePodAvailability")
    assert (found.reason, found.detail) == ("InsufficientCapacity", "runs: 1 in use + 1 requested > 1")
    assert found.clear


def test_a_pod_that_a_reservation_was_refused_on() -> None:
    refusing = fake_plugin(
        "Quota",
        reasons=["Spent"],
        stateful=True,
        reserve=lambda pod: Reject("Spent", "none left") if pod.name == "py-0" else None,
    )

    async def scene(site: Site, other: Beside) -> None:
        await other.starts_with("r1", pods=TWO_PODS)
        other.binds("r1", "py-0")
        found = await other.sees()
        assert (found.kind, found.plugin, found.reason) == (DifferenceKind.POD_REJECTED, "Quota", "Spent")
        assert (found.detail, found.ours) == ("none left", "py-1")

    play(profiles_of(refusing), scene)


@dry_run_scene()
async def test_a_pod_that_was_not_known_yet(site: Site, other: Beside) -> None:
    await other.starts_with("r1", pods={"py-0": 1})
    site.pod("py-1", runs=9)
    other.binds("r1", "py-1")
    found = await other.sees()
    assert (found.kind, found.theirs) == (DifferenceKind.POD_UNKNOWN, "py-1")


@dry_run_scene()
async def test_a_choice_that_would_be_made_here_too_by_now_is_hinted_at(site: Site, other: Beside) -> None:
    await other.starts_with("r1", pods={"py-0": 1})
    site.pod("py-1", runs=9)
    await site.passes(1)
    other.binds("r1", "py-1")
    found = await other.sees()
    assert (found.kind, found.hints) == (DifferenceKind.POD_UNKNOWN, (Hint.TIMING,))
    assert other.report.clear.total() == 0


@dry_run_scene()
async def test_what_follows_from_an_earlier_difference_is_hinted_at(site: Site, other: Beside) -> None:
    await other.starts_with("r1", "r2", pods=TWO_PODS)
    other.binds("r1", "py-1")
    await site.passes(1)
    other.binds("r2", "py-0")
    await site.passes(1)
    first, second = other.differences
    assert (first.kind, first.hints) == (DifferenceKind.POD_TIED, ())
    assert second.hints == (Hint.FOLLOWS, Hint.TIMING)
    # What is decided after both are known follows from neither.
    site.run("r3")
    await site.passes(1)
    other.binds("r3", "py-1")
    assert (await other.sees(only="r3")).hints == ()


@dry_run_scene()
async def test_room_that_came_free_and_is_reserved_here_for_another_is_hinted_at(
    site: Site, other: Beside
) -> None:
    full = {"before-0": "py-0", "before-1": "py-1"}
    await other.starts_with("r1", "r2", pods={"py-0": 1, "py-1": 1}, placed=full)
    site.end("before-0")
    await site.passes(1)
    site.end("before-1")
    await site.passes(1)
    # It decided on both when both Pods were free.
    other.binds("r1", "py-1")
    found = await other.sees()
    assert (found.kind, found.reason) == (DifferenceKind.POD_REJECTED, "InsufficientCapacity")
    assert found.hints == (Hint.FOLLOWS,)


@dry_run_scene()
async def test_what_is_held_counts_for_later_decisions(site: Site, other: Beside) -> None:
    await other.starts_with("r1", "r2", "r3", pods={"py-0": 1, "py-1": 1})
    assert other.comparer.held == 2
    other.binds("r1", "py-0")
    other.binds("r2", "py-1")
    await site.passes(1)
    assert other.counts() == (2, 0, {})


class Moody:
    """Answers until it is told not to."""

    def __init__(self) -> None:
        self.calm = True

    def score(self, pod: RuntimePod) -> int:
        if not self.calm:
            raise RuntimeError("no more")
        return 1

    def filter(self, pod: RuntimePod) -> None:
        self.score(pod)


@pytest.mark.parametrize("hook", ["score", "filter"])
def test_a_plugin_that_fails_when_it_is_asked_again(hook: str) -> None:
    moody = Moody()
    plugin = fake_plugin("Moody", score=moody.score)
    if hook == "filter":
        plugin = fake_plugin("Moody", filter=moody.filter)

    async def scene(site: Site, other: Beside) -> None:
        await other.starts_with("r1", pods=TWO_PODS)
        moody.calm = False
        other.binds("r1", "py-1")
        found = await other.sees()
        assert (found.kind, found.plugin) == (DifferenceKind.UNEXPLAINED, "Moody")
        assert found.detail == "RuntimeError: no more"

    play(profiles_of(plugin), scene)


def test_a_plugin_that_changes_its_mind_explains_nothing() -> None:
    liked = ["py-0"]

    async def scene(site: Site, other: Beside) -> None:
        await other.starts_with("r1", pods=TWO_PODS)
        liked[0] = "py-1"
        other.binds("r1", "py-1")
        found = await other.sees()
        assert (found.kind, found.plugin, found.hints) == (DifferenceKind.UNEXPLAINED, "", (Hint.TIMING,))

    play(profiles_of(fake_plugin("Moody", score=lambda pod: int(pod.name == liked[0]))), scene)


def test_more_differences_than_can_be_explained_are_counted_all_the_same(
    profiles: Profiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kruntimes_core.cluster.dry_run.evaluation._LONGEST", 0)

    async def scene(site: Site, other: Beside) -> None:
        await other.starts_with("r1", pods=TWO_PODS)
        other.binds("r1", "py-1")
        found = await other.sees()
        assert (found.kind, found.detail) == (DifferenceKind.UNEXPLAINED, "too many differences at a time")

    play(profiles, scene)


@dry_run_scene()
async def test_a_run_that_was_placed_before_it_was_decided(site: Site, other: Beside) -> None:
    await other.starts_with(pods=TWO_PODS)
    site.run("r1")
    other.binds("r1", "py-1")
    await site.passes(1)
    assert other.counts() == (0, 0, {"before": 1})
    # Placed when it is first seen, it was never to be decided.
    site.run("r2", pod="py-0")
    await site.passes(1)
    assert other.counts() == (0, 0, {"before": 1})
