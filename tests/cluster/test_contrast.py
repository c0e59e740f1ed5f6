"""The contrast table against a server: what it takes and stores, what it refuses, and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from contrast import CREATIONS, OTHER_CREATIONS, STATUS_WRITES, UPDATES, Create, Update, Write
from contrast.cases import at_path, named, run_spec
from realcluster.client import RUNS, WORKSPACES, Answer, Client, Object

RULES_UNCHECKED = "<nil>"
"""The field of the cause that says: the schema is not met, so the rules were not looked at."""

ALL_CREATIONS = [*CREATIONS, *OTHER_CREATIONS]
SPECS = {RUNS: run_spec(), WORKSPACES: {"runtime": "python"}}


def titles(cases: Sequence[Create | Update | Write]) -> list[str]:
    return [case.title for case in cases]


def made(server: Client, obj: Object, namespace: str, case: Create | Update | Write) -> str:
    resource = RUNS if isinstance(case, Update) else case.resource
    answer = server.create(resource, obj, namespace)
    assert answer.status == 201, answer.body
    return str(answer.body["metadata"]["name"])


def check_refusal(answer: Answer, at: str) -> None:
    assert answer.status == 422, answer.body
    assert answer.body["reason"] == "Invalid"
    fields = {cause["field"] for cause in answer.body["details"]["causes"]}
    assert fields - {RULES_UNCHECKED} == {at}


def check_stored(stored: Object, sent: Object, filled: Mapping[str, object]) -> None:
    assert holds(stored, {name: value for name, value in sent.items() if name not in filled})
    for path, value in filled.items():
        assert at_path(stored, path) == value, path


def holds(stored: object, sent: object) -> bool:
    """Whether everything that was sent is there, beside what the server may have filled in."""
    if isinstance(sent, dict):
        return isinstance(stored, dict) and all(holds(stored.get(name), sent[name]) for name in sent)
    if isinstance(sent, list):
        return isinstance(stored, list) and len(stored) == len(sent) and all(map(holds, stored, sent))
    return type(stored) is type(sent) and stored == sent


@pytest.mark.parametrize("case", ALL_CREATIONS, ids=titles(ALL_CREATIONS))
def test_creation(server: Client, namespace: str, case: Create) -> None:
    answer = server.create(case.resource, case.object, namespace)
    if case.at is not None:
        check_refusal(answer, case.at)
        return
    assert answer.status == 201, answer.body
    stored = server.get(case.resource, answer.body["metadata"]["name"], namespace).body["spec"]
    check_stored(stored, case.spec, case.filled)


@pytest.mark.parametrize("case", UPDATES, ids=titles(UPDATES))
def test_update(server: Client, namespace: str, case: Update) -> None:
    name = made(server, named(RUNS, case.before), namespace, case)
    before = server.get(RUNS, name, namespace).body
    answer = server.patch(RUNS, name, {"spec": case.change}, namespace)
    if case.at is not None:
        check_refusal(answer, case.at)
        assert server.get(RUNS, name, namespace).body == before
    else:
        assert answer.status == 200, answer.body
        assert server.get(RUNS, name, namespace).body == answer.body


@pytest.mark.parametrize("case", STATUS_WRITES, ids=titles(STATUS_WRITES))
def test_status_write(server: Client, namespace: str, case: Write) -> None:
    name = made(server, named(case.resource, SPECS[case.resource]), namespace, case)
    answer = server.patch(case.resource, name, {"status": case.status}, namespace, "status")
    if case.at is not None:
        check_refusal(answer, case.at)
        return
    assert answer.status == 200, answer.body
    stored = server.get(case.resource, name, namespace).body["status"]
    assert stored == answer.body["status"]
    check_stored(stored, case.status, case.filled)


def test_the_table_is_large_and_says_everything_once() -> None:
    tables = [titles(ALL_CREATIONS), titles(UPDATES), titles(STATUS_WRITES)]
    assert sum(len(table) for table in tables) > 200
    assert all(len(set(table)) == len(table) for table in tables)
