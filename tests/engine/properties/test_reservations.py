"""A plugin gets back each reservation that it was asked to keep, once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given, settings

from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.testing.plugins import fake_plugin
from tests.engine.properties.disturbed import Disturbed, disturbances
from tests.engine.properties.steps import Step, histories


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
