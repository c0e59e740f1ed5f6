"""What the watches tell goes to the engine first, and then to every other part that wants to hear it."""

from __future__ import annotations

from collections.abc import Callable

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.engine import events
from kruntimes_core.engine.engine import Engine
from kruntimes_core.model.run import RunObservation


class Watched:
    """Passes on what the reflectors tell. Who listens is said while a host is built."""

    def __init__(self, engine: Engine, clock: Clock, stir: Callable[[], None]) -> None:
        """stir: called when there may be something to do."""
        self.foretold: list[Callable[[events.Event], None]] = []
        """Told of each event, before the engine takes it in."""
        self.listeners: list[Callable[[events.Event], None]] = []
        """Told of each event, after the engine has taken it in."""
        self.on_change: list[Callable[[], None]] = []
        """Called whenever it changed what is followed, or why it is not."""
        self._engine = engine
        self._clock = clock
        self._stir = stir

    def tell(self, event: events.Event) -> None:
        """Something was observed."""
        for hear in self.foretold:
            hear(event)
        self._engine.handle(event, self._clock.now())
        for hear in self.listeners:
            hear(event)
        self._stir()

    def known(self, namespace: str, name: str) -> RunObservation | None:
        """What was last seen of the Run that bears the name."""
        entry = self._engine.find(namespace, name)
        return entry.observation if entry is not None else None

    def changed(self) -> None:
        """What is followed changed."""
        for look in self.on_change:
            look()
