"""All that a dry run has in place of what would write: held decisions, comparing, and a report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kruntimes_core.cluster.api_dispatcher.dry_run import WriteHolder
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.comparing.asking import Asking
from kruntimes_core.cluster.comparing.comparer import Comparer
from kruntimes_core.cluster.comparing.holds import Holds
from kruntimes_core.cluster.comparing.leftovers import PATIENCE_SECONDS, Leftovers
from kruntimes_core.cluster.comparing.placements import Placements
from kruntimes_core.cluster.comparing.report import Report
from kruntimes_core.cluster.plugin_worker.protocol import PluginWorker
from kruntimes_core.engine import events
from kruntimes_core.engine.engine import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRun:
    """How a host runs dry."""

    patience_seconds: float = PATIENCE_SECONDS
    """For how long a decision is held before it counts as not followed."""


class Comparison:
    """Compares, as long as it hears of every event, before and after the engine, and may `go_on`."""

    def __init__(
        self,
        asked: DryRun,
        *,
        engine: Engine,
        clock: Clock,
        planner: PluginWorker,
        stir: Callable[[], None],
    ) -> None:
        """stir: called when there may be something to do."""
        self.report = Report(clock.now().wall)
        self._holds = Holds(engine, clock)
        self._asking = Asking(planner, stir)
        self._leftovers = Leftovers(
            engine=engine,
            clock=clock,
            holds=self._holds,
            report=self.report,
            patience_seconds=asked.patience_seconds,
        )
        self._comparer = Comparer(
            engine=engine,
            clock=clock,
            holds=self._holds,
            leftovers=self._leftovers,
            placements=Placements(self.report, self._asking, engine),
            report=self.report,
        )

    @property
    def holder(self) -> WriteHolder:
        """Who holds what a dry run's writer gets."""
        return self._leftovers

    @property
    def held(self) -> int:
        """How many decisions are not compared yet."""
        return len(self._holds)

    def before(self, event: events.Event) -> None:
        """The engine is about to take an event in."""
        self._comparer.before(event)

    def after(self, event: events.Event) -> None:
        """The engine has taken an event in."""
        self._comparer.after(event)

    def go_on(self) -> bool:
        """Do one thing that is due; False if nothing is."""
        return self._leftovers.go_on() or self._asking.go_on()
