"""What waits to be sent: at most one write for a Run, the urgent ones first."""

from __future__ import annotations

from collections import deque

from kruntimes_core.engine.binding.requests import HeldText, Pending, PendingText, WriteKind
from kruntimes_core.engine.runs import RunEntry


class Outbox:
    """Writes and reads that wait for a place among those in flight.

    A Run has one pending write; a new one replaces it, as a bind replaces a text not yet sent. While
    a write is under way the next one stands back, and gets the version of its answer.
    """

    def __init__(self) -> None:
        self._reads: deque[RunEntry] = deque()
        self._writes: dict[WriteKind, deque[tuple[RunEntry, Pending]]] = {
            kind: deque() for kind in (WriteKind.BIND, WriteKind.TERMINAL, WriteKind.WITHDRAW, WriteKind.TEXT)
        }
        self._held: deque[tuple[RunEntry, HeldText]] = deque()
        """By time: each is held for as long as the others."""

    def put(self, entry: RunEntry, pending: Pending) -> None:
        """Let a write wait for its turn, in the place of any other of this Run."""
        entry.pending = pending
        if entry.sent is None:
            self._writes[pending.kind].append((entry, pending))

    def hold(self, entry: RunEntry, text: str, until: int) -> None:
        """Let a text wait for its time (in ticks), and then for its turn; until then it may be replaced.

        One that replaces a held one gets its time: a text that keeps changing is said at last.
        """
        former = entry.pending
        if isinstance(former, HeldText):
            former.message = text
        elif isinstance(former, PendingText):
            self.put(entry, PendingText(text))
        else:
            entry.pending = held = HeldText(text, until)
            self._held.append((entry, held))

    def release(self, now: int) -> None:
        """Let the texts have their turn whose time has come. now: in ticks."""
        while self._held and self._held[0][1].until <= now:
            entry, held = self._held.popleft()
            if entry.pending is held:
                self.put(entry, PendingText(held.message))

    @property
    def next_release(self) -> int | None:
        """When `release` is due, in ticks."""
        while self._held:
            entry, held = self._held[0]
            if entry.pending is held:
                return held.until
            self._held.popleft()
        return None

    def sent(self, entry: RunEntry) -> None:
        """The write under way was answered: the next one of this Run may go, if its time has come."""
        entry.sent = None
        if entry.pending is not None and not isinstance(entry.pending, HeldText):
            self.put(entry, entry.pending)

    def read(self, entry: RunEntry) -> None:
        """Let a consistent read wait for its turn; one is enough, if it is still to begin."""
        if not entry.reading:
            entry.reading = True
            self._reads.append(entry)
        elif entry.read_sent:
            entry.read_again = True

    def next_read(self) -> RunEntry | None:
        """The Run that is to be read next."""
        if not self._reads:
            return None
        entry = self._reads.popleft()
        entry.read_sent = True
        return entry

    def was_read(self, entry: RunEntry) -> bool:
        """The read under way was answered. False if it began too early to tell what is asked now."""
        again, entry.read_again = entry.read_again, False
        entry.reading = entry.read_sent = False
        if again:
            self.read(entry)
        return not again

    def next_write(self) -> tuple[RunEntry, Pending] | None:
        """The most urgent write that still stands."""
        for waiting in self._writes.values():
            while waiting:
                entry, pending = waiting.popleft()
                if entry.pending is pending and entry.sent is None:
                    return entry, pending
        return None
