"""From connections to the server and back; what goes wrong on purpose goes wrong here."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

from aiohttp import web

from kruntimes_core.lab.apiserver.access import Access
from kruntimes_core.lab.apiserver.faults.faults import Faults
from kruntimes_core.lab.apiserver.faults.kinds import When
from kruntimes_core.lab.apiserver.faults.log import Logged
from kruntimes_core.lab.apiserver.faults.scope import Scope
from kruntimes_core.lab.apiserver.http.about import NOT_FOUND, about
from kruntimes_core.lab.apiserver.http.answers import Sent, sent_error, sent_text
from kruntimes_core.lab.apiserver.http.exchange import body_of, drop, forever, response_of, segments_of
from kruntimes_core.lab.apiserver.http.serving import renderer_of, serve
from kruntimes_core.lab.apiserver.http.watching import Teller
from kruntimes_core.lab.apiserver.paths import Call, PlainNotFound, find_call
from kruntimes_core.lab.apiserver.queries import is_set, list_options
from kruntimes_core.lab.apiserver.server import ApiServer
from kruntimes_core.lab.apiserver.status import ApiError


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
        call: Call | None = None
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

    def _call(self, request: web.BaseRequest) -> Call | None:
        """The call of a path of a resource, allowed; None for a path about the server itself."""
        user = self._access.user(request.headers.get("Authorization", "")) if self._access else ""
        segments = segments_of(request)
        if segments[:1] not in (["api"], ["apis"]) or len(segments) < (3 if segments[0] == "api" else 4):
            return None
        watch, continued = is_set(request.query, "watch"), bool(request.query.get("continue"))
        resources = self._api.resources
        call = find_call(resources, request.method, segments, watch=watch, continued=continued)
        if self._access is not None:
            self._access.check(user, call.verb, call.resource, call.subresource, call.namespace, call.name)
        return call

    async def _answer(self, request: web.BaseRequest, call: Call | None, body: bytes) -> Sent:
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

    async def _trouble(self, call: Call, when: When) -> Sent | None:
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

    async def _watch(self, request: web.BaseRequest, call: Call) -> web.StreamResponse:
        refused = await self._trouble(call, When.BEFORE)
        if refused is not None:
            self._log(request, call, b"", refused.code)
            return response_of(refused)
        renderer = renderer_of(self._api, call, request.query, request.headers.get("Accept", ""))
        options = list_options(request.query)
        if call.name:
            options = replace(options, field_selector=f"metadata.name={call.name}")
        teller = Teller(self._api, self._faults, call, renderer, options, self._bookmark_seconds)
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

    def _log(self, request: web.BaseRequest, call: Call | None, body: bytes, code: int) -> None:
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
