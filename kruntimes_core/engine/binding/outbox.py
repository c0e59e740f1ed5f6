"""What waits to be sent: at most one write for a Run, the urgent ones first."""

from __future__ import annotations

from collections import deque

from kruntimes_core.engine.binding.requests import Pending, PendingText, WriteKind
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
        self._held: deque[tuple[int, RunEntry]] = deque()
        """Runs whose texts are held back, and until when."""

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
        if isinstance(former, PendingText) and not former.held_until:
            self.put(entry, PendingText(text))
        elif isinstance(former, PendingText):
            entry.pending = PendingText(text, former.held_until)
        else:
            entry.pending = PendingText(text, until)
            self._held.append((until, entry))

    def release(self, now: int) -> None:
        """Let the texts have their turn whose time has come. now: in ticks."""
        while self._held and self._held[0][0] <= now:
            until, entry = self._held.popleft()
            if _is_held(entry, until) and isinstance(entry.pending, PendingText):
                self.put(entry, PendingText(entry.pending.message))

    @property
    def next_release(self) -> int | None:
        """When `release` is due, in ticks."""
        while self._held and not _is_held(self._held[0][1], self._held[0][0]):
            self._held.popleft()
        return self._held[0][0] if self._held else None

    def sent(self, entry: RunEntry) -> None:
        """The write under way was answered: the next one of this Run may go."""
        entry.sent = None
        pending = entry.pending
        if pending is not None and not (isinstance(pending, PendingText) and pending.held_until):
            self.put(entry, pending)

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


def _is_held(entry: RunEntry, until: int) -> bool:
    """Whether a Run's text is still to be sent, at that time and not at a later one."""
    return isinstance(entry.pending, PendingText) and entry.pending.held_until == until
