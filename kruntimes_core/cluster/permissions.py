"""RBAC permissions: all that a scheduler needs, and those that the API server refuses now."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import NamedTuple

from kruntimes_core.cluster.client.errors import forbidden, status_of
from kruntimes_core.cluster.client.resources import EVENTS, LEASES, PODS, RUNS, WORKSPACES
from kruntimes_core.cluster.client.resources import LEASE_VERBS as ELECTION
from kruntimes_core.cluster.client.transport import (
    Call,
    Response,
    StreamRefusedError,
    Transport,
)
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.observability.endpoints import HealthCheck
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
"""All permissions; those on Leases only with an election, and in the Lease's namespace alone."""

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_UNSEEN = (READ_RUN, WRITE_STATUS)
"""Permissions whose lack no other health check shows: without them each Run is tried again and again."""
_RBAC_MESSAGE = re.compile(r"\bcannot \S+ resource ")
"""How API servers word a 403 of RBAC. A webhook's denial of one object has other words."""
_NO_VERDICT = (401, 408, 429)
"""Answers that, like 5xx, say nothing about permissions."""
_REFUSED_TICKS = 300 * SECOND
"""For how long a refusal counts after the last such request. The longest usual backoff is 60 s."""


def required_permission(call: Call) -> tuple[Permission, str]:
    """The permission that a request needs, and its namespace; empty for all namespaces.

    The API server reads a path in the same way (its RequestInfo).
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


class MissingPermissions:
    """The permissions that are refused now, learned from every answer to one scheduler."""

    def __init__(self, clock: Clock, log: Log) -> None:
        self._clock = clock
        self._log = log
        self._refused_at: dict[tuple[Permission, str], int] = {}

    def answered(self, call: Call, response: Response) -> None:
        """Learn from an answer; it costs one comparison while nothing is missing."""
        if response.status == 403:
            self._refused(call, response)
        elif self._refused_at and response.status < 500 and response.status not in _NO_VERDICT:
            self._granted(call)

    def check(self) -> HealthCheck:
        """For the readiness probe: missing permissions that lists, watches and the election do not report."""
        self._forget()
        refused = [one for one in self._refused_at if one[0] in _UNSEEN]
        kinds = {_text(permission, "") for permission, _ in refused}
        names = {_text(permission, namespace) for permission, namespace in refused}
        return HealthCheck("permissions", "; ".join(sorted(names)), without_names="; ".join(sorted(kinds)))

    def samples(self) -> Samples:
        """For each required permission, in how many namespaces it is refused."""
        self._forget()
        counts: dict[tuple[str, ...], float] = {
            (permission.verb, permission.title): 0.0 for permission in REQUIRED
        }
        for permission, _ in self._refused_at:
            if permission in REQUIRED:
                counts[permission.verb, permission.title] += 1
        return counts

    def _refused(self, call: Call, response: Response) -> None:
        now = self._clock.now()
        status = status_of(response, now.wall)
        if status.namespace_gone or _RBAC_MESSAGE.search(status.message) is None:
            return
        key = required_permission(call)
        if key not in self._refused_at and key[0] in _UNSEEN:
            self._log.warning(_text(*key))
        self._refused_at[key] = now.ticks

    def _granted(self, call: Call) -> None:
        permission, namespace = required_permission(call)
        if self._refused_at.pop((permission, namespace), None) is not None and permission in _UNSEEN:
            self._log.info(f"can {permission.verb} {_place(permission, namespace)} again")

    def _forget(self) -> None:
        oldest = self._clock.now().ticks - _REFUSED_TICKS
        self._refused_at = {key: at for key, at in self._refused_at.items() if at > oldest}


def _text(permission: Permission, namespace: str) -> str:
    return str(forbidden(permission.verb, _place(permission, namespace)))


def _place(permission: Permission, namespace: str) -> str:
    return f"{permission.title} in {namespace}" if namespace else permission.title


class PermissionTransport:
    """Passes requests on, and their answers also to `MissingPermissions`. A `Transport`."""

    def __init__(self, transport: Transport, permissions: MissingPermissions) -> None:
        self._transport = transport
        self._permissions = permissions

    async def request(self, call: Call) -> Response:
        """See `Transport`."""
        response = await self._transport.request(call)
        self._permissions.answered(call, response)
        return response

    async def stream(self, call: Call) -> AsyncGenerator[bytes, None]:
        """See `Transport`. What counts is whether the stream is opened or refused."""
        opened = False
        async with aclosing(self._transport.stream(call)) as chunks:
            try:
                async for chunk in chunks:
                    if not opened:
                        opened = True
                        self._permissions.answered(call, Response(200))
                    yield chunk
            except StreamRefusedError as error:
                self._permissions.answered(call, error.response)
                raise

    async def close(self) -> None:
        """See `Transport`."""
        await self._transport.close()
