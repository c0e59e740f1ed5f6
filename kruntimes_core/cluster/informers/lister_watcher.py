"""The lister-watcher of one resource: consistent lists, whole or not at all, and watches from a version."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import from_json

from kruntimes_core.cluster.client.errors import (
    ApiFailure,
    FailureKind,
    refused,
    status_object,
    status_of,
    unavailable,
)
from kruntimes_core.cluster.client.transport import (
    Call,
    Response,
    StreamRefusedError,
    Transport,
    TransportError,
)
from kruntimes_core.cluster.clock import Clock, TimeSlices
from kruntimes_core.cluster.informers.event_handler import ResourceEventHandler

STREAM_SECONDS = 40
"""How long the server shall keep a watch open. Before it closes one, it sends a bookmark."""
OVERDUE_SECONDS = 10
"""How much longer a watch may last, before the connection counts as half-open. So a silent connection is
found within 50 s, whether or not anything happens in the cluster."""

# Seconds for one page. A slower server counts as silent.
_PAGE_TIMEOUT_SECONDS = 60.0
# A page is in memory as bytes and as objects, so its bytes are bounded and not its number of objects: Runs
# with inline sources are two hundred times as large as those without.
_PAGE_BYTES = 8_000_000
_FIRST_PAGE, _SMALLEST_PAGE, _LARGEST_PAGE = 100, 20, 1_000
_BREAKS_BEFORE_UNLIMITED = 2


@dataclass(frozen=True, slots=True)
class ResourceList:
    """A whole list: the observations, and the version from which a watch goes on."""

    observations: tuple[Any, ...]
    version: str


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One event of a watch. `type` is as the server wrote it."""

    type: str
    object: dict[str, Any]

    @property
    def version(self) -> str:
        """The resourceVersion that the event stands for; empty if it has none."""
        metadata = self.object.get("metadata")
        version = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
        return version if isinstance(version, str) else ""


@dataclass(slots=True)
class _Pages:
    """What was read of a list so far, and how the next page is requested."""

    limit: int | None
    observations: list[Any] = field(default_factory=list)
    version: str = ""
    token: str = ""


class ListerWatcher:
    """Lists and watches what one handler takes. After two lists broke midway, it requests all in one page."""

    def __init__(
        self,
        transport: Transport,
        handler: ResourceEventHandler,
        clock: Clock,
        page_read: Callable[[], None] = lambda: None,
    ) -> None:
        """page_read: called for each page of a list."""
        self._transport = transport
        self._resource, self._namespace = handler.resource, handler.namespace
        self._title = handler.title
        self._decode = handler.decode
        self._clock = clock
        self._page_read = page_read
        self._breaks = 0

    # List

    async def list(self) -> ResourceList:
        """The list as it stands now, read consistently. Raises `ApiFailure`, and then nothing counts.

        After a failure midway the next call starts from the first page, after the second one
        without a limit. The token that a 410 offers is never used: it goes on at another version,
        and what changed between is in neither the list nor the watch (semantics, Lists).
        """
        unlimited = self._breaks >= _BREAKS_BEFORE_UNLIMITED
        pages = _Pages(None if unlimited else _FIRST_PAGE)
        try:
            await self._read_page(pages)
            while pages.token:
                await self._read_page(pages)
        except ApiFailure:
            if pages.token:
                self._breaks += 1
            raise
        self._breaks = 0
        return ResourceList(tuple(pages.observations), pages.version)

    async def _read_page(self, pages: _Pages) -> None:
        response = await self._get_page(pages)
        items, version, token = self._parse_page(response)
        self._page_read()
        if pages.version and version != pages.version:
            problem = "a further page is of another version"
            raise ApiFailure(FailureKind.EXPIRED, "list", self._title, problem)
        pages.version = version
        slices = TimeSlices(self._clock)
        for item in items:
            observation = self._decode(item)
            if observation is not None:
                pages.observations.append(observation)
            await slices.give_way()
        pages.token = token
        if pages.limit is not None and items:
            fitting = _PAGE_BYTES * len(items) // max(len(response.body), 1)
            pages.limit = min(max(fitting, _SMALLEST_PAGE), _LARGEST_PAGE)

    async def _get_page(self, pages: _Pages) -> Response:
        query = list(self._resource.selector)
        if pages.limit is not None:
            query.append(("limit", str(pages.limit)))
        if pages.token:
            query.append(("continue", pages.token))
        call = Call(
            method="GET",
            path=self._resource.path(self._namespace),
            query=tuple(query),
            timeout_seconds=_PAGE_TIMEOUT_SECONDS,
        )
        try:
            response = await self._transport.request(call)
        except TransportError as error:
            raise unavailable("list", self._title, error) from error
        if response.status != 200:
            raise self._refused(response, "list")
        return response

    def _parse_page(self, response: Response) -> tuple[Sequence[Mapping[str, Any]], str, str]:
        """Its items, version and continue token."""
        try:
            body = from_json(response.body)
            metadata = body["metadata"]
            items = body.get("items") or []
            version, token = metadata["resourceVersion"], metadata.get("continue") or ""
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise unavailable("list", self._title, "the answer is not a list") from error
        if not version or not isinstance(items, list):
            raise unavailable("list", self._title, "the answer is not a list, or has no version")
        return items, str(version), str(token)

    # Watch

    async def watch(self, version: str) -> AsyncGenerator[Sequence[WatchEvent], None]:
        """What happened after `version`, as it comes; the first, empty list says that the watch is open.

        A clean end, and one by the time limit, ends the generator. Raises `ApiFailure` for everything
        else, an ERROR event in the stream included.
        """
        lines = LineSplitter()
        async with aclosing(self._transport.stream(self._watch_call(version))) as chunks:
            try:
                async for chunk in chunks:
                    yield [self._parse_event(line) for line in lines.feed(chunk)]
            except StreamRefusedError as error:
                raise self._refused(error.response, "watch") from error
            except TransportError as error:
                raise unavailable("watch", self._title, error) from error

    def _parse_event(self, line: bytes) -> WatchEvent:
        try:
            event = from_json(line)
            kind, obj = event["type"], event["object"]
        except (ValueError, TypeError, KeyError) as error:
            raise unavailable("watch", self._title, "an event cannot be read") from error
        if kind == "ERROR" and isinstance(obj, dict):
            raise refused(status_object(obj), "watch", self._title)
        if not isinstance(kind, str) or not isinstance(obj, dict):
            raise unavailable("watch", self._title, "an event cannot be read")
        return WatchEvent(kind, obj)

    def _watch_call(self, version: str) -> Call:
        return Call(
            method="GET",
            path=self._resource.path(self._namespace),
            query=(
                *self._resource.selector,
                ("watch", "1"),
                ("allowWatchBookmarks", "true"),
                ("resourceVersion", version),
                ("timeoutSeconds", str(STREAM_SECONDS)),
            ),
            timeout_seconds=STREAM_SECONDS + OVERDUE_SECONDS,
        )

    def _refused(self, response: Response, verb: str) -> ApiFailure:
        return refused(status_of(response, self._clock.now().wall), verb, self._title)


class LineSplitter:
    """Splits a stream into lines of bytes. Chunks may be cut anywhere, in the middle of a character too."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that `chunk` completes, without their ends; empty ones are left out."""
        lines = chunk.split(b"\n")
        rest = lines.pop()
        if lines and self._pieces:
            lines[0] = b"".join((*self._pieces, lines[0]))
            self._pieces.clear()
        if rest:
            self._pieces.append(rest)
        return [line for line in (line.rstrip(b"\r") for line in lines) if line]
