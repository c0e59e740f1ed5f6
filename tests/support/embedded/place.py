"""The embedded server in a thread of its own, for tests that use it over HTTP as they use a real one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from typing import Any

from threads import in_thread

from embedded.api import new_api
from kruntimes_core.lab.apiserver.http.embedded import EmbeddedServer, new_server
from kruntimes_core.lab.apiserver.server import ApiServer
from kruntimes_core.testing.access_rules import AccessRules, PolicyRule
from realcluster.client import Reachable

ADMINISTRATOR, HOST = "token-of-the-administrator", "token-of-the-host"


def serving(api: ApiServer | None = None, **more: Any) -> AbstractContextManager[EmbeddedServer]:
    """A server until the block ends, of `new_api` unless another is given. more: of `EmbeddedServer`."""

    @asynccontextmanager
    async def served() -> AsyncIterator[EmbeddedServer]:
        async with EmbeddedServer(api or new_api(), **more) as server:
            yield server

    return in_thread(served())


@contextmanager
def embedded_place(rules: Sequence[Mapping[str, Sequence[str]]] = ()) -> Iterator[Reachable]:
    """A server without controllers; rules: what the bearer of `HOST` may do, everywhere."""
    api = new_server(controllers=False)
    # A real server keeps nothing of what was before its watches began.
    for resource in api.resources:
        api.table(resource)
    api.store.forget()
    with serving(api, authorizer=_access(rules)) as server:
        yield Reachable(server.url, None, ADMINISTRATOR)


def _access(rules: Sequence[Mapping[str, Sequence[str]]]) -> AccessRules:
    everything = PolicyRule(frozenset("*"), frozenset("*"), frozenset("*"))
    allowed = [
        PolicyRule(frozenset(rule["verbs"]), frozenset(rule["apiGroups"]), frozenset(rule["resources"]))
        for rule in rules
    ]
    return AccessRules({ADMINISTRATOR: "admin", HOST: "host"}, {"admin": [everything], "host": allowed})
