"""The Events that stand: what is said again becomes a series of the same Event, as in client-go."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from kruntimes_core.cluster.announcing.announcement import Announcement
from kruntimes_core.engine.clock import SECOND

_KEPT = 3_600 * SECOND
"""For as long as an API server keeps an Event that nobody touches, unless told otherwise."""
_MOST = 20_000


@dataclass(slots=True)
class Known:
    """An Event of ours."""

    name: str
    count: int = 0
    """How often it was observed; 0 until it was created for certain."""
    at: int = 0
    """When it was written last, in ticks."""


class KnownEvents:
    """The latest of them by what they say; those that were written longest ago are forgotten first."""

    def __init__(self, most: int = _MOST) -> None:
        self._events: OrderedDict[Announcement, Known] = OrderedDict()
        self._most = most
        self._number = 0

    def __len__(self) -> int:
        return len(self._events)

    def of(self, announcement: Announcement, now: int, wall_number: int) -> Known:
        """The Event that says so, with a name for it if there is none yet.

        now: in ticks. wall_number: grows with time, also over hosts and restarts.
        """
        known = self._events.get(announcement)
        if known is None or now - known.at >= _KEPT:
            self._number = max(self._number + 1, wall_number)
            known = Known(announcement.name(self._number), at=now)
            self._events[announcement] = known
        if len(self._events) > self._most:
            self._events.popitem(last=False)
        return known

    def written(self, announcement: Announcement, known: Known, now: int) -> None:
        """It was created, or counted on."""
        known.count += 1
        known.at = now
        self._events[announcement] = known
        self._events.move_to_end(announcement)

    def forget(self, announcement: Announcement) -> None:
        """It does not stand any more, or never did."""
        self._events.pop(announcement, None)
