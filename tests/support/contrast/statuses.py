"""Statuses, the scheduler's own fields and those that others own."""

from __future__ import annotations

import base64

from contrast.artifacts import ARTIFACTS
from contrast.cases import REMOVED, Write
from realcluster.client import RUNTIMES, WORKSPACES, Object

NOW = "2026-01-02T03:04:05Z"


def _taken(title: str, filled: Object | None = None, **status: object) -> Write:
    return Write(title=title, status={"phase": "Running", **status}, filled=filled or {})


def _refused(title: str, at: str, **status: object) -> Write:
    return Write(title=title, status={"phase": "Running", **status}, at=f"status.{at}")


def _condition(**fields: object) -> Object:
    whole = {
        "type": "Running",
        "status": "True",
        "reason": "Started",
        "message": "",
        "lastTransitionTime": NOW,
    }
    return {name: value for name, value in {**whole, **fields}.items() if value is not None}


def _conditions(count: int) -> Object:
    return {"conditions": [_condition(type=f"example.com/C{number}") for number in range(count)]}


def _wrong(title: str, field: str, **fields: object) -> Write:
    return _refused(title, f"conditions[0].{field}", conditions=[_condition(**fields)])


def _endpoint(**fields: object) -> Object:
    return {"protocol": "HTTPS", "url": "https://10.0.0.7:8443", **fields}


def _bundle(size: int) -> str:
    return base64.b64encode(b"c" * size).decode()


_PHASES = ("Pending", "Scheduled", "Running", "Ready", "Succeeded", "Failed", "Timeout", "Cancelled")

OWN = [
    *(_taken(f"phase {phase}", phase=phase) for phase in _PHASES),
    Write(title="status without a phase", status={"message": "hello"}, filled={"phase": "Pending"}),
    _taken("message of 4,096 characters", message="ä" * 4096),
    _taken("placement", assignedPod="py-0", assignedPodUID="u" * 253),
    _taken("times", startTime=NOW, completionTime="2026-01-02T03:04:05.678+01:00"),
    _taken("no attempt yet", attempt=0),
    _taken("attempt of the largest number", attempt=2**31 - 1),
    _taken("field that nobody knows", {"future": REMOVED}, future=1),
    _refused("phase that nobody knows", "phase", phase="Paused"),
    _refused("empty phase", "phase", phase=""),
    _refused("message of 4,097 characters", "message", message="m" * 4097),
    _refused("UID of 254 characters", "assignedPodUID", assignedPodUID="u" * 254),
    _refused("time without a date", "completionTime", completionTime="03:04:05"),
    _refused("attempt in words", "attempt", attempt="first"),
    Write(title="attempt of a larger number", status={"phase": "Running", "attempt": 2**31}, at="status"),
]

CONDITIONS = [
    _taken("16 conditions", **_conditions(16)),
    _taken("longest texts", conditions=[_condition(reason="R" * 1024, message="m" * 32_768)]),
    _taken("unknown status", conditions=[_condition(status="Unknown", observedGeneration=3)]),
    _refused("17 conditions", "conditions", **_conditions(17)),
    _refused(
        "two conditions of a type", "conditions[1]", conditions=[_condition(), _condition(status="False")]
    ),
    _wrong("condition without a type", "type", type=None),
    _wrong("condition without a status", "status", status=None),
    _wrong("condition without a reason", "reason", reason=None),
    _wrong("condition without a message", "message", message=None),
    _wrong("condition without a time", "lastTransitionTime", lastTransitionTime=None),
    _wrong("status in small letters", "status", status="true"),
    _wrong("empty reason", "reason", reason=""),
    _wrong("reason in words", "reason", reason="it started"),
    _wrong("reason of 1,025 characters", "reason", reason="R" * 1025),
    _wrong("condition's message of 32,769 characters", "message", message="m" * 32_769),
    _wrong("time without a zone", "lastTransitionTime", lastTransitionTime="2026-01-02T03:04:05"),
]

OF_OTHERS = [
    _taken("64 outputs", outputs={f"o{number}": "x" for number in range(64)}),
    _taken("endpoint", endpoint=_endpoint(caBundle=_bundle(11))),
    _taken("endpoint of which nothing is known yet", endpoint={}),
    _taken("endpoint with the longest texts", endpoint=_endpoint(url="u" * 2048, caBundle=_bundle(16_384))),
    _refused("65 outputs", "outputs", outputs={f"o{number}": "x" for number in range(65)}),
    _refused("output that is a number", "outputs.rows", outputs={"rows": 7}),
    _refused("endpoint of another protocol", "endpoint.protocol", endpoint=_endpoint(protocol="HTTP")),
    _refused("URL of 2,049 characters", "endpoint.url", endpoint=_endpoint(url="u" * 2049)),
    _refused("bundle that is no base64", "endpoint.caBundle", endpoint=_endpoint(caBundle="not base64!")),
    _refused("bundle that is too large", "endpoint.caBundle", endpoint=_endpoint(caBundle=_bundle(16_387))),
]

_BOUND = {"phase": "Bound", "boundPod": "py-0", "runtime": "python", "path": "/work", "lastUsedTime": NOW}

OF_WORKSPACES = [
    Write(title="workspace: bound", status={**_BOUND, "conditions": [_condition()]}, resource=WORKSPACES),
    *(
        Write(title=f"workspace: {phase}", status={"phase": phase}, resource=WORKSPACES)
        for phase in ("Pending", "Lost", "Released")
    ),
    Write(
        title="workspace: status without a phase",
        status={"path": "/work"},
        filled={"phase": "Pending"},
        resource=WORKSPACES,
    ),
    Write(title="workspace: 16 conditions", status={**_BOUND, **_conditions(16)}, resource=WORKSPACES),
    Write(
        title="workspace: 17 conditions",
        status={**_BOUND, **_conditions(17)},
        at="status.conditions",
        resource=WORKSPACES,
    ),
    Write(
        title="workspace: phase of a Run", status={"phase": "Running"}, at="status.phase", resource=WORKSPACES
    ),
    Write(
        title="workspace: condition without a message",
        status={**_BOUND, "conditions": [_condition(message=None)]},
        at="status.conditions[0].message",
        resource=WORKSPACES,
    ),
]


def _of_a_runtime(title: str, at: str | None = None, **status: object) -> Write:
    at = None if at is None else f"status{at}"
    return Write(title=f"runtime: {title}", status=dict(status), at=at, resource=RUNTIMES)


OF_RUNTIMES = [
    _of_a_runtime("no Pod is ready", readyReplicas=0),
    _of_a_runtime("all Pods are ready", readyReplicas=2**31 - 1, conditions=[_condition(type="Available")]),
    _of_a_runtime("more conditions than a Run may have", **_conditions(17)),
    _of_a_runtime("field that nobody knows", observedGeneration=7),
    _of_a_runtime("more Pods than there are numbers", "", readyReplicas=2**31),
    _of_a_runtime("Pods in words", ".readyReplicas", readyReplicas="all"),
    _of_a_runtime(
        "condition without a message", ".conditions[0].message", conditions=[_condition(message=None)]
    ),
    _of_a_runtime("two conditions of a type", ".conditions[1]", conditions=[_condition(), _condition()]),
]

STATUS_WRITES: list[Write] = [*OWN, *CONDITIONS, *OF_OTHERS, *ARTIFACTS, *OF_WORKSPACES, *OF_RUNTIMES]
