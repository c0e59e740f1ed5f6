"""The contrast table of the CRDs: what the API takes and stores, what it refuses, and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from contract import Site, Stage
from contrast import CREATIONS, OTHER_CREATIONS, STATUS_WRITES, UPDATES, Create, Update, Write
from contrast.cases import at_path, named, run_spec
from contrast.others import template
from realcluster.client import RUNS, RUNTIMES, WORKSPACES, Answer, Object, Resource

SPECS = {
    RUNS: run_spec(),
    WORKSPACES: {"runtime": "python"},
    RUNTIMES: {"template": template({"name": "runtime", "image": "example.invalid/runtime:1"})},
}
RULES_UNCHECKED = "<nil>"
"""The field of the cause that says: the schema is not met, so the rules were not looked at."""
ALL_CREATIONS = [*CREATIONS, *OTHER_CREATIONS]


def case_object(resource: Resource, spec: Object | None) -> Object:
    return {**named(resource, spec), "metadata": {"name": "case"}}


def check_refusal(reply: Answer, at: str) -> None:
    assert (reply.status, reply.reason) == (422, "Invalid"), reply.body
    assert set(reply.fields) - {RULES_UNCHECKED} == {at} - {RULES_UNCHECKED}


def check_stored(reply: Answer, part: str, sent: Object | None, filled: Mapping[str, object]) -> None:
    assert reply.status in (200, 201), reply.body
    stored = reply.body.get(part)
    assert holds(stored, sent and {name: value for name, value in sent.items() if name not in filled})
    for path, value in filled.items():
        assert at_path(stored, path) == value, path


def holds(stored: object, sent: object) -> bool:
    """Whether everything that was sent is there, beside what the server may have filled in."""
    if isinstance(sent, dict):
        return isinstance(stored, dict) and all(holds(stored.get(name), sent[name]) for name in sent)
    if isinstance(sent, list):
        return isinstance(stored, list) and len(stored) == len(sent) and all(map(holds, stored, sent))
    return type(stored) is type(sent) and stored == sent


def titles(cases: Sequence[Create | Update | Write]) -> list[str]:
    return [case.title for case in cases]


@pytest.mark.parametrize("case", ALL_CREATIONS, ids=titles(ALL_CREATIONS))
def test_creation(stage: Stage, case: Create) -> None:
    def script(site: Site) -> None:
        reply = site.create(case.resource, case_object(case.resource, case.spec))
        if case.at is not None:
            check_refusal(reply, case.at)
        else:
            check_stored(reply, "spec", case.spec, case.filled)

    stage.play(script, case.title)


@pytest.mark.parametrize("case", UPDATES, ids=titles(UPDATES))
def test_update(stage: Stage, case: Update) -> None:
    def script(site: Site) -> None:
        before = site.made(case.resource, case_object(case.resource, case.before))
        reply = site.patch(case.resource, "case", {"spec": case.change})
        after = site.get(case.resource, "case").body
        if case.at is not None:
            check_refusal(reply, case.at)
            assert after == before
        else:
            assert (reply.status, reply.body) == (200, after)

    stage.play(script, case.title)


@pytest.mark.parametrize("case", STATUS_WRITES, ids=titles(STATUS_WRITES))
def test_status_write(stage: Stage, case: Write) -> None:
    def script(site: Site) -> None:
        site.made(case.resource, case_object(case.resource, SPECS[case.resource]))
        reply = site.patch(case.resource, "case", {"status": case.status}, "status")
        if case.at is not None:
            check_refusal(reply, case.at)
        else:
            check_stored(reply, "status", case.status, case.filled)

    stage.play(script, case.title)


def test_the_table_is_large_and_says_everything_once() -> None:
    tables = [titles(ALL_CREATIONS), titles(UPDATES), titles(STATUS_WRITES)]
    assert sum(len(table) for table in tables) > 200
    assert all(len(set(table)) == len(table) for table in tables)
