"""Statuses, the scheduler's own fields and those that others own."""

from __future__ import annotations

import base64
from typing import Any

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


# What a Run leaves behind, and where.

_FILE = {"filesystem": {"path": "out/rows.csv", "volumeClaimName": "results"}}
_LONGEST = {"filesystem": {"path": "p" * 4096, "volumeClaimName": "v" * 253}}
_LONGEST_KEY = {"s3": {"bucket": "b" * 255, "key": "k" * 4096}}
_TOO_LONG = {"filesystem": {"path": "p" * 4097}}
_OBJECT = {"s3": {"bucket": "results", "key": "team-a/rows.csv"}}


def _reference(**fields: object) -> Object:
    whole = {
        "name": "rows",
        "type": "file",
        "driver": "filesystem",
        "location": _FILE,
        "sizeBytes": 0,
        "createdAt": "2026-01-02T03:04:05Z",
    }
    return {name: value for name, value in {**whole, **fields}.items() if value is not REMOVED}


def _left(title: str, *references: Object) -> Write:
    return Write(title=title, status={"phase": "Succeeded", "artifactRefs": list(references)})


def _odd(title: str, field: str, **fields: object) -> Write:
    status = {"phase": "Succeeded", "artifactRefs": [_reference(**fields)]}
    return Write(title=title, status=status, at=f"status.artifactRefs[0].{field}")


def _s3(title: str, field: str | None = None, **settings: object) -> tuple[str, str | None, Object]:
    store = {"driver": "s3", "s3": {"bucket": "results", **settings}}
    return title, None if field is None else f".s3.{field}", store


_EVERYTHING = _reference(
    sizeBytes=2**63 - 1,
    digest="sha256:" + "0" * 249,
    contentType="text/csv",
    name="n" * 255,
)

REFERENCES = [
    _left("file with everything known about it", _EVERYTHING),
    _left("directory in a bucket", _reference(type="directory", driver="s3", location=_OBJECT)),
    _left("32 references", *[_reference()] * 32),
    _left("longest paths", _reference(location=_LONGEST)),
    _left("longest bucket and key", _reference(driver="s3", location=_LONGEST_KEY)),
    _left("file on no volume that is named", _reference(location={"filesystem": {"path": "p"}})),
    *(_left(f"a thing of the type {name}", _reference(type=name)) for name in ("archive", "blob")),
    Write(
        title="33 references",
        status={"phase": "Succeeded", "artifactRefs": [_reference()] * 33},
        at="status.artifactRefs",
    ),
    *(
        _odd(f"reference without {name}", name, **{name: REMOVED})
        for name in ("name", "type", "driver", "location", "sizeBytes", "createdAt")
    ),
    _odd("empty name", "name", name=""),
    _odd("name of 256 characters", "name", name="n" * 256),
    _odd("type that nobody knows", "type", type="socket"),
    _odd("driver that nobody knows", "driver", driver="gcs", location={}),
    _odd("file of the driver for buckets", "location", driver="s3"),
    _odd("object of the driver for files", "location", location=_OBJECT),
    _odd("two locations", "location", location={**_FILE, **_OBJECT}),
    _odd("no location", "location", location={}),
    _odd("empty path", "location.filesystem.path", location={"filesystem": {"path": ""}}),
    _odd("path of 4,097 characters", "location.filesystem.path", location=_TOO_LONG),
    _odd("file without a path", "location.filesystem.path", location={"filesystem": {}}),
    _odd(
        "claim's name of 254 characters",
        "location.filesystem.volumeClaimName",
        location={"filesystem": {"path": "p", "volumeClaimName": "v" * 254}},
    ),
    _odd("object without a bucket", "location.s3.bucket", driver="s3", location={"s3": {"key": "k"}}),
    *(
        _odd(
            f"{field} of {len(value):,} characters",
            f"location.s3.{field}",
            driver="s3",
            location={"s3": {"bucket": "b", "key": "k", field: value}},
        )
        for field, value in (("bucket", ""), ("bucket", "b" * 256), ("key", ""), ("key", "k" * 4097))
    ),
    _odd("object without a key", "location.s3.key", driver="s3", location={"s3": {"bucket": "b"}}),
    _odd("negative size", "sizeBytes", sizeBytes=-1),
    _odd("size in words", "sizeBytes", sizeBytes="1 MiB"),
    _odd("creation on no day", "createdAt", createdAt="yesterday"),
    _odd("digest of 257 characters", "digest", digest="d" * 257),
    _odd("content type of 256 characters", "contentType", contentType="c" * 256),
]

_CLAIM = {"volumeClaimName": "results"}
_LARGEST: dict[str, Any] = {
    "prefix": "p" * 1024,
    "region": "r" * 128,
    "endpoint": "e" * 2048,
    "credentialsSecretName": "c" * 253,
    "forcePathStyle": True,
    "uploadConcurrency": 2**31 - 1,
    "uploadPartSize": 2**63 - 1,
}

STORES: list[tuple[str, str | None, Object]] = [
    ("store of files", None, {"driver": "filesystem", "filesystem": _CLAIM}),
    (
        "claim without an upper bound",
        None,
        {"driver": "filesystem", "filesystem": {"volumeClaimName": "v" * 300}},
    ),
    _s3("store of objects"),
    _s3("store of objects with every setting at its largest", **_LARGEST),
    _s3("store of objects with its numbers at their smallest", uploadConcurrency=1, uploadPartSize=5 * 2**20),
    _s3("bucket without an upper bound", bucket="b" * 300),
    ("store without a driver", ".driver", {"filesystem": _CLAIM}),
    ("driver of a store that nobody knows", ".driver", {"driver": "gcs"}),
    ("settings of the other driver", "", {"driver": "s3", "filesystem": _CLAIM}),
    ("settings of no driver", "", {"driver": "filesystem"}),
    (
        "settings of both drivers",
        "",
        {"driver": "filesystem", "filesystem": _CLAIM, "s3": {"bucket": "results"}},
    ),
    (
        "store of files without a claim",
        ".filesystem.volumeClaimName",
        {"driver": "filesystem", "filesystem": {}},
    ),
    (
        "store of files with an empty claim",
        ".filesystem.volumeClaimName",
        {"driver": "filesystem", "filesystem": {"volumeClaimName": ""}},
    ),
    ("store of objects without a bucket", ".s3.bucket", {"driver": "s3", "s3": {}}),
    _s3("empty bucket", "bucket", bucket=""),
    _s3("bucket with a slash", "bucket", bucket="results/team-a"),
    _s3("prefix of 1,025 characters", "prefix", prefix="p" * 1025),
    _s3("region of 129 characters", "region", region="r" * 129),
    _s3("store's endpoint of 2,049 characters", "endpoint", endpoint="e" * 2049),
    _s3("credentials without a name", "credentialsSecretName", credentialsSecretName=""),
    _s3("credentials' name of 254 characters", "credentialsSecretName", credentialsSecretName="c" * 254),
    _s3("path style in words", "forcePathStyle", forcePathStyle="yes"),
    _s3("no upload at a time", "uploadConcurrency", uploadConcurrency=0),
    _s3("parts of less than 5 MiB", "uploadPartSize", uploadPartSize=5 * 2**20 - 1),
]
"""Title, the part at fault or None, and the store. A Run's status and a Runtime's spec hold the same."""

ARTIFACTS: list[Write] = [
    *REFERENCES,
    *(
        Write(
            title=title,
            status={"phase": "Running", "artifactStore": store},
            at=None if at is None else f"status.artifactStore{at}",
        )
        for title, at, store in STORES
    ),
]

STATUS_WRITES: list[Write] = [*OWN, *CONDITIONS, *OF_OTHERS, *ARTIFACTS, *OF_WORKSPACES, *OF_RUNTIMES]
