"""ListerWatcher: a whole consistent list of a resource, or none at all; and a watch from its version on."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
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

# Seconds for one page. A server that is slower than this is as good as silent.
_PAGE_TIMEOUT_SECONDS = 60.0
# A page is held in memory as bytes and as objects, so its size is bounded, and not its length: Runs
# with inline sources are two hundred times as large as those without.
_PAGE_BYTES = 8_000_000
_FIRST_PAGE, _SMALLEST_PAGE, _LARGEST_PAGE = 100, 20, 1_000
_BREAKS_BEFORE_UNLIMITED = 2


STREAM_SECONDS = 40
"""How long the server is asked to keep a watch open. It says goodbye with a bookmark before."""

OVERDUE_SECONDS = 10
"""How much longer it may last: then the connection is taken for half-open. So the worst is found
within 50 s of going silent, whether or not anything happens in the cluster."""


@dataclass(frozen=True, slots=True)
class ResourceList:
    """A whole list: the observations, and the version from which a watch goes on."""

    observations: tuple[Any, ...]
    version: str


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


@dataclass(slots=True)
class _Progress:
    observations: list[Any]
    version: str = ""
    token: str = ""
    limit: int | None = _FIRST_PAGE


class ListerWatcher:
    """Lists and watches what one handler takes.

    It remembers how often lists broke midway, and then asks for all in one page.
    """

    def __init__(
        self,
        transport: Transport,
        handler: ResourceEventHandler,
        clock: Clock,
        came: Callable[[], None] = lambda: None,
    ) -> None:
        """came: called for each page."""
        self._came = came
        self._transport = transport
        self._handler = handler
        self._clock = clock
        self._breaks = 0

    # List

    async def list(self) -> ResourceList:
        """The list as it stands now, read consistently. Raises `ApiFailure`, and then nothing counts.

        After a failure midway the next call starts from the first page, after the second one
        without a limit. The token that a 410 offers is never used: it goes on at another version,
        and what changed between is in neither the list nor the watch (semantics, Lists).
        """
        unlimited = self._breaks >= _BREAKS_BEFORE_UNLIMITED
        progress = _Progress([], limit=None if unlimited else _FIRST_PAGE)
        try:
            await self._page(progress)
            while progress.token:
                await self._page(progress)
        except ApiFailure:
            if progress.token:
                self._breaks += 1
            raise
        self._breaks = 0
        return ResourceList(tuple(progress.observations), progress.version)

    async def _page(self, progress: _Progress) -> None:
        response = await self._get(progress)
        items, version, token = self._read(response)
        self._came()
        if progress.version and version != progress.version:
            raise self._failed("a further page is of another version", FailureKind.EXPIRED)
        progress.version = version
        slices = TimeSlices(self._clock)
        for item in items:
            observation = self._handler.decode(item)
            if observation is not None:
                progress.observations.append(observation)
            await slices.give_way()
        progress.token = token
        if progress.limit is not None and items:
            fitting = _PAGE_BYTES * len(items) // max(len(response.body), 1)
            progress.limit = min(max(fitting, _SMALLEST_PAGE), _LARGEST_PAGE)

    async def _get(self, progress: _Progress) -> Response:
        query = list(self._handler.resource.selector)
        if progress.limit is not None:
            query.append(("limit", str(progress.limit)))
        if progress.token:
            query.append(("continue", progress.token))
        call = Call(
            method="GET",
            path=self._handler.resource.path(self._handler.namespace),
            query=tuple(query),
            timeout_seconds=_PAGE_TIMEOUT_SECONDS,
        )
        try:
            response = await self._transport.request(call)
        except TransportError as error:
            raise self._failed(error) from error
        if response.status != 200:
            raise refused(status_of(response, self._clock.now().wall), "list", self._handler.title)
        return response

    def _read(self, response: Response) -> tuple[Sequence[Mapping[str, Any]], str, str]:
        try:
            body = from_json(response.body)
            metadata = body["metadata"]
            items = body.get("items") or []
            version, token = metadata["resourceVersion"], metadata.get("continue") or ""
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise self._failed("the answer is no list") from error
        if not version or not isinstance(items, list):
            raise self._failed("the answer is no list, or has no version")
        return items, str(version), str(token)

    def _failed(self, problem: object, kind: FailureKind = FailureKind.UNAVAILABLE) -> ApiFailure:
        return ApiFailure(kind, f"cannot list {self._handler.title}: {problem}")

    # Watch

    async def watch(self, version: str) -> AsyncGenerator[Sequence[WatchEvent], None]:
        """What happened after `version`, as it comes; the first, empty list says that it is open.

        A clean end, and one by the time limit, ends it. Raises `ApiFailure` for everything else, an
        ERROR event in the stream included.
        """
        lines = LineSplitter()
        async with aclosing(self._transport.stream(self._watch_call(version))) as chunks:
            try:
                async for chunk in chunks:
                    yield [self._event(line) for line in lines.feed(chunk)]
            except StreamRefusedError as error:
                raise refused(
                    status_of(error.response, self._clock.now().wall), "watch", self._handler.title
                ) from error
            except TransportError as error:
                raise unavailable("watch", self._handler.title, error) from error

    def _event(self, line: bytes) -> WatchEvent:
        try:
            event = from_json(line)
            kind, obj = event["type"], event["object"]
        except (ValueError, TypeError, KeyError) as error:
            raise unavailable("watch", self._handler.title, "an event cannot be read") from error
        if kind == "ERROR" and isinstance(obj, dict):
            raise refused(status_object(obj), "watch", self._handler.title)
        if not isinstance(kind, str) or not isinstance(obj, dict):
            raise unavailable("watch", self._handler.title, "an event cannot be read")
        return WatchEvent(kind, obj)

    def _watch_call(self, version: str) -> Call:
        return Call(
            method="GET",
            path=self._handler.resource.path(self._handler.namespace),
            query=(
                *self._handler.resource.selector,
                ("watch", "1"),
                ("allowWatchBookmarks", "true"),
                ("resourceVersion", version),
                ("timeoutSeconds", str(STREAM_SECONDS)),
            ),
            timeout_seconds=STREAM_SECONDS + OVERDUE_SECONDS,
        )


class LineSplitter:
    """Splits a stream of bytes into lines; the reader of a whole line decodes it."""

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
