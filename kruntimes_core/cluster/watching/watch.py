"""One watch: from a version until the server ends it, the connection breaks, or too long was silence."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from kruntimes_core.cluster.client.errors import refused, status_object, status_of, unavailable
from kruntimes_core.cluster.client.transport import (
    Call,
    StreamRefusedError,
    Transport,
    TransportError,
)
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.watching.feed import Feed
from kruntimes_core.cluster.watching.lines import Lines

STREAM_SECONDS = 40
"""How long the server is asked to keep a watch open. It says goodbye with a bookmark before."""

OVERDUE_SECONDS = 10
"""How much longer it may last: then the connection is taken for half-open. So the worst is found
within 50 s of going silent, whether or not anything happens in the cluster."""


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One event. `type` is as the server wrote it."""

    type: str
    object: dict[str, Any]

    @property
    def version(self) -> str:
        """The resourceVersion that the event stands for; empty if it has none."""
        metadata = self.object.get("metadata")
        version = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
        return version if isinstance(version, str) else ""


class Watch:
    """Opens watches on one feed."""

    def __init__(self, transport: Transport, feed: Feed, clock: Clock) -> None:
        self._transport = transport
        self._feed = feed
        self._clock = clock

    async def events(self, version: str) -> AsyncGenerator[list[WatchEvent], None]:
        """What happened after `version`, as it comes; the first, empty list says that it is open.

        A clean end, and one by the time limit, ends it. Raises `ApiFailure` for everything else, an
        ERROR event in the stream included.
        """
        lines = Lines()
        async with aclosing(self._transport.stream(self._call(version))) as chunks:
            try:
                async for chunk in chunks:
                    yield [self._event(line) for line in lines.feed(chunk)]
            except StreamRefusedError as error:
                raise refused(
                    status_of(error.response, self._clock.now().wall), "watch", self._feed.title
                ) from error
            except TransportError as error:
                raise unavailable("watch", self._feed.title, error) from error

    def _event(self, line: bytes) -> WatchEvent:
        try:
            event = from_json(line)
            kind, obj = event["type"], event["object"]
        except (ValueError, TypeError, KeyError) as error:
            raise unavailable("watch", self._feed.title, "an event cannot be read") from error
        if kind == "ERROR" and isinstance(obj, dict):
            raise refused(status_object(obj), "watch", self._feed.title)
        if not isinstance(kind, str) or not isinstance(obj, dict):
            raise unavailable("watch", self._feed.title, "an event cannot be read")
        return WatchEvent(kind, obj)

    def _call(self, version: str) -> Call:
        return Call(
            method="GET",
            path=self._feed.resource.path(self._feed.namespace),
            query=(
                *self._feed.resource.selector,
                ("watch", "1"),
                ("allowWatchBookmarks", "true"),
                ("resourceVersion", version),
                ("timeoutSeconds", str(STREAM_SECONDS)),
            ),
            timeout_seconds=STREAM_SECONDS + OVERDUE_SECONDS,
        )
