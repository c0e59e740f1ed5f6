"""Connections of one's own: what is used again, what is not, and who waits for whom."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from counting.loops import counted_timers

from kruntimes_core.cluster.connection.connection import Connection
from kruntimes_core.cluster.transport.choosing import transport_to
from kruntimes_core.cluster.transport.direct.line import Line
from kruntimes_core.cluster.transport.direct.transport import DirectTransport, is_direct
from kruntimes_core.cluster.transport.http import HttpTransport
from kruntimes_core.cluster.transport.protocol import Call, MaybeSentError, TransportError

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
Talk = Callable[["Server", asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Anybody:
    """Credentials that prove nothing."""

    async def authorization(self) -> str | None:
        return None

    async def renew(self) -> None:
        """There are no others."""


class Server:
    """Counts connections, and lets `talk` have each."""

    def __init__(self, talk: Talk) -> None:
        self.connections = 0
        self.requests: list[bytes] = []
        self._talk = talk

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            await self._talk(self, reader, writer)
        finally:
            writer.close()

    async def request(self, reader: asyncio.StreamReader) -> bool:
        """Read a request without a body; False if there is no other."""
        try:
            self.requests.append(await reader.readuntil(b"\r\n\r\n"))
        except (asyncio.IncompleteReadError, ConnectionError):
            return False
        return True


async def answers(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while await server.request(reader):
        writer.write(OK)


def play(
    talk: Talk, scene: Callable[[DirectTransport, Server], Awaitable[None]], connections: int = 4
) -> Server:
    found = Server(talk)

    async def main() -> None:
        async with await asyncio.start_server(found.serve, "127.0.0.1", 0) as listening:
            port = listening.sockets[0].getsockname()[1]
            connection = Connection(server=f"http://127.0.0.1:{port}/base/", credentials=Anybody())
            transport = DirectTransport(connection, user_agent="test/1", connections=connections)
            async with transport, asyncio.timeout(30):
                await scene(transport, found)

    asyncio.run(main())
    return found


def get(seconds: float = 20, method: str = "GET") -> Call:
    return Call(method=method, path="/a b", query=(("x", "1"),), timeout_seconds=seconds)


def test_a_connection_is_used_again() -> None:
    async def scene(transport: DirectTransport, server: Server) -> None:
        for _ in range(5):
            assert (await transport.request(get())).body == b"ok"

    server = play(answers, scene)
    assert (server.connections, len(server.requests)) == (1, 5)
    first = server.requests[0].split(b"\r\n")
    assert first[0] == b"GET /base/a%20b?x=1 HTTP/1.1"
    assert {b"accept: application/json", b"accept-encoding: identity"} <= set(first)


def test_no_more_connections_are_made_than_allowed() -> None:
    async def scene(transport: DirectTransport, server: Server) -> None:
        answers = await asyncio.gather(*(transport.request(get()) for _ in range(20)))
        assert [answer.body for answer in answers] == [b"ok"] * 20

    assert play(answers, scene, connections=3).connections == 3


async def says_nothing(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await server.request(reader)
    await reader.read()


def test_waiting_for_a_connection_has_the_limit_of_the_call() -> None:
    async def scene(transport: DirectTransport, server: Server) -> None:
        first = asyncio.create_task(transport.request(get()))
        while not server.requests:
            await asyncio.sleep(0)
        with pytest.raises(TransportError, match=r"no answer within 0\.05 s"):
            await transport.request(get(0.05))
        first.cancel()

    assert play(says_nothing, scene, connections=1).connections == 1


async def hangs_up(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers once on each connection, and closes it when the next request comes."""
    await server.request(reader)
    writer.write(OK)
    await server.request(reader)


def test_a_read_that_met_a_closed_connection_is_sent_again() -> None:
    async def scene(transport: DirectTransport, server: Server) -> None:
        for _ in range(3):
            assert (await transport.request(get())).status == 200

    server = play(hangs_up, scene)
    assert (server.connections, len(server.requests)) == (3, 5)


def test_a_read_is_not_sent_again_on_a_new_connection_nor_a_write_on_any() -> None:
    async def never(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.request(reader)

    async def read(transport: DirectTransport, server: Server) -> None:
        with pytest.raises(MaybeSentError, match="the connection broke before the answer was whole"):
            await transport.request(get())

    async def write(transport: DirectTransport, server: Server) -> None:
        await transport.request(get(method="DELETE"))
        with pytest.raises(MaybeSentError):
            await transport.request(get(method="DELETE"))

    assert len(play(never, read).requests) == 1
    assert len(play(hangs_up, write).requests) == 2


@pytest.mark.parametrize(
    "answer",
    [
        OK + b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil",
        b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok",
    ],
)
def test_a_connection_on_which_something_is_wrong_is_not_used_again(answer: bytes) -> None:
    async def talk(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await server.request(reader):
            writer.write(answer)

    bodies: list[object] = []

    async def scene(transport: DirectTransport, server: Server) -> None:
        for _ in range(2):
            try:
                bodies.append((await transport.request(get())).body)
            except TransportError as error:
                bodies.append(str(error))

    assert play(talk, scene).connections == 2
    assert bodies in ([b"ok"] * 2, ["its answer is longer than it said"] * 2)


def test_an_answer_that_nobody_asked_for_ends_its_connection() -> None:
    async def talk(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.request(reader)
        writer.write(OK)
        await writer.drain()
        await asked.wait()
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil")
        assert await reader.read() == b""
        closed.set()

    asked, closed = asyncio.Event(), asyncio.Event()

    async def scene(transport: DirectTransport, server: Server) -> None:
        assert (await transport.request(get())).body == b"ok"
        asked.set()
        await closed.wait()

    play(talk, scene)


def test_a_stream_that_nobody_reads_is_held_back() -> None:
    """What a watch tells while the host is busy must not fill its memory."""
    sent: list[int] = []

    async def talk(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.request(reader)
        writer.transport.set_write_buffer_limits(high=0)
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        for _ in range(64):
            writer.write(b"100000\r\n" + b"x" * 0x100000 + b"\r\n")
            await writer.drain()
            sent.append(1)
        writer.write(b"0\r\n\r\n")

    async def scene(transport: DirectTransport, server: Server) -> None:
        chunks = transport.stream(get())
        assert await anext(chunks) == b""
        before = -1
        while before != len(sent):  # until nothing more is taken
            before = len(sent)
            for _ in range(200):
                await asyncio.sleep(0)
        assert len(sent) < 40
        assert sum([len(chunk) async for chunk in chunks]) == 64 * 0x100000

    play(talk, scene)


def test_many_requests_share_a_timer() -> None:
    timers: list[int] = []

    async def scene(transport: DirectTransport, server: Server) -> None:
        with counted_timers() as counts:
            for _ in range(50):
                await transport.request(get(20))
        timers.append(counts[Line])

    play(answers, scene)
    assert timers == [1]


def test_an_earlier_limit_counts_from_where_it_is_set() -> None:
    async def talk(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.request(reader)
        writer.write(OK)
        await server.request(reader)
        await reader.read()

    async def scene(transport: DirectTransport, server: Server) -> None:
        await transport.request(get(20))
        with pytest.raises(TransportError, match=r"no answer within 0\.05 s"):
            await transport.request(get(0.05, method="DELETE"))

    play(talk, scene)


def test_a_limit_beyond_the_timer_is_kept_too() -> None:
    async def scene(transport: DirectTransport, server: Server) -> None:
        loop = asyncio.get_running_loop()
        line = await transport._lines.lend(loop.time() + 20)
        await line.send(b"GET / HTTP/1.1\r\n\r\n", loop.time() + 0.02).whole()
        late = line.send(b"GET / HTTP/1.1\r\n\r\n", loop.time() + 0.1)
        began = loop.time()
        with pytest.raises(TimeoutError):
            await late.whole()
        assert loop.time() - began >= 0.09
        transport._lines.give_back(line)

    async def talk(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await server.request(reader)
        writer.write(OK)
        await server.request(reader)
        await reader.read()

    play(talk, scene)


@pytest.mark.parametrize(
    ("server", "proxy", "direct"),
    [
        ("https://10.0.0.1:6443", None, True),
        ("https://[fd00::1]:6443/k8s/clusters/c-1", None, True),
        ("http://localhost:8001", None, True),
        ("https://10.0.0.1:6443", "http://proxy:3128", False),
        ("https://user:password@10.0.0.1", None, False),
        ("https://bücher.example", None, False),
        ("https://a b.example", None, False),
    ],
)
def test_what_is_not_plain_is_left_to_the_client_that_knows_it(
    server: str, proxy: str | None, direct: bool
) -> None:
    connection: Any = Connection(server=server, credentials=Anybody(), proxy=proxy)
    assert is_direct(connection) is direct

    async def main() -> None:
        async with transport_to(connection, user_agent="test/1", connections=1) as transport:
            assert isinstance(transport, DirectTransport if direct else HttpTransport)

    asyncio.run(main())
