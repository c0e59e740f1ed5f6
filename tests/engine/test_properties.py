"""What holds in every history, whatever goes wrong in it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from histories.disturbed import Disturbed, disturbances
from histories.history import History, pictures, placements
from histories.steps import Step, histories
from hypothesis import given, settings

from kruntimes_core.engine.clock import SECOND
from kruntimes_core.engine.counters import WakeupSource
from kruntimes_core.engine.engine import Settings
from kruntimes_core.engine.plugin_work import BatchRetryWork
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.testing.harness import PODS, RUNS, WORKSPACES, Host
from kruntimes_core.testing.plugins import fake_plugin

# The histories are eventful: a property that holds because nothing happens says nothing.


HISTORIES = 60


class Noted(Disturbed):
    """A history that notes what work was taken, and what became of it."""

    def __init__(self, profiles: Profiles) -> None:
        super().__init__(profiles)
        self.noted: Counter[str] = Counter()

    def take(self) -> None:
        super().take()
        self.noted["offered"] += any(isinstance(work, BatchRetryWork) for work in self.under_way)

    def abandon(self, place: int) -> None:
        self.noted["abandoned"] += bool(self.under_way)
        super().abandon(place)

    def interrupt(self, place: int, plans: int) -> None:
        self.noted["interrupted"] += bool(self.under_way)
        super().interrupt(place, plans)


def test_they_place_runs_and_disturb_those_who_do(profiles: Profiles) -> None:
    noted: Counter[str] = Counter()

    @settings(max_examples=HISTORIES, derandomize=True, database=None)
    @given(histories(disturbances))
    def play(history: list[Step]) -> None:
        played = Noted(profiles)
        for step in history:
            played.play(step)
        played.calm()
        noted.update(played.noted)
        noted["bound"] += sum(played.host.server.invariants.binds.values())

    play()
    assert noted["bound"] >= 1.5 * HISTORIES
    assert min(noted[what] for what in ("offered", "abandoned", "interrupted")) >= 5


# What is known after many changes is what a host finds that lists it now.


@settings(max_examples=60)
@given(histories())
def test_the_state_kept_by_changes_equals_one_built_anew(profiles: Profiles, history: list[Step]) -> None:
    played = History(Host(profiles))
    for step in history:
        played.play(step)
        played.host.settle()
    host = played.host
    for pod in host.server.all(PODS):
        host.beat(pod["metadata"]["name"])
    host.settle()
    anew = Host(profiles, server=host.server, leading=False)
    anew.jump((host.now.wall - anew.now.wall).total_seconds())
    anew.relist(PODS, WORKSPACES, RUNS)
    for kept, built in zip(pictures(host), pictures(anew), strict=True):
        assert dict(kept.pods) == dict(built.pods)
        assert kept.targets == built.targets
        assert dict(kept.workspaces) == dict(built.workspaces)


# Answers that are kept decide as answers that are asked for each time.


@settings(max_examples=60)
@given(histories())
def test_decisions_with_reuse_equal_those_without(profiles: Profiles, history: list[Step]) -> None:
    reusing, asking = (History(Host(profiles, reuse=reuse)) for reuse in (True, False))
    for step in history:
        for one in (reusing, asking):
            one.play(step)
            one.host.settle()
        assert placements(reusing.host) == placements(asking.host)
        tallies = [one.host.engine.counters.filter_rejections for one in (reusing, asking)]
        assert tallies[0] == tallies[1]
    texts = [[write.body["status"] for write in one.host.server.accepted] for one in (reusing, asking)]
    assert texts[0] == texts[1]


# Nobody is forgotten: waking by classes places what trying everybody each time would.


class Exhaustive(Host):
    """Tries every waiting Run after each change, in order, and starts again after each placement."""

    def settle(self) -> None:
        super().settle()
        while True:
            binds = sum(self.server.invariants.binds.values())
            self.engine._queue.unschedulable.activate_all(WakeupSource.RELOAD)
            self._until_one_is_placed(binds)
            super().settle()
            if sum(self.server.invariants.binds.values()) == binds:
                return

    def _until_one_is_placed(self, binds: int) -> None:
        while sum(self.server.invariants.binds.values()) == binds and self.step():
            pass


@settings(max_examples=60)
@given(histories())
def test_waking_by_classes_places_what_trying_every_run_after_each_change_would(
    profiles: Profiles, history: list[Step]
) -> None:
    by_classes, by_trying = History(Host(profiles)), History(Exhaustive(profiles))
    for step in history:
        for one in (by_classes, by_trying):
            one.play(step)
            one.host.settle()
        assert placements(by_classes.host) == placements(by_trying.host)
    assert by_classes.host.engine.counters.rescues == 0


# A plugin gets back each reservation that it was asked to keep, once.


class Ledger:
    """A plugin that counts what it was asked to keep and to give back."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], int] = {}
        self.problems: list[str] = []

    def reserve(self, pod: Any, run: Any) -> None:
        self.kept[run.uid, pod.uid] = self.kept.get((run.uid, pod.uid), 0) + 1

    def unreserve(self, pod: Any, run: Any, bound: bool) -> None:
        self.kept[run.uid, pod.uid] = self.kept.get((run.uid, pod.uid), 0) - 1
        if self.kept[run.uid, pod.uid] < 0:
            self.problems.append(f"{run.name} was given back on {pod.name} without having been kept")


def with_ledger(profiles: Profiles) -> tuple[Profiles, Ledger]:
    ledger = Ledger()
    plugin: ActivePlugin = fake_plugin("Ledger", reserve=ledger.reserve, unreserve=ledger.unreserve)
    (profile,) = profiles.all
    return Profiles((replace(profile, plugins=(*profile.plugins, plugin)),)), ledger


@settings(max_examples=60)
@given(histories(disturbances))
def test_each_reserve_is_given_back_exactly_once(profiles: Profiles, history: list[Step]) -> None:
    with_it, ledger = with_ledger(profiles)
    played = Disturbed(with_it)
    for step in history:
        played.play(step)
    played.calm()
    assert ledger.problems == []
    assert set(ledger.kept.values()) <= {0}


# Whatever goes wrong, no Pod is oversold, no Run is bound twice, and none is lost.


def truth(host: Host) -> dict[str, dict[str, int]]:
    """Usage of each Pod UID by the server."""
    used: dict[str, dict[str, int]] = {}
    for obj in host.server.all(RUNS):
        run = host.server.decoder.run(obj)
        if run.active and run.assigned_pod_uid:
            place = used.setdefault(run.assigned_pod_uid, {})
            for resource, amount in run.held.items():
                place[resource] = place.get(resource, 0) + amount
    return used


def statuses(host: Host) -> dict[str, Any]:
    """The status of each Run by the server."""
    return {run["metadata"]["name"]: run["status"] for run in host.server.all(RUNS)}


def says_nothing(status: Any) -> bool:
    """Whether a Run is Pending and does not say what it waits for."""
    return status["phase"] == "Pending" and not status.get("message", "").startswith("waiting for")


@pytest.mark.parametrize("text_delay", [0, SECOND], ids=["texts at once", "texts held back"])
@settings(max_examples=120)
@given(histories(disturbances))
def test_no_history_oversells_a_pod_binds_twice_or_loses_a_run(
    profiles: Profiles, text_delay: int, history: list[Step]
) -> None:
    """The server checks each accepted bind; in the end every Run has what a fresh host would give it."""
    played = Disturbed(profiles, Settings(text_delay=text_delay))
    for step in history:
        played.play(step)
    played.calm()
    host = played.host
    known = {pod.uid: dict(pod.usage) for picture in pictures(host) for pod in picture.pods.values()}
    used = truth(host)
    assert known == {uid: used.get(uid, {}) for uid in known}
    before = placements(host)
    fresh = Host(profiles, server=host.server, leading=False)
    fresh.jump((host.now.wall - fresh.now.wall).total_seconds())
    fresh.relist(PODS, WORKSPACES, RUNS)
    fresh.engine.lead(fresh.now)
    fresh.settle()
    assert placements(host) == before
    assert [name for name, status in statuses(host).items() if says_nothing(status)] == []
    for name in list(before):
        host.delete(name)
    host.advance(100)
    sizes = host.engine.sizes
    assert {name: size for name, size in sizes.items() if name != "timers"} == dict.fromkeys(
        (name for name in sizes if name != "timers"), 0
    )
