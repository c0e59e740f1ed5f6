"""Faults that several histories share: what becomes of the next calls of a kind."""

from __future__ import annotations

from virtual.calls import Fault, Kind, target
from virtual.site import Site

from kruntimes_core.cluster.client.transport import Call, MaybeSentError, Response


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


def applied_first(site: Site, name: str, fate: Response | Exception) -> Fault:
    """The server takes the first write for a Run, and the client sees `fate` instead of its answer."""
    left = [fate]

    async def fault(call: Call) -> Response | None:
        what = target(call)
        if what.verb != "patch" or what.name != name or not left:
            return None
        site.api._serve(call, what)
        ended = left.pop()
        if isinstance(ended, Exception):
            raise ended
        return ended

    return fault


def cut() -> MaybeSentError:
    """The connection broke; nobody knows where."""
    return MaybeSentError("the connection broke")


def inject(site: Site, plural: str, *chunks: bytes) -> None:
    """Let these bytes come next on the open watch of a resource."""
    (stream,) = (one for one in site.api.streams if one.plural == plural)
    stream.inject += chunks


def always(kind: Kind, answer: Response) -> Fault:
    """One answer for all calls of a kind."""

    async def fault(call: Call) -> Response | None:
        return answer if target(call).kind == kind else None

    return fault
