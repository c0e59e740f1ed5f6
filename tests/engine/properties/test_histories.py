"""The histories are eventful: a property that holds because nothing happens says nothing."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings

from kruntimes_core.engine.plugin_work import BatchRetryWork
from kruntimes_core.framework.configuration import Profiles
from tests.engine.properties.disturbed import Disturbed, disturbances
from tests.engine.properties.steps import Step, histories

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
