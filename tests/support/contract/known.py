"""The differences that are accepted, each with its reason. A difference that is gone must leave the table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from contract.compare import Difference


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
