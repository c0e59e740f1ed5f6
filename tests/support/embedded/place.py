"""The embedded server in a thread of its own, with rights, for tests that use it as they use a real one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager

from threads import in_thread

from kruntimes_core.lab.apiserver.http.embedded import EmbeddedServer, new_server
from kruntimes_core.testing.access_rules import AccessRules, PolicyRule
from realcluster.client import Reachable

ADMINISTRATOR, HOST = "token-of-the-administrator", "token-of-the-host"


@contextmanager
def embedded_place(rules: Sequence[Mapping[str, Sequence[str]]] = ()) -> Iterator[Reachable]:
    """A server until the block ends; rules: what the bearer of `HOST` may do, everywhere."""
    with in_thread(_serving(_access(rules))) as url:
        yield Reachable(url, None, ADMINISTRATOR)


@asynccontextmanager
async def _serving(access: AccessRules) -> AsyncIterator[str]:
    api = new_server(controllers=False)
    # A real server keeps nothing of what was before its watches began.
    for resource in api.resources:
        api.table(resource)
    api.store.forget()
    async with EmbeddedServer(api, authorizer=access) as server:
        yield server.url


def _access(rules: Sequence[Mapping[str, Sequence[str]]]) -> AccessRules:
    everything = PolicyRule(frozenset("*"), frozenset("*"), frozenset("*"))
    allowed = [
        PolicyRule(frozenset(rule["verbs"]), frozenset(rule["apiGroups"]), frozenset(rule["resources"]))
        for rule in rules
    ]
    return AccessRules({ADMINISTRATOR: "admin", HOST: "host"}, {"admin": [everything], "host": allowed})
