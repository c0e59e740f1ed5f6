"""Every right that a scheduler needs: one list for the manifests, the documentation and the metric."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable
from typing import NamedTuple

from kruntimes_core.cluster.client.errors import forbidden, status_of
from kruntimes_core.cluster.client.resources import EVENTS, PODS, RUNS, WORKSPACES
from kruntimes_core.cluster.client.transport import (
    Call,
    Chunks,
    Response,
    StreamRefusedError,
    Transport,
)
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.leader_election.lease_lock import LEASES
from kruntimes_core.cluster.leader_election.lease_lock import VERBS as ELECTION
from kruntimes_core.cluster.observability.health import HealthCheck
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.observability.metrics import Samples
from kruntimes_core.engine.clock import SECOND


class Permission(NamedTuple):
    """What a rule of a Role grants: one verb on one resource."""

    verb: str
    resource: str
    """Its plural, with a subresource as in `runs/status`."""
    group: str

    @property
    def title(self) -> str:
        """The resource with its group, for people: `runs/status.kruntimes.io`."""
        return f"{self.resource}.{self.group}" if self.group else self.resource


READ_RUN = Permission("get", RUNS.plural, RUNS.group)
WRITE_STATUS = Permission("patch", f"{RUNS.plural}/status", RUNS.group)

REQUIRED = (
    READ_RUN,
    *(
        Permission(verb, one.plural, one.group)
        for one in (RUNS, WORKSPACES, PODS)
        for verb in ("list", "watch")
    ),
    WRITE_STATUS,
    *(Permission(verb, EVENTS.plural, EVENTS.group) for verb in ("create", "patch")),
    *(Permission(verb, LEASES.plural, LEASES.group) for verb in ELECTION),
)
"""All of them. Those on Leases are needed with an election, in the Lease's namespace alone."""

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


def required_permission(call: Call) -> tuple[Permission, str]:
    """The right that a request needs, and the namespace that it is about; empty for all of them.

    The API server reads a path in the same way (its request info).
    """
    _, kind, *rest = call.path.split("/")
    group = rest.pop(0) if kind == "apis" else ""
    rest.pop(0)
    namespace = ""
    if len(rest) > 2 and rest[0] == "namespaces":
        namespace = rest[1]
        del rest[:2]
    plural, name, subresource = [*rest, "", "", ""][:3]
    resource = f"{plural}/{subresource}" if subresource else plural
    reading = "get" if name else "watch" if ("watch", "1") in call.query else "list"
    return Permission(_VERBS.get(call.method, reading), resource, group), namespace


_UNSEEN = (READ_RUN, WRITE_STATUS)
"""Without these a Run is tried again by itself, and no other check says so."""
_OF_AN_AUTHORIZER = re.compile(r"\bcannot \S+ resource ")
"""How API servers word a 403 that is about rights. A webhook's denial of one object is worded otherwise."""
_NO_VERDICT = (401, 408, 429)
_FORGOTTEN_TICKS = 300 * SECOND
"""A right that is not asked for any more is not known to be missing. The longest usual backoff is 60 s."""


class MissingPermissions:
    """Hears every answer of the API server; made for one host and all who send for it."""

    def __init__(self, clock: Clock, log: Log) -> None:
        self._clock = clock
        self._log = log
        self._refused_at: dict[tuple[Permission, str], int] = {}

    def answered(self, call: Call, response: Response) -> None:
        """An answer came. It costs a comparison while nothing is missing."""
        if response.status == 403:
            self._refused(call, response)
        elif self._refused_at and response.status < 500 and response.status not in _NO_VERDICT:
            self._granted(call)

    def check(self) -> HealthCheck:
        """What a readiness probe should know beside what lists, watches and elections say themselves."""
        self._forget()
        said = [_text(right, namespace) for right, namespace in self._refused_at if right in _UNSEEN]
        return HealthCheck("rights", "; ".join(sorted(said)))

    def samples(self) -> Samples:
        """For each right that is needed, in how many namespaces it is refused."""
        self._forget()
        counts: dict[tuple[str, ...], float] = {(right.verb, right.title): 0.0 for right in REQUIRED}
        for right, _ in self._refused_at:
            if right in REQUIRED:
                counts[right.verb, right.title] += 1
        return counts

    # Inside

    def _refused(self, call: Call, response: Response) -> None:
        now = self._clock.now()
        if _OF_AN_AUTHORIZER.search(status_of(response, now.wall).message) is None:
            return
        key = required_permission(call)
        if key not in self._refused_at and key[0] in _UNSEEN:
            self._log.warning(_text(*key))
        self._refused_at[key] = now.ticks

    def _granted(self, call: Call) -> None:
        right, namespace = required_permission(call)
        if self._refused_at.pop((right, namespace), None) is not None and right in _UNSEEN:
            self._log.info(f"can {right.verb} {_place(right, namespace)} again")

    def _forget(self) -> None:
        oldest = self._clock.now().ticks - _FORGOTTEN_TICKS
        self._refused_at = {key: at for key, at in self._refused_at.items() if at > oldest}


def _text(right: Permission, namespace: str) -> str:
    return str(forbidden(right.verb, _place(right, namespace)))


def _place(right: Permission, namespace: str) -> str:
    return f"{right.title} in {namespace}" if namespace else right.title


_OPENED = Response(200)


class PermissionTransport:
    """Passes everything on. A `Transport`."""

    def __init__(self, transport: Transport, rights: MissingPermissions) -> None:
        self._transport = transport
        self._rights = rights

    async def request(self, call: Call) -> Response:
        """See `Transport`."""
        response = await self._transport.request(call)
        self._rights.answered(call, response)
        return response

    def stream(self, call: Call) -> Chunks:
        """See `Transport`."""
        return _HeardChunks(self._transport.stream(call), call, self._rights)

    async def close(self) -> None:
        """See `Transport`."""
        await self._transport.close()


class _HeardChunks:
    """Hears how a stream begins; what comes then is passed on without a look."""

    def __init__(self, chunks: Chunks, call: Call, rights: MissingPermissions) -> None:
        self._chunks = chunks
        self._call = call
        self._rights = rights
        self._began = False

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    def __anext__(self) -> Awaitable[bytes]:
        return self._chunks.__anext__() if self._began else self._first()

    async def aclose(self) -> None:
        """See `Chunks`."""
        await self._chunks.aclose()

    async def _first(self) -> bytes:
        self._began = True
        try:
            chunk = await self._chunks.__anext__()
        except StreamRefusedError as error:
            self._rights.answered(self._call, error.response)
            raise
        self._rights.answered(self._call, _OPENED)
        return chunk
