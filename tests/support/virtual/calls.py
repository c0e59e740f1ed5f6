"""What a call to an API server is about, the words of its answers, and faults that several tests share."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kruntimes_core.cluster.client.transport import Call, MaybeSentError, Response

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
    """What a call of our own client is about."""
    return target_of(call.method, call.path, watching=("watch", "1") in call.query)


def target_of(method: str, path: str, *, watching: bool) -> Target:
    """Read a path: verb, resource, namespace, name."""
    parts = path.strip("/").split("/")
    rest = parts[3:] if parts[0] == "apis" else parts[2:]
    namespace = None
    if len(rest) > 2 and rest[0] == "namespaces":
        namespace, rest = rest[1], rest[2:]
    name = rest[1] if len(rest) > 1 else None
    verb = {"GET": "get" if name else "watch" if watching else "list"}.get(method, method.lower())
    return Target(verb, rest[0] if rest else "", namespace, name)


# What becomes of the next calls of a kind


def one_by_one(kind: Kind, *fates: Response | Exception | None, name: str | None = None) -> Fault:
    """Answers, errors, or None for a call that goes through: one for each next call of a kind.

    name: only calls about this object count.
    """
    left = list(fates)

    async def fault(call: Call) -> Response | None:
        what = target(call)
        if what.kind != kind or name not in (None, what.name) or not left:
            return None
        fate = left.pop(0)
        if isinstance(fate, Exception):
            raise fate
        return fate

    return fault


def applied_first(serve: Callable[[Call], Response], name: str, fate: Response | Exception) -> Fault:
    """The server takes the first write for a Run, and the client sees `fate` instead of its answer."""
    left = [fate]

    async def fault(call: Call) -> Response | None:
        what = target(call)
        if what.verb != "patch" or what.name != name or not left:
            return None
        serve(call)
        ended = left.pop()
        if isinstance(ended, Exception):
            raise ended
        return ended

    return fault


def cut() -> MaybeSentError:
    """The connection broke, before or after the server took the request."""
    return MaybeSentError("the connection broke")


def always(kind: Kind, answer: Response) -> Fault:
    """One answer for all calls of a kind."""

    async def fault(call: Call) -> Response | None:
        return answer if target(call).kind == kind else None

    return fault
