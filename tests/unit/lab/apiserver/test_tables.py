"""Cells of tables: ages, states of Pods, and printer columns of every type."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from embedded.api import NOW
from embedded.bodies import Object, pod_body
from kruntimes_core.lab.apiserver.table_printers import (
    EVENT_COLUMNS,
    POD_COLUMNS,
    TableColumn,
    age,
    custom_columns,
    duration,
)

DAY = 86400


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "<invalid>"),
        (-0.5, "0s"),
        (0, "0s"),
        (119.9, "119s"),
        (120, "2m"),
        (200, "3m20s"),
        (600, "10m"),
        (3 * 3600 - 1, "179m"),
        (3 * 3600, "3h"),
        (3 * 3600 + 61, "3h1m"),
        (8 * 3600 + 61, "8h"),
        (2 * DAY - 1, "47h"),
        (2 * DAY + 3700, "2d1h"),
        (8 * DAY + 3700, "8d"),
        (729 * DAY, "729d"),
        (730 * DAY, "2y"),
        (800 * DAY, "2y70d"),
        (3000 * DAY, "8y"),
    ],
)
def test_spans_are_written_as_kubectl_writes_them(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_the_age_of_no_time_is_unknown() -> None:
    assert age(None, NOW) == "<unknown>"
    assert age("2026-01-02T03:04:00Z", NOW) == "5s"


def cells(columns: tuple[TableColumn, ...], obj: Object) -> list[Any]:
    return [column.cell(obj, NOW) for column in columns]


def container(state: Object, *, ready: bool = False, restarts: int = 0) -> Object:
    return {"name": "runtime", "state": state, "ready": ready, "restartCount": restarts}


@pytest.mark.parametrize(
    ("status", "shown"),
    [
        (
            {"phase": "Running", "containerStatuses": [container({"running": {}}, ready=True)]},
            "1/1 Running 0",
        ),
        (
            {"phase": "Running", "containerStatuses": [container({"running": {}}, restarts=3)]},
            "0/1 Running 3",
        ),
        (
            {
                "phase": "Pending",
                "containerStatuses": [container({"waiting": {"reason": "ImagePullBackOff"}})],
            },
            "0/1 ImagePullBackOff 0",
        ),
        (
            {"phase": "Failed", "containerStatuses": [container({"terminated": {"reason": "Error"}})]},
            "0/1 Error 0",
        ),
        ({"phase": "Failed", "reason": "Evicted"}, "0/1 Evicted 0"),
        ({"phase": "Succeeded"}, "0/1 Succeeded 0"),
    ],
)
def test_the_state_of_a_pod(status: Object, shown: str) -> None:
    assert " ".join(cells(POD_COLUMNS, {**pod_body(), "status": status})[1:4]) == shown


def test_a_pod_that_goes_is_terminating_and_its_place_is_shown() -> None:
    gates = {"readinessGates": [{"conditionType": "a"}, {"conditionType": "b"}], "nodeName": "n1"}
    pod = pod_body(spec=gates, deletionTimestamp="2026-01-02T03:04:05Z")
    pod["status"] = {
        "phase": "Running",
        "podIPs": [{"ip": "10.0.0.1"}],
        "conditions": [{"type": "a", "status": "True"}, {"type": "b", "status": "False"}],
    }
    assert cells(POD_COLUMNS, pod)[2:] == ["Terminating", "0", "<unknown>", "10.0.0.1", "n1", "<none>", "1/2"]


def test_an_event_that_repeats_shows_when_and_how_often() -> None:
    event: Object = {
        "metadata": {"name": "e"},
        "involvedObject": {"kind": "Run"},
        "message": " m ",
        "firstTimestamp": "2026-01-02T03:03:55Z",
        "lastTimestamp": "2026-01-02T03:04:00Z",
        "count": 4,
        "source": {"component": "c"},
    }
    assert cells(EVENT_COLUMNS, event) == ["5s", "", "", "run", "", "c", "m", "10s", 4, "e"]
    series = {"count": 9, "lastObservedTime": "2026-01-02T03:04:04.000000Z"}
    assert cells(EVENT_COLUMNS, {**event, "series": series})[0::8] == ["1s", 9]


@pytest.mark.parametrize(
    ("kind", "value", "cell"),
    [
        ("string", "a", "a"),
        ("string", 5, "5"),
        ("string", True, "true"),
        ("string", None, None),
        ("integer", 5, 5),
        ("integer", 5.7, 5),
        ("integer", "5", None),
        ("number", 1.5, 1.5),
        ("number", True, None),
        ("boolean", False, False),
        ("boolean", "no", None),
        ("date", "2026-01-02T03:04:00Z", "5s"),
        ("date", "soon", "<invalid>"),
        ("date", 5, None),
    ],
)
def test_a_printer_column_shows_its_type(kind: str, value: object, cell: object) -> None:
    entry = {"name": "X", "type": kind, "jsonPath": ".status.x", "priority": 1, "description": "an x"}
    name, column = custom_columns([entry])
    assert column.cell({"status": {"x": value}}, NOW) == cell
    assert column.as_object() == {
        "name": "X",
        "type": kind,
        "format": "",
        "description": "an x",
        "priority": 1,
    }
    assert name.cell({"metadata": {"name": "n"}}, NOW) == "n"


def test_a_printer_column_reaches_into_lists_and_odd_names() -> None:
    entry = {"name": "X", "type": "string", "jsonPath": ".status.list[1]['a.b']"}
    _, column = custom_columns([entry])
    assert column.cell({"status": {"list": [{}, {"a.b": "c"}]}}, NOW) == "c"
    assert column.cell({"status": {"list": []}}, NOW) is None
    assert column.cell({"status": 5}, NOW) is None


def test_a_resource_without_printer_columns_shows_its_age() -> None:
    _, column = custom_columns([])
    created = (NOW - timedelta(seconds=7)).isoformat().replace("+00:00", "Z")
    assert (column.name, column.cell({"metadata": {"creationTimestamp": created}}, NOW)) == ("Age", "7s")
