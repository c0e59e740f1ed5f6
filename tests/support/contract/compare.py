"""Where two servers said something else, and what of that is accepted: each with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
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


@dataclass(frozen=True)
class Known:
    """In the script of this name, answers may differ at `where`, a pattern with stars; see `Difference`."""

    script: str
    where: str
    why: str


_JSON_ONLY = "the embedded server speaks JSON only, and says so; kubectl and our driver ask for JSON"
_AT_ONCE = "a real server establishes a definition after its answer, the embedded one before it"

KNOWN: tuple[Known, ...] = (
    Known("test_media_types_of_answers", "GET /api/v1/* | body.details", _JSON_ONLY),
    Known(
        "test_forms_of_patches_that_are_not_taken",
        "PATCH /api/v1/* | body.details",
        "the real server answers for a built-in kind with details that are empty",
    ),
    Known(
        "test_dry_runs", "* | status", "a dry run is refused, so that nobody takes it for one that was judged"
    ),
    Known(
        "test_server_side_apply", "PATCH * | status", "server-side apply needs managedFields, and is refused"
    ),
    Known(
        "test_forms_that_fall_back",
        "GET */runs | body.*",
        "tables of v1beta1 are older than every kubectl in use; the next form of the client is given",
    ),
    Known("test_a_new_definition_is_stored", "POST * | body.status.acceptedNames.*", _AT_ONCE),
    Known("test_a_new_definition_is_stored", "POST * | body.status.conditions", _AT_ONCE),
    *(
        Known(script, "GET /openapi/* | type", "Go says no media type for an answer without a body")
        for script in ("test_the_openapi_document_in_version_2", "test_the_openapi_documents_in_version_3")
    ),
    *(
        Known(
            script, "GET /apis* | body.*.verbs", "a kind that is served once is served until the server ends"
        )
        for script in ("test_the_resources_of_each_group", "test_everything_in_one_answer")
    ),
    Known(
        "test_pods_of_many_shapes",
        "POST * | body.spec.containers.0.resources.requests.cpu",
        "quantities of Pods are kept as they were written: nothing here reads them",
    ),
)


def unexpected(script: str, found: Iterable[Difference], table: Iterable[Known] = KNOWN) -> list[str]:
    """What is wrong with the differences of a script: those not in the table, and lines without any."""
    lines = [known for known in table if known.script == script]
    places = list(found)
    used = {line for line in lines for one in places if _is(one, line)}
    new = [str(one) for one in places if not any(_is(one, line) for line in lines)]
    gone = [f"equal by now, take it out of the table: {line.where}" for line in lines if line not in used]
    return new + gone


def _is(difference: Difference, known: Known) -> bool:
    return fnmatchcase(difference.where, known.where)
