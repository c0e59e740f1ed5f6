"""The embedded server in a thread of its own, with rights, for tests that use it as they use a real one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass

from kruntimes_core.lab.apiserver.http.embedded import EmbeddedServer, new_server
from kruntimes_core.testing.access_rules import AccessRules, PolicyRule
from realcluster.client import Client

ADMINISTRATOR, HOST = "token-of-the-administrator", "token-of-the-host"
_SECONDS = 20


@dataclass(frozen=True)
class EmbeddedPlace:
    """Where it is served; everybody has a token."""

    url: str
    ca_file: None = None

    def client(self) -> Client:
        """A client of the administrator."""
        return Client(self.url, token=ADMINISTRATOR)


@contextmanager
def embedded_place(rules: Sequence[Mapping[str, Sequence[str]]]) -> Iterator[EmbeddedPlace]:
    """A server until the block ends; rules: what the bearer of `HOST` may do, everywhere."""
    started: Future[tuple[str, asyncio.AbstractEventLoop]] = Future()
    ended = asyncio.Event()
    thread = threading.Thread(target=asyncio.run, args=(_serve(_access(rules), started, ended),))
    thread.start()
    url, loop = started.result(_SECONDS)
    try:
        yield EmbeddedPlace(url)
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(_SECONDS)


async def _serve(
    access: AccessRules, started: Future[tuple[str, asyncio.AbstractEventLoop]], ended: asyncio.Event
) -> None:
    async with EmbeddedServer(new_server(controllers=False), authorizer=access) as server:
        started.set_result((server.url, asyncio.get_running_loop()))
        await ended.wait()


def _access(rules: Sequence[Mapping[str, Sequence[str]]]) -> AccessRules:
    everything = PolicyRule(frozenset("*"), frozenset("*"), frozenset("*"))
    allowed = [
        PolicyRule(frozenset(rule["verbs"]), frozenset(rule["apiGroups"]), frozenset(rule["resources"]))
        for rule in rules
    ]
    return AccessRules({ADMINISTRATOR: "admin", HOST: "host"}, {"admin": [everything], "host": allowed})
