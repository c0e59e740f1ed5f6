"""The bytes of a request, and of its answer: what HTTP itself asks for.

From connections to the server and back; what goes wrong on purpose goes wrong here.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from aiohttp import web

from kruntimes_core.lab.apiserver.access import Access
from kruntimes_core.lab.apiserver.errors import ApiError, too_large_body
from kruntimes_core.lab.apiserver.faults.faults import Faults
from kruntimes_core.lab.apiserver.faults.kinds import When
from kruntimes_core.lab.apiserver.faults.log import Logged
from kruntimes_core.lab.apiserver.faults.scope import Scope
from kruntimes_core.lab.apiserver.http.discovery import NOT_FOUND, about
from kruntimes_core.lab.apiserver.http.negotiation import is_set, list_options
from kruntimes_core.lab.apiserver.http.serving import Sent, renderer_of, sent_error, sent_text, serve
from kruntimes_core.lab.apiserver.http.watching import WatchHandler
from kruntimes_core.lab.apiserver.requests import PlainNotFound, RequestInfo, request_info
from kruntimes_core.lab.apiserver.server import ApiServer

_MAX_BODY_BYTES = 3 * 1024 * 1024


def segments_of(request: web.BaseRequest) -> list[str]:
    """The parts of the path."""
    return [segment for segment in request.path.split("/") if segment]


async def body_of(request: web.BaseRequest) -> bytes:
    """The whole body. Raises `ApiError` (413) for one that is too large."""
    if not request.can_read_body:
        return b""
    parts: list[bytes] = []
    size = 0
    while part := await request.content.readany():
        size += len(part)
        # What is too much is read to its end all the same, or the client would not read the answer.
        if size <= _MAX_BODY_BYTES:
            parts.append(part)
    if size > _MAX_BODY_BYTES:
        raise too_large_body(_MAX_BODY_BYTES)
    return b"".join(parts)


async def drop(request: web.BaseRequest) -> NoReturn:
    """Drop the connection, so that there is no answer."""
    if request.transport is not None:
        request.transport.abort()
    await forever()


async def forever() -> NoReturn:
    """Until this handler is cancelled, because its connection or the server is gone."""
    await asyncio.get_running_loop().create_future()
    raise asyncio.CancelledError


def response_of(sent: Sent) -> web.Response:
    """The answer as it goes out."""
    headers = {"Content-Type": sent.content_type, "Cache-Control": "no-cache, private", **sent.headers}
    response = web.Response(status=sent.code, body=sent.body, headers=headers)
    for warning in _quoted(sent.warnings):
        response.headers.add("Warning", f"299 - {warning}")
    return response


def _quoted(warnings: Sequence[str]) -> Sequence[str]:
    return ['"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' for text in warnings]


class _Dropped(Exception):  # noqa: N818 - an order to the handler, not an error
    """The connection is to be dropped without an answer."""


class Handler:
    """Handles all requests of one server."""

    def __init__(
        self, api: ApiServer, faults: Faults, access: Access | None, bookmark_seconds: float
    ) -> None:
        self._api = api
        self._faults = faults
        self._access = access
        self._bookmark_seconds = bookmark_seconds
        self._working: set[asyncio.Task[Sent]] = set()
        self._telling: set[asyncio.Task[None]] = set()

    async def stop(self, patience_seconds: float) -> None:
        """End the watches, and give up what is still held somewhere."""
        for watch in self._faults.watches.of(Scope()):
            watch.end()
        if self._telling:
            await asyncio.wait(self._telling, timeout=patience_seconds)
        for task in tuple(self._working):
            task.cancel()
        await asyncio.gather(*self._working, return_exceptions=True)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """One request. What is under way goes on when the client goes, as on a real server."""
        await self._be_silent(request)
        body = b""
        call: RequestInfo | None = None
        try:
            body = await body_of(request)
            call = self._call(request)
            if call is not None and call.verb == "watch":
                return await self._watch(request, call)
            work = asyncio.ensure_future(self._answer(request, call, body))
            self._working.add(work)
            work.add_done_callback(self._working.discard)
            sent = await asyncio.shield(work)
        except ApiError as error:
            sent = sent_error(error)
        except PlainNotFound:
            sent = sent_text(NOT_FOUND, 404)
        except _Dropped:
            self._log(request, call, body, 0)
            await drop(request)
        self._log(request, call, body, sent.code)
        await self._be_silent(request)
        return response_of(sent)

    def _call(self, request: web.BaseRequest) -> RequestInfo | None:
        """The call of a path of a resource, allowed; None for a path about the server itself."""
        user = self._access.user(request.headers.get("Authorization", "")) if self._access else ""
        segments = segments_of(request)
        if segments[:1] not in (["api"], ["apis"]) or len(segments) < (3 if segments[0] == "api" else 4):
            return None
        watch, continued = is_set(request.query, "watch"), bool(request.query.get("continue"))
        resources = self._api.resources
        call = request_info(resources, request.method, segments, watch=watch, continued=continued)
        if self._access is not None:
            self._access.check(user, call.verb, call.resource, call.subresource, call.namespace, call.name)
        return call

    async def _answer(self, request: web.BaseRequest, call: RequestInfo | None, body: bytes) -> Sent:
        accept = request.headers.get("Accept", "")
        if call is None:
            found = about(self._api.resources, segments_of(request), accept, request.host)
            return found if found is not None else sent_text(NOT_FOUND, 404)
        refused = await self._trouble(call, When.BEFORE)
        if refused is not None:
            return refused
        trouble = self._faults.list_trouble(call) if call.verb == "list" else None
        try:
            sent = serve(self._api, call, request.query, accept, request.content_type, body, trouble)
        except ApiError as error:
            sent = sent_error(error)
        return await self._trouble(call, When.AFTER) or sent

    async def _trouble(self, call: RequestInfo, when: When) -> Sent | None:
        """Go through what strikes a request; returns the answer in place of the true one, if any."""
        for trouble in self._faults.troubles(call, when):
            if trouble.gate is not None:
                await trouble.gate.passage()
            if trouble.seconds:
                await asyncio.sleep(trouble.seconds)
            if trouble.drops:
                raise _Dropped
            if trouble.error is not None:
                return sent_error(trouble.error(call), trouble.retry_after)
        return None

    async def _watch(self, request: web.BaseRequest, call: RequestInfo) -> web.StreamResponse:
        refused = await self._trouble(call, When.BEFORE)
        if refused is not None:
            self._log(request, call, b"", refused.code)
            return response_of(refused)
        renderer = renderer_of(self._api, call, request.query, request.headers.get("Accept", ""))
        options = list_options(request.query)
        if call.name:
            options = replace(options, field_selector=f"metadata.name={call.name}")
        teller = WatchHandler(self._api, self._faults, call, renderer, options, self._bookmark_seconds)
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        response.enable_chunked_encoding()
        await response.prepare(request)
        self._log(request, call, b"", 200)

        async def send(lines: bytes) -> None:
            await self._be_silent(request)
            await response.write(lines)

        async def tell() -> None:
            await teller.tell(send)
            await self._be_silent(request)
            await response.write_eof()

        # The client may be gone: then there is nobody to tell.
        with contextlib.suppress(ConnectionError):
            await self._as_task(tell())
        return response

    async def _as_task(self, telling: Coroutine[Any, Any, None]) -> None:
        """Do it as a task that `stop` can wait for; it ends with the handler at the latest."""
        task = asyncio.ensure_future(telling)
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)
        try:
            await task
        finally:
            task.cancel()

    async def _be_silent(self, request: web.BaseRequest) -> None:
        """On a connection that a fault has silenced: wait until the client gives up."""
        if self._faults.is_silent(request.transport):
            await forever()

    def _log(self, request: web.BaseRequest, call: RequestInfo | None, body: bytes, code: int) -> None:
        kept = body if self._faults.log.keep_bodies else None
        self._faults.log.add(
            Logged(
                request.method,
                request.path,
                request.query,
                call,
                code,
                len(body),
                request.content_type,
                kept,
            )
        )
