"""What a call to an API server is about, and the words of its answers."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kruntimes_core.cluster.client.transport import Call, Response
from kruntimes_core.testing.harness import PODS, RUNS, WORKSPACES

KINDS = {"runs": RUNS, "pods": PODS, "persistentworkspaces": WORKSPACES}
"""How the API server in memory calls each resource."""
Kind = tuple[str, str]
"""Verb and resource."""
Fault = Callable[[Call], Awaitable[Response | None]]
"""May answer instead of the server, raise, or wait; None lets the call go on."""


def status(code: int, reason: str = "", message: str = "", **headers: str) -> Response:
    """A refusal as the API server words it."""
    body = {"kind": "Status", "apiVersion": "v1", "code": code, "reason": reason, "message": message}
    return Response(code, json.dumps(body).encode(), {k.replace("_", "-"): v for k, v in headers.items()})


def line(kind: str, obj: Mapping[str, Any]) -> bytes:
    """One watch event on the wire."""
    return json.dumps({"type": kind, "object": obj}).encode() + b"\n"


@dataclass(frozen=True)
class Target:
    """What a call is about."""

    verb: str
    plural: str
    namespace: str | None
    name: str | None

    @property
    def kind(self) -> Kind:
        """Verb and resource."""
        return (self.verb, self.plural)


def target(call: Call) -> Target:
    """Read a path: verb, resource, namespace, name."""
    parts = call.path.strip("/").split("/")
    rest = parts[3:] if parts[0] == "apis" else parts[2:]
    namespace = None
    if len(rest) > 2 and rest[0] == "namespaces":
        namespace, rest = rest[1], rest[2:]
    name = rest[1] if len(rest) > 1 else None
    watching = ("watch", "1") in call.query
    verb = {"GET": "get" if name else "watch" if watching else "list"}.get(call.method, call.method.lower())
    return Target(verb, rest[0] if rest else "", namespace, name)


def inside(obj: Mapping[str, Any], what: Target) -> bool:
    """Whether an object is in the namespace that a call is about."""
    return what.namespace in (None, obj["metadata"]["namespace"])
