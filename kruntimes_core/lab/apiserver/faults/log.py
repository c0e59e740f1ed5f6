"""What was asked of the server: one entry for each request that it has answered, or dropped."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kruntimes_core.lab.apiserver.requests import RequestInfo

LIMIT = 100_000
"""Entries kept; the oldest go first."""


@dataclass(frozen=True, slots=True)
class Logged:
    """One request. code: the HTTP status, 0 when the connection was dropped instead.

    call: None for discovery and the like. body_bytes: the size of what the client sent.
    """

    method: str
    path: str
    query: Mapping[str, str]
    call: RequestInfo | None
    code: int
    body_bytes: int
    content_type: str
    body: bytes | None


class RequestLog:
    """The entries in order. `keep_bodies` keeps what clients sent, for tests that look into it."""

    def __init__(self, *, keep_bodies: bool = False, limit: int = LIMIT) -> None:
        self.keep_bodies = keep_bodies
        self._entries: deque[Logged] = deque(maxlen=limit)

    def add(self, entry: Logged) -> None:
        """Take one entry."""
        self._entries.append(entry)

    def clear(self) -> None:
        """Forget all entries."""
        self._entries.clear()

    def __iter__(self) -> Iterator[Logged]:
        return iter(tuple(self._entries))

    def __len__(self) -> int:
        return len(self._entries)

    def calls(self, verb: str | None = None, plural: str | None = None) -> list[Logged]:
        """The entries of requests for a resource, optionally only of a verb or a plural."""
        return [
            entry
            for entry in self._entries
            if entry.call is not None
            and verb in (None, entry.call.verb)
            and plural in (None, entry.call.resource.plural)
        ]
