"""A whole consistent list, page by page, or none at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from kruntimes_core.cluster.client.errors import ApiFailure, FailureKind, refused, status_of, unavailable
from kruntimes_core.cluster.client.transport import Call, Response, Transport, TransportError
from kruntimes_core.cluster.clock import Clock, TimeSlices
from kruntimes_core.cluster.watching.feed import Feed

# Seconds for one page. A server that is slower than this is as good as silent.
_PAGE_TIMEOUT_SECONDS = 60.0
# A page is held in memory as bytes and as objects, so its size is bounded, and not its length: Runs
# with inline sources are two hundred times as large as those without.
_PAGE_BYTES = 8_000_000
_FIRST_PAGE, _SMALLEST_PAGE, _LARGEST_PAGE = 100, 20, 1_000
_BREAKS_BEFORE_UNLIMITED = 2


@dataclass(frozen=True, slots=True)
class Listed:
    """A whole list: the observations, and the version from which a watch goes on."""

    observations: tuple[Any, ...]
    version: str


@dataclass(slots=True)
class _Progress:
    observations: list[Any]
    version: str = ""
    token: str = ""
    limit: int | None = _FIRST_PAGE


class Listing:
    """Lists one feed. It remembers how often lists broke midway, and then asks for all in one page."""

    def __init__(
        self, transport: Transport, feed: Feed, clock: Clock, came: Callable[[], None] = lambda: None
    ) -> None:
        """came: called for each page."""
        self._came = came
        self._transport = transport
        self._feed = feed
        self._clock = clock
        self._breaks = 0

    async def fetch(self) -> Listed:
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
        return Listed(tuple(progress.observations), progress.version)

    async def _page(self, progress: _Progress) -> None:
        response = await self._get(progress)
        items, version, token = self._read(response)
        self._came()
        if progress.version and version != progress.version:
            raise self._failed("a further page is of another version", FailureKind.EXPIRED)
        progress.version = version
        slices = TimeSlices(self._clock)
        for item in items:
            observation = self._feed.decode(item)
            if observation is not None:
                progress.observations.append(observation)
            await slices.give_way()
        progress.token = token
        if progress.limit is not None and items:
            fitting = _PAGE_BYTES * len(items) // max(len(response.body), 1)
            progress.limit = min(max(fitting, _SMALLEST_PAGE), _LARGEST_PAGE)

    async def _get(self, progress: _Progress) -> Response:
        query = list(self._feed.resource.selector)
        if progress.limit is not None:
            query.append(("limit", str(progress.limit)))
        if progress.token:
            query.append(("continue", progress.token))
        call = Call(
            method="GET",
            path=self._feed.resource.path(self._feed.namespace),
            query=tuple(query),
            timeout_seconds=_PAGE_TIMEOUT_SECONDS,
        )
        try:
            response = await self._transport.request(call)
        except TransportError as error:
            raise self._failed(error) from error
        if response.status != 200:
            raise refused(status_of(response, self._clock.now().wall), "list", self._feed.title)
        return response

    def _read(self, response: Response) -> tuple[list[Mapping[str, Any]], str, str]:
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
        failure = unavailable("list", self._feed.title, problem)
        failure.kind = kind
        return failure
