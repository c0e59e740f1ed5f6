"""The contrast table of the CRDs, played to both servers: the same verdict in the same words."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from contract import Site, Stage
from contract.fixtures import BOTH
from contract.http import Reply
from contrast import CREATIONS, OTHER_CREATIONS, STATUS_WRITES, UPDATES, Create, Update, Write
from contrast.cases import named, run_spec
from realcluster.client import RUNS, WORKSPACES, Object, Resource

SPECS = {RUNS: run_spec(), WORKSPACES: {"runtime": "python"}}
RULES_UNCHECKED = "<nil>"
"""The field of the cause that says: the schema is not met, so the rules were not looked at."""
# The embedded server alone is held to the table in its own tests, without HTTP.
pytestmark = pytest.mark.parametrize("stage", [BOTH], indirect=True)
ALL_CREATIONS = [*CREATIONS, *OTHER_CREATIONS]


def case_object(resource: Resource, spec: Object) -> Object:
    return {**named(resource, spec), "metadata": {"name": "case"}}


def check(reply: Reply, at: str | None, accepted: int) -> None:
    if at is None:
        assert reply.status == accepted, reply.body
    else:
        assert (reply.status, reply.reason) == (422, "Invalid"), reply.body
        assert set(reply.fields) - {RULES_UNCHECKED} == {at}


def titles(cases: Sequence[Create | Update | Write]) -> list[str]:
    return [case.title for case in cases]


@pytest.mark.parametrize("case", ALL_CREATIONS, ids=titles(ALL_CREATIONS))
def test_creation(stage: Stage, case: Create) -> None:
    def script(site: Site) -> None:
        check(site.create(case.resource, case_object(case.resource, case.spec)), case.at, 201)

    stage.play(script, case.title)


@pytest.mark.parametrize("case", UPDATES, ids=titles(UPDATES))
def test_update(stage: Stage, case: Update) -> None:
    def script(site: Site) -> None:
        site.made(RUNS, case_object(RUNS, case.before))
        check(site.patch(RUNS, "case", {"spec": case.change}), case.at, 200)

    stage.play(script, case.title)


@pytest.mark.parametrize("case", STATUS_WRITES, ids=titles(STATUS_WRITES))
def test_status_write(stage: Stage, case: Write) -> None:
    def script(site: Site) -> None:
        site.made(case.resource, case_object(case.resource, SPECS[case.resource]))
        check(site.patch(case.resource, "case", {"status": case.status}, "status"), case.at, 200)

    stage.play(script, case.title)
