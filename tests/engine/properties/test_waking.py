"""Nobody is forgotten: waking by classes places what trying everybody each time would."""

from __future__ import annotations

from hypothesis import given, settings

from kruntimes_core.engine.counters import WakeupSource
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.testing.harness import Host
from tests.engine.properties.history import History, placements
from tests.engine.properties.steps import Step, histories


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
