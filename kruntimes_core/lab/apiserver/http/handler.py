"""From connections to the server and back: the bytes of requests and answers, and which path means what."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, NoReturn

from aiohttp import web

from kruntimes_core.cluster.observability.http_server import foreign_page
from kruntimes_core.lab.apiserver.errors import ApiError, too_large
from kruntimes_core.lab.apiserver.http.discovery import NOT_FOUND, about
from kruntimes_core.lab.apiserver.http.middleware import Authorizer, ConnectionDropped, Middleware
from kruntimes_core.lab.apiserver.http.negotiation import is_set, list_options
from kruntimes_core.lab.apiserver.http.serving import (
    ReceivedRequest,
    Sent,
    in_encoding_of,
    renderer_of,
    sent_error,
    sent_text,
    serve,
)
from kruntimes_core.lab.apiserver.http.watching import WatchHandler
from kruntimes_core.lab.apiserver.requests import PlainNotFound, RequestInfo, request_info
from kruntimes_core.lab.apiserver.server import ApiServer

_MAX_BODY_BYTES = 3 * 1024 * 1024
_WATCHING = Sent(200, b"")


class Handler:
    """Handles all requests of one server."""

    def __init__(
        self,
        api: ApiServer,
        middleware: Middleware,
        authorizer: Authorizer | None,
        bookmark_seconds: float,
        *,
        loopback: bool,
    ) -> None:
        """loopback: refuse what a page in a browser on this machine could have sent."""
        self._api = api
        self._loopback = loopback
        self._middleware = middleware
        self._authorizer = authorizer
        self._bookmark_seconds = bookmark_seconds
        self._working: set[asyncio.Task[Sent]] = set()
        self._watches: dict[WatchHandler, asyncio.Task[None]] = {}

    async def stop(self, patience_seconds: float) -> None:
        """End the watches, and give up what a middleware still holds."""
        for watch in self._watches:
            watch.end()
        if self._watches:
            await asyncio.wait(self._watches.values(), timeout=patience_seconds)
        for task in tuple(self._working):
            task.cancel()
        await asyncio.gather(*self._working, return_exceptions=True)

    async def handle(self, http: web.BaseRequest) -> web.StreamResponse:
        """One request. What is under way goes on when the client goes, as on a real server."""
        await self._be_silent(http)
        request = ReceivedRequest(
            http.method,
            http.path,
            http.query,
            accept=http.headers.get("Accept", ""),
            # Without the header aiohttp would say application/octet-stream, which is not taken here.
            content_type=http.content_type if http.headers.get("Content-Type") else "",
        )
        try:
            if self._loopback and (why := foreign_page(http)):
                raise ApiError(403, "Forbidden", why)
            request = replace(request, body=await _body_of(http))
            request = replace(request, info=self._info(http))
            if request.info is not None and request.info.verb == "watch":
                return await self._watch(http, request, request.info)
            sent = await self._at_work(self._middleware.handle(request, lambda one: self._serve(http, one)))
        except ApiError as error:
            sent = in_encoding_of(sent_error(error), request.accept)
        except PlainNotFound:
            sent = sent_text(NOT_FOUND, 404)
        except ConnectionDropped:
            self._middleware.answered(request, 0)
            await _drop(http)
        self._middleware.answered(request, sent.code)
        await self._be_silent(http)
        return _response_of(sent)

    def _info(self, http: web.BaseRequest) -> RequestInfo | None:
        """What a path means, if the user may do it; None for a path about the server itself."""
        user = self._authorizer.user(http.headers.get("Authorization", "")) if self._authorizer else ""
        segments = _segments_of(http)
        if segments[:1] not in (["api"], ["apis"]) or len(segments) < (3 if segments[0] == "api" else 4):
            return None
        watch, continued = is_set(http.query, "watch"), bool(http.query.get("continue"))
        resources = self._api.resources
        info = request_info(resources, http.method, segments, watch=watch, continued=continued)
        if self._authorizer is not None:
            self._authorizer.check(user, info)
        return info

    async def _at_work(self, work: Coroutine[Any, Any, Sent]) -> Sent:
        task = asyncio.ensure_future(work)
        self._working.add(task)
        task.add_done_callback(self._working.discard)
        return await asyncio.shield(task)

    def _serve(self, http: web.BaseRequest, request: ReceivedRequest) -> Sent:
        if request.info is not None:
            return serve(self._api, request, request.info)
        found = about(self._api.resources, _segments_of(http), request, http.host)
        return found if found is not None else sent_text(NOT_FOUND, 404)

    async def _watch(
        self, http: web.BaseRequest, request: ReceivedRequest, info: RequestInfo
    ) -> web.StreamResponse:
        sent = await self._middleware.handle(request, lambda _: _WATCHING)
        if sent is not _WATCHING:
            self._middleware.answered(request, sent.code)
            return _response_of(sent)
        options = list_options(request.query)
        if info.name:
            options = replace(options, field_selector=f"metadata.name={info.name}")
        renderer = renderer_of(self._api, request, info)
        watch = WatchHandler(self._api, info, renderer, options, self._bookmark_seconds)
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        response.enable_chunked_encoding()
        await response.prepare(http)
        self._middleware.answered(request, 200)
        # The client may be gone: then the watch is over.
        with contextlib.suppress(ConnectionError):
            await self._send(watch, http, response)
        return response

    async def _send(self, watch: WatchHandler, http: web.BaseRequest, response: web.StreamResponse) -> None:
        """Send a watch in a task that `stop` can wait for; it ends with the handler at the latest."""

        async def send(lines: bytes) -> None:
            await self._be_silent(http)
            await response.write(lines)

        async def serve_watch() -> None:
            await watch.serve(send)
            await self._be_silent(http)
            await response.write_eof()

        self._middleware.watch_began(watch)
        task = self._watches[watch] = asyncio.ensure_future(serve_watch())
        try:
            await task
        finally:
            task.cancel()
            del self._watches[watch]
            self._middleware.watch_ended(watch)

    async def _be_silent(self, http: web.BaseRequest) -> None:
        """On a connection that the middleware has silenced: wait until the client gives up."""
        if self._middleware.is_silent(http.transport):
            await _forever()


def _segments_of(http: web.BaseRequest) -> list[str]:
    """The parts of the path."""
    return [segment for segment in http.path.split("/") if segment]


async def _body_of(http: web.BaseRequest) -> bytes:
    """The whole body. Raises `ApiError` (413) for one that is too large."""
    if not http.can_read_body:
        return b""
    parts: list[bytes] = []
    size = 0
    while part := await http.content.readany():
        size += len(part)
        # What is too much is read to its end all the same, or the client would not read the answer.
        if size <= _MAX_BODY_BYTES:
            parts.append(part)
    if size > _MAX_BODY_BYTES:
        raise too_large(f"the body must have at most {_MAX_BODY_BYTES} bytes")
    return b"".join(parts)


async def _drop(http: web.BaseRequest) -> NoReturn:
    """Drop the connection, so that there is no answer."""
    if http.transport is not None:
        http.transport.abort()
    await _forever()


async def _forever() -> NoReturn:
    """Until this handler is cancelled, because its connection or the server is gone."""
    await asyncio.get_running_loop().create_future()
    raise asyncio.CancelledError


def _response_of(sent: Sent) -> web.Response:
    """The answer as it goes out."""
    headers = {"Content-Type": sent.content_type, "Cache-Control": "no-cache, private", **sent.headers}
    response = web.Response(status=sent.code, body=sent.body, headers=headers)
    for warning in sent.warnings:
        quoted = warning.replace("\\", "\\\\").replace('"', '\\"')
        response.headers.add("Warning", f'299 - "{quoted}"')
    return response
