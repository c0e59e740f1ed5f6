"""What an operator decides about Events, and the one thing that they need of the world."""

from __future__ import annotations

from dataclasses import dataclass

from kruntimes_core.cluster.client.transport import Transport
from kruntimes_core.engine.clock import SECOND, ticks
from kruntimes_core.framework.configuration import Configuration


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSettings:
    """Durations in ticks of the monotonic clock."""

    after: int = 60 * SECOND
    """For how long something must last."""
    repeat: int = 1_800 * SECOND
    """After how long it is said again, if it still lasts."""
    per_second: float = 5.0
    """Events at most; 0 for none at all."""
    placements: bool = False
    """Whether each bind makes an Event."""

    @classmethod
    def of(cls, configuration: Configuration) -> EventSettings:
        """The settings that a configuration asks for."""
        events = configuration.events
        return cls(
            after=ticks(events.after_seconds),
            repeat=ticks(events.repeat_seconds),
            per_second=events.per_second,
            placements=events.placements,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSink:
    """Where a host's Events go."""

    transport: Transport
    """For Events alone, so that no bind waits behind one."""
    instance: str
    """Who reports them: the identity of an election, where there is one."""
    settings: EventSettings = EventSettings()


def events_to(transport: Transport, instance: str, settings: EventSettings) -> EventSink | None:
    """Where Events go; None where an operator wants none."""
    if not settings.per_second:
        return None
    return EventSink(transport=transport, instance=instance, settings=settings)
