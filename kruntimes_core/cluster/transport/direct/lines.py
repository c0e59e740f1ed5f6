"""The connections to one server: a bounded number, made when they are needed, and used again."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass

from kruntimes_core.cluster.transport.direct.line import Line

_CONNECT_SECONDS = 10.0
_IDLE_SECONDS = 15.0
"""A connection that was idle for longer may be gone without anybody having been told."""
_SECOND_ADDRESS_SECONDS = 0.25
"""After this, another address of the same name is tried beside the first one (RFC 8305)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a server is."""

    host: str
    port: int
    tls: ssl.SSLContext | None = None
    """None for plain HTTP."""
    name: str | None = None
    """The name that its certificate must bear, if it is not the host's."""


class Lines:
    """Lends connections, each to one at a time."""

    def __init__(self, address: Address, most: int) -> None:
        """most: connections at a time."""
        self._address = address
        self._idle: list[Line] = []
        self._lent: set[Line] = set()
        self._places = asyncio.Semaphore(most)

    async def lend(self, deadline: float) -> Line:
        """A connection that is usable now: the one that was used last, else a new one.

        Waits for a place if all are lent. Raises `TimeoutError` at `deadline` (the loop's time), and
        what asyncio raises for a connection that cannot be made.
        """
        if self._places.locked():
            async with asyncio.timeout_at(deadline):
                await self._places.acquire()
        else:
            await self._places.acquire()
        try:
            line = self._used() or await self._made(deadline)
        except BaseException:
            self._places.release()
            raise
        self._lent.add(line)
        return line

    def give_back(self, line: Line) -> None:
        """It is not needed any more. One on which an answer is still to come is closed."""
        self._lent.discard(line)
        self._places.release()
        if line.usable:
            self._idle.append(line)
        else:
            line.close()

    def close(self) -> None:
        """Close all of them."""
        for line in (*self._idle, *self._lent):
            line.close()
        self._idle.clear()

    def _used(self) -> Line | None:
        oldest = asyncio.get_running_loop().time() - _IDLE_SECONDS
        while self._idle:
            line = self._idle.pop()
            if line.usable and line.idle_since is not None and line.idle_since >= oldest:
                return line
            line.close()
        return None

    async def _made(self, deadline: float) -> Line:
        loop, address = asyncio.get_running_loop(), self._address
        async with asyncio.timeout_at(min(deadline, loop.time() + _CONNECT_SECONDS)):
            _, line = await loop.create_connection(
                Line,
                address.host,
                address.port,
                ssl=address.tls,
                server_hostname=(address.name or address.host) if address.tls is not None else None,
                happy_eyeballs_delay=_SECOND_ADDRESS_SECONDS,
            )
        return line
