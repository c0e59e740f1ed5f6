"""The engine's few numbers, all from the configuration."""

from __future__ import annotations

from dataclasses import dataclass

from kruntimes_core.engine.clock import SECOND, ticks
from kruntimes_core.framework.configuration import Configuration

_TEXT_DELAY = SECOND
"""No user reads faster, and a Run that waits for less needs no explanation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Durations in ticks of the monotonic clock."""

    heartbeat_staleness: int = 15 * SECOND
    """A heartbeat of exactly this age is still fresh."""
    backoff_initial: int = SECOND
    backoff_max: int = 60 * SECOND
    sweep_interval: int = 30 * SECOND
    text_delay: int = 0
    """How long a waiting text is held back: a Run that is placed meanwhile never gets one, and the API
    server is spared a write where it has most to do."""

    @classmethod
    def of(cls, configuration: Configuration) -> Settings:
        """The settings that a configuration asks for."""
        return cls(
            heartbeat_staleness=ticks(configuration.heartbeat_staleness_seconds),
            backoff_initial=ticks(configuration.backoff.initial_seconds),
            backoff_max=ticks(configuration.backoff.max_seconds),
            sweep_interval=ticks(configuration.sweep_interval_seconds),
            text_delay=_TEXT_DELAY,
        )

    def backoff(self, failures: int) -> int:
        """How long a Run waits after its `failures`-th failure in a row (1-based), doubling."""
        doublings = min(max(failures, 1) - 1, 30)
        return min(self.backoff_initial << doublings, self.backoff_max)
