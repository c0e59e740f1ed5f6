"""The transport on real sockets: what was sent, what may have been, and nothing after the gate closed."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from types import FrameType
from typing import Any

import pytest
from aiohttp import web

from kruntimes_core.cluster.client.connection import Connection
from kruntimes_core.cluster.client.http import HttpTransport
from kruntimes_core.cluster.client.transport import (
    Call,
    Gate,
    MaybeSentError,
    NotSentError,
    Response,
    StreamRefusedError,
    TransportError,
)

Handler = Callable[[Any], Awaitable[web.StreamResponse]]


class Token:
    """Credentials that count their renewals."""

    def __init__(self) -> None:
        self.renewals = 0

    async def authorization(self) -> str | None:
        return f"Bearer {self.renewals}"

    async def renew(self) -> None:
        self.renewals += 1


@asynccontextmanager
async def served(handler: Handler, cancelled: bool = False) -> AsyncIterator[str]:
    """A server on a free port; gives its URL. cancelled: a handler ends with its connection."""
    runner = web.ServerRunner(web.Server(handler, handler_cancellation=cancelled), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield "http://{}:{}".format(*runner.addresses[0])
    finally:
        await runner.cleanup()


@asynccontextmanager
async def connected(server: str, gate: Gate | None = None) -> AsyncIterator[HttpTransport]:
    connection = Connection(server=server, credentials=Token())
    async with HttpTransport(connection, user_agent="test/1", connections=4, gate=gate) as transport:
        yield transport


def call(method: str = "GET", body: bytes | None = None, seconds: float = 10, **headers: str) -> Call:
    return Call(
        method=method,
        path="/apis/x",
        query=(("a", "1 2"), ("labelSelector", "x in (y)")),
        headers={name.replace("_", "-"): value for name, value in headers.items()},
        body=body,
        timeout_seconds=seconds,
    )


def answered(handler: Handler, asked: Call, gate: Gate | None = None) -> Response:
    async def main() -> Response:
        async with served(handler) as server, connected(server, gate) as transport:
            return await transport.request(asked)

    return asyncio.run(main())


def failed(handler: Handler, asked: Call, gate: Gate | None = None) -> TransportError:
    with pytest.raises(TransportError) as raised:
        answered(handler, asked, gate)
    return raised.value


def test_a_call_arrives_as_it_was_made() -> None:
    seen: list[tuple[object, ...]] = []

    async def handler(request: web.Request) -> web.Response:
        body = await request.read()
        wanted = ("Authorization", "User-Agent", "Content-Type", "Accept-Encoding")
        seen.append((request.method, request.path, dict(request.query), body))
        seen.append(tuple(request.headers.get(name) for name in wanted))
        return web.Response(status=409, body=b"no", headers={"Retry-After": "3"})

    asked = call("PATCH", b"{}", content_type="application/merge-patch+json")
    response = answered(handler, asked)
    assert (response.status, response.body, response.headers["retry-after"]) == (409, b"no", "3")
    assert seen[0] == ("PATCH", "/apis/x", {"a": "1 2", "labelSelector": "x in (y)"}, b"{}")
    assert seen[1] == ("Bearer 0", "test/1", "application/merge-patch+json", "identity")


def test_no_redirect_is_followed() -> None:
    async def handler(request: web.Request) -> web.Response:
        raise web.HTTPFound("http://elsewhere.invalid/")

    assert answered(handler, call()).status == 302


def test_refused_credentials_are_renewed_for_the_next_call() -> None:
    async def handler(request: web.Request) -> web.Response:
        return web.Response(status=401 if request.headers["Authorization"] == "Bearer 0" else 200)

    async def main() -> list[int]:
        async with served(handler) as server, connected(server) as transport:
            return [(await transport.request(call())).status for _ in range(2)]

    assert asyncio.run(main()) == [401, 200]


def test_nothing_is_sent_once_the_gate_is_closed() -> None:
    bodies: list[bytes] = []

    async def handler(request: web.Request) -> web.Response:
        bodies.append(await request.read())
        return web.Response()

    error = failed(handler, call("PATCH", b"{}"), gate=lambda: False)
    assert isinstance(error, NotSentError)
    assert bodies == []
    assert answered(handler, call("GET"), gate=lambda: False).status == 200


def test_the_gate_is_asked_in_the_step_that_sends() -> None:
    bodies: list[bytes] = []
    allowed = [True, False]

    async def handler(request: web.Request) -> web.Response:
        bodies.append(await request.read())
        return web.Response()

    async def main() -> None:
        async with served(handler) as server, connected(server, lambda: allowed.pop(0)) as transport:
            await transport.request(call("PATCH", b"first"))
            with pytest.raises(NotSentError):
                await transport.request(call("PATCH", b"second"))

    asyncio.run(main())
    assert bodies == [b"first"]


@pytest.mark.parametrize("closed", ["of the transport", "of the call"])
def test_a_call_may_have_a_gate_of_its_own(closed: str) -> None:
    bodies: list[bytes] = []

    async def handler(request: web.Request) -> web.Response:
        bodies.append(await request.read())
        return web.Response()

    asked = replace(call("PUT", b"{}"), gate=lambda: closed != "of the call")
    error = failed(handler, asked, gate=lambda: closed != "of the transport")
    assert isinstance(error, NotSentError)
    assert answered(handler, replace(asked, gate=lambda: True)).status == 200
    assert bodies == [b"{}"]


def test_a_write_that_is_cancelled_closes_its_connection() -> None:
    """So that what the socket still holds is dropped, and the server's work ends, as far as it can."""

    async def main() -> None:
        arrived, gone = asyncio.Event(), asyncio.Event()

        async def handler(request: web.Request) -> web.Response:
            await request.read()
            arrived.set()
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                gone.set()
            return web.Response()

        async with served(handler, cancelled=True) as server, connected(server) as transport:
            writing = asyncio.create_task(transport.request(call("PATCH", b"{}")))
            await arrived.wait()
            writing.cancel()
            await asyncio.wait_for(gone.wait(), 5)
            assert writing.cancelled()

    asyncio.run(main())


async def _hangs_up(request: web.Request) -> web.Response:
    await request.read()
    assert request.transport is not None
    request.transport.close()
    return web.Response()


async def _says_nothing(request: web.Request) -> web.Response:
    await asyncio.get_running_loop().create_future()
    return web.Response()


@pytest.mark.parametrize(("handler", "seconds"), [(_hangs_up, 10.0), (_says_nothing, 0.1)])
def test_a_write_without_an_answer_may_have_been_applied(handler: Handler, seconds: float) -> None:
    assert isinstance(failed(handler, call("PATCH", b"{}", seconds)), MaybeSentError)


def test_a_patch_is_never_sent_twice_by_itself() -> None:
    seen: list[str] = []

    async def handler(request: web.Request) -> web.Response:
        seen.append(request.method)
        return await _hangs_up(request) if len(seen) == 2 else web.Response()

    async def main() -> None:
        async with served(handler) as server, connected(server) as transport:
            await transport.request(call("PATCH", b"{}"))
            with pytest.raises(MaybeSentError):
                await transport.request(call("PATCH", b"{}"))

    asyncio.run(main())
    assert seen == ["PATCH", "PATCH"]


def test_a_server_that_is_not_there_got_nothing() -> None:
    async def main() -> None:
        async with served(_hangs_up) as server:
            pass
        async with connected(server) as transport:
            await transport.request(call("PATCH", b"{}"))

    with pytest.raises(NotSentError, match="no connection"):
        asyncio.run(main())


# Streams


async def _events(request: web.Request) -> web.StreamResponse:
    stream = web.StreamResponse()
    await stream.prepare(request)
    for event in (b"one\n", b"two\n"):
        await stream.write(event)
    return stream


def streamed(handler: Handler, seconds: float = 10) -> list[bytes]:
    async def main() -> list[bytes]:
        async with served(handler) as server, connected(server) as transport:
            return [chunk async for chunk in transport.stream(call(seconds=seconds))]

    return asyncio.run(main())


def test_a_stream_says_first_that_it_is_open() -> None:
    chunks = streamed(_events)
    assert chunks[0] == b""
    assert b"".join(chunks) == b"one\ntwo\n"


def test_a_refused_stream_tells_the_whole_answer() -> None:
    async def handler(request: web.Request) -> web.Response:
        return web.Response(status=410, body=b"gone", headers={"Retry-After": "1"})

    with pytest.raises(StreamRefusedError) as refused:
        streamed(handler)
    answer = refused.value.response
    assert (answer.status, answer.body, answer.headers["retry-after"]) == (410, b"gone", "1")


def test_a_stream_that_goes_silent_ends_with_its_limit() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        stream = web.StreamResponse()
        await stream.prepare(request)
        await asyncio.get_running_loop().create_future()
        return stream

    with pytest.raises(TransportError, match=r"no answer within 0\.2 s"):
        streamed(handler, 0.2)


def test_a_stream_that_breaks_is_no_clean_end() -> None:
    with pytest.raises(TransportError):
        streamed(_breaks)


async def _breaks(request: web.Request) -> web.StreamResponse:
    stream = web.StreamResponse()
    await stream.prepare(request)
    await stream.write(b"one\n")
    assert request.transport is not None
    request.transport.abort()
    return stream


@pytest.mark.parametrize(
    ("handler", "seconds"),
    [(_breaks, 10.0), (_hangs_up, 10.0), (_says_nothing, 0.05)],
    ids=["breaks in the middle", "has no answer", "falls silent"],
)
def test_what_broke_refers_to_no_frame_that_keeps_its_connection(handler: Handler, seconds: float) -> None:
    """What is frozen is freed only where it is part of no circle (see `garbage_collection`)."""

    async def main() -> list[object]:
        async with served(handler) as server, connected(server) as transport:
            await _fail(transport, call(seconds=seconds))
            gc.collect()
            gc.disable()
            gc.set_debug(gc.DEBUG_SAVEALL)
            await _fail(transport, call(seconds=seconds))
            gc.collect()
            return [one for one in gc.garbage if isinstance(one, FrameType | BaseException)]

    try:
        assert asyncio.run(main()) == []
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


async def _fail(transport: HttpTransport, asked: Call) -> None:
    with suppress(TransportError):
        async for _ in transport.stream(asked):
            pass
    with suppress(TransportError):
        await transport.request(asked)
