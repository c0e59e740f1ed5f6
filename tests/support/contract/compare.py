"""Where two servers said something else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from contract.normal import Normal
from contract.site import Site

ABSENT = "<absent>"
Transcript = list[tuple[str, Any]]
"""(request, what the server said), in order."""


@dataclass(frozen=True)
class Difference:
    """At `place` of the answer to `request`, the real server said one thing and the embedded another."""

    request: str
    place: str
    real: Any
    embedded: Any

    @property
    def where(self) -> str:
        """Request and place, as the table of known differences names them."""
        return f"{self.request} | {self.place}"

    def __str__(self) -> str:
        return f"{self.where}\n    real:     {self.real!r}\n    embedded: {self.embedded!r}"


def differences(real: Transcript, embedded: Transcript) -> Iterator[Difference]:
    """All places in which two transcripts of one script differ."""
    for (request, said), (other_request, other) in zip(real, embedded, strict=True):
        assert request == other_request, f"a script must not ask otherwise: {request}, {other_request}"
        yield from _of_answers(request, said, other)


def _of_answers(request: str, real: Any, embedded: Any) -> Iterator[Difference]:
    """Where one accepts and the other refuses, the rest of the answers would only hide that."""
    if real["status"] != embedded["status"]:
        yield Difference(request, "status", _in_short(real), _in_short(embedded))
    else:
        yield from _between(request, "", real, embedded)


def _in_short(said: Any) -> str:
    body = said.get("body")
    message = body.get("message", "") if isinstance(body, dict) else body
    return f"{said['status']} {message}".strip()


def _between(request: str, place: str, real: Any, embedded: Any) -> Iterator[Difference]:
    if isinstance(real, dict) and isinstance(embedded, dict):
        for name in sorted(real.keys() | embedded.keys()):
            below = f"{place}.{name}" if place else name
            yield from _between(request, below, real.get(name, ABSENT), embedded.get(name, ABSENT))
    elif isinstance(real, list) and isinstance(embedded, list) and len(real) == len(embedded):
        for number, (one, other) in enumerate(zip(real, embedded, strict=True)):
            yield from _between(request, f"{place}.{number}", one, other)
    elif type(real) is not type(embedded) or real != embedded:
        yield Difference(request, place, real, embedded)


def transcript(site: Site) -> Transcript:
    """The record of a site in normal form."""
    normal = Normal(site.namespace, site.record)
    return [(normal.request(request), normal.of(said)) for request, said in site.record]
