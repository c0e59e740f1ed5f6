"""Ports that anybody may reach: what is sent to them costs a connection and a line of the log at most."""

from __future__ import annotations

import asyncio
import io
import json
import socket
import subprocess
import sys
import textwrap
import time
import urllib.request
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest
from aiohttp import web

from kruntimes_core.cluster.clock import SystemClock
from kruntimes_core.cluster.observability.http_server import (
    BoundedServer,
    RequestProblems,
    foreign_page,
    listen,
)
from kruntimes_core.cluster.observability.log import Log

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
MALFORMED = {
    "HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0",
    "TLS": bytes.fromhex("16030100c8010000c40303") + b"x" * 100,
    "nulls": b"\0" * 50,
    "overlong header": b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"y" * 100_000 + b"\r\n\r\n",
    "overlong URL": b"GET /" + b"y" * 100_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
    "too many headers": b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 500 + b"\r\n",
    "bad chunk": b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "bad length": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1e3\r\n\r\n",
    "bad compression": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\n"
    b"abcde",
    "bad URL": b"GET http://[::1 HTTP/1.1\r\nHost: a\r\n\r\n",
    "bad port": b"GET http://a:999999/ HTTP/1.1\r\nHost: a\r\n\r\n",
    "URL without UTF-8": b"GET //\xff\xfe?%%%=\xc3 HTTP/1.1\r\nHost: a\r\n\r\n",
    "CONNECT": b"CONNECT a:b HTTP/1.1\r\n\r\n",
    "unknown version": b"GET / HTTP/9.9\r\n\r\n",
    "upgrade": b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
    b"PRI * HTTP/2.0\r\n\r\n",
}


async def hello(request: web.BaseRequest) -> web.Response:
    return web.Response(text="hello")


def served(
    client: Callable[[int], Awaitable[None]],
    answer: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]] = hello,
    connections: int = 64,
    silence_seconds: float = 30.0,
) -> str:
    """The log of a server, after `client` was called with its port."""
    out, clock = io.StringIO(), SystemClock()

    async def main() -> None:
        problems = RequestProblems(Log(out, clock), clock)
        server = BoundedServer(answer, problems, connections=connections, silence_seconds=silence_seconds)
        runner = await listen(server, "127.0.0.1", 0)
        try:
            async with asyncio.timeout(20):
                await client(runner.addresses[0][1])
        finally:
            await runner.cleanup()

    asyncio.run(main())
    return out.getvalue()


async def said_to(port: int, data: bytes) -> bytes:
    """The answer to some bytes, until the server closes or says no more."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    with suppress(ConnectionError):
        got = await reader.read(200)
    await shut(writer)
    return got


async def shut(writer: asyncio.StreamWriter) -> None:
    """Close a connection of the client, whatever the server did with it."""
    writer.transport.abort()
    with suppress(ConnectionError):
        await writer.wait_closed()


@pytest.mark.parametrize("data", MALFORMED.values(), ids=MALFORMED)
def test_malformed_requests_get_an_answer_and_one_line_in_all(
    data: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    async def client(port: int) -> None:
        for _ in range(3):
            status = (await said_to(port, data)).split(b" ")[1]
            assert status in (b"400", b"405", b"200"), status
        assert b"hello" in await said_to(port, GET)

    log = served(client)
    assert log.count("\n") <= 1
    assert len(log) < 400
    assert "Traceback" not in log
    assert capfd.readouterr() == ("", "")


def test_a_defect_in_an_answer_is_one_line_with_its_name() -> None:
    async def broken(request: web.BaseRequest) -> web.Response:
        raise ZeroDivisionError("by zero\nforged")

    async def client(port: int) -> None:
        for _ in range(3):
            assert b" 500 " in await said_to(port, GET)

    log = served(client, broken)
    assert 'WARNING an HTTP request failed error="ZeroDivisionError: by zero forged"\n' in log
    assert log.count("\n") == 1


# Connections that say nothing


async def silent(port: int, count: int) -> list[Connection]:
    connections = [await asyncio.open_connection("127.0.0.1", port) for _ in range(count)]
    await asyncio.sleep(0)
    return connections


async def gone(connection: Connection) -> bool:
    """Whether the server has closed a connection, as far as the client was told."""
    try:
        async with asyncio.timeout(0.05):
            return not await connection[0].read(1)
    except TimeoutError:
        return False
    except ConnectionError:
        return True


def test_with_too_many_connections_the_oldest_go_and_a_probe_is_answered() -> None:
    async def client(port: int) -> None:
        connections = await silent(port, 12)
        assert b"hello" in await said_to(port, GET)
        assert [await gone(one) for one in connections] == [True] * 5 + [False] * 7
        for _, writer in connections:
            await shut(writer)

    assert served(client, connections=8) == ""


def test_a_client_that_does_not_read_is_dropped_as_well() -> None:
    async def large(request: web.BaseRequest) -> web.Response:
        return web.Response(body=b"x" * 20_000_000)

    async def client(port: int) -> None:
        connections = await silent(port, 4)
        for _, writer in connections:
            writer.write(GET)
            await writer.drain()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(GET)
        assert len(await reader.readuntil(b"\r\n\r\n")) > 0
        assert len(await reader.readexactly(20_000_000)) == 20_000_000
        for _, other in [*connections, (reader, writer)]:
            await shut(other)

    assert served(client, large, connections=4) == ""


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHo", GET], ids=["nothing", "half", "one"])
def test_a_connection_may_be_silent_for_so_long(sent: bytes) -> None:
    async def client(port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        await reader.read()  # until the server closes
        await shut(writer)

    assert served(client, silence_seconds=0.1) == ""


OUT_OF_DESCRIPTORS = textwrap.dedent("""
    import asyncio, json, os, resource, sys
    from aiohttp import web
    from kruntimes_core.cluster.clock import SystemClock
    from kruntimes_core.cluster.observability.http_server import BoundedServer, RequestProblems, listen
    from kruntimes_core.cluster.observability.log import Log, log_loop_problems

    async def hello(request):
        return web.Response(text="hello")

    async def main():
        clock = SystemClock()
        log = Log(sys.stderr, clock)
        log_loop_problems(asyncio.get_running_loop(), log, clock)
        runner = await listen(BoundedServer(hello, RequestProblems(log, clock)), "127.0.0.1", 0)
        print(runner.addresses[0][1], flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        used = resource.getrusage(resource.RUSAGE_SELF)
        print(json.dumps(used.ru_utime + used.ru_stime), flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        await runner.cleanup()

    resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))
    asyncio.run(main())
""")


def test_without_descriptors_nothing_spins_and_one_line_says_so() -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", OUT_OF_DESCRIPTORS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stderr is not None
    port = int(child.stdout.readline())

    crowd = [socket.socket() for _ in range(60)]
    for one in crowd:
        one.setblocking(False)
        one.connect_ex(("127.0.0.1", port))
    assert "Too many open files" in child.stderr.readline()
    time.sleep(2.5)  # what a server that spins would use
    child.stdin.write("\n")
    child.stdin.flush()
    assert json.loads(child.stdout.readline()) < 2.0
    for one in crowd:
        one.close()
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10) as answer:
        assert answer.read() == b"hello"
    child.stdin.write("\n")
    assert child.communicate(timeout=10) == ("", ""), "it was said more than once"


# Pages in a browser


class Sent:
    def __init__(self, headers: dict[str, str]) -> None:
        self.headers = headers


@pytest.mark.parametrize("host", ["localhost", "localhost:8082", "127.0.0.1:1", "127.9.9.9", "[::1]:8082"])
@pytest.mark.parametrize("origin", [None, "http://localhost:3000", "https://127.0.0.1", "http://[::1]:1"])
def test_loopback_may_ask(host: str, origin: str | None) -> None:
    headers = {"Host": host} | ({"Origin": origin} if origin is not None else {})
    assert foreign_page(Sent(headers)) == ""  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Host": ""},
        {"Host": "evil.example"},
        {"Host": "localhost.evil.example:8082"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": "10.0.0.1"},
        {"Host": "[::1"},
        {"Host": "localhost", "Origin": "http://evil.example"},
        {"Host": "localhost", "Origin": "null"},
        {"Host": "localhost", "Origin": "http://localhost.evil.example"},
        {"Host": "localhost", "Origin": ""},
    ],
)
def test_a_page_of_others_may_not(headers: dict[str, str]) -> None:
    assert foreign_page(Sent(headers)) != ""  # type: ignore[arg-type]
