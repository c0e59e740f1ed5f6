"""What a Run leaves behind, and where: owned by others, and accepted whole."""

from __future__ import annotations

from contrast.cases import Write
from realcluster.client import Object

_FILE = {"filesystem": {"path": "out/rows.csv", "volumeClaimName": "results"}}
_LONGEST = {"filesystem": {"path": "p" * 4096, "volumeClaimName": "v" * 253}}
_TOO_LONG = {"filesystem": {"path": "p" * 4097}}
_OBJECT = {"s3": {"bucket": "results", "key": "team-a/rows.csv"}}


def _reference(**fields: object) -> Object:
    return {"name": "rows", "type": "file", "driver": "filesystem", "location": _FILE, **fields}


def _left(title: str, *references: Object) -> Write:
    return Write(title=title, status={"phase": "Succeeded", "artifactRefs": list(references)})


def _wrong(title: str, field: str, **fields: object) -> Write:
    status = {"phase": "Succeeded", "artifactRefs": [_reference(**fields)]}
    return Write(title=title, status=status, at=f"status.artifactRefs[0].{field}")


def _stored(title: str, at: str | None = None, **store: object) -> Write:
    status = {"phase": "Running", "artifactStore": store}
    return Write(title=title, status=status, at=None if at is None else f"status.artifactStore{at}")


def _s3(title: str, field: str | None = None, **settings: object) -> Write:
    at = None if field is None else f".s3.{field}"
    return _stored(title, at, driver="s3", s3={"bucket": "results", **settings})


_EVERYTHING = _reference(
    sizeBytes=0,
    createdAt="2026-01-02T03:04:05Z",
    digest="sha256:" + "0" * 249,
    contentType="text/csv",
    name="n" * 255,
)

REFERENCES = [
    _left("file with everything known about it", _EVERYTHING),
    _left("directory in a bucket", _reference(type="directory", driver="s3", location=_OBJECT)),
    _left("32 references", *[_reference()] * 32),
    _left(
        "longest paths",
        _reference(location=_LONGEST),
    ),
    Write(
        title="33 references",
        status={"phase": "Succeeded", "artifactRefs": [_reference()] * 33},
        at="status.artifactRefs",
    ),
    _wrong("empty name", "name", name=""),
    _wrong("name of 256 characters", "name", name="n" * 256),
    _wrong("type that nobody knows", "type", type="socket"),
    _wrong("driver that nobody knows", "driver", driver="gcs", location={}),
    _wrong("file of the driver for buckets", "location", driver="s3"),
    _wrong("object of the driver for files", "location", location=_OBJECT),
    _wrong("two locations", "location", location={**_FILE, **_OBJECT}),
    _wrong("no location", "location", location={}),
    _wrong("empty path", "location.filesystem.path", location={"filesystem": {"path": ""}}),
    _wrong("path of 4,097 characters", "location.filesystem.path", location=_TOO_LONG),
    _wrong("object without a key", "location.s3.key", driver="s3", location={"s3": {"bucket": "b"}}),
    _wrong("negative size", "sizeBytes", sizeBytes=-1),
    _wrong("size in words", "sizeBytes", sizeBytes="1 MiB"),
    _wrong("creation on no day", "createdAt", createdAt="yesterday"),
    _wrong("digest of 257 characters", "digest", digest="d" * 257),
    _wrong("content type of 256 characters", "contentType", contentType="c" * 256),
]

STORES = [
    _stored("store of files", driver="filesystem", filesystem={"volumeClaimName": "results"}),
    _s3("store of objects"),
    _s3(
        "store of objects with every setting",
        prefix="p" * 1024,
        region="r" * 128,
        endpoint="e" * 2048,
        credentialsSecretName="c" * 253,
        forcePathStyle=True,
        uploadConcurrency=1,
        uploadPartSize=5 * 2**20,
    ),
    _stored("settings of the other driver", "", driver="s3", filesystem={"volumeClaimName": "results"}),
    _stored(
        "settings of both drivers",
        "",
        driver="filesystem",
        filesystem={"volumeClaimName": "results"},
        s3={"bucket": "results"},
    ),
    _stored("store without a driver", ".driver", filesystem={"volumeClaimName": "results"}),
    _s3("bucket with a slash", "bucket", bucket="results/team-a"),
    _s3("prefix of 1,025 characters", "prefix", prefix="p" * 1025),
    _s3("region of 129 characters", "region", region="r" * 129),
    _s3("store's endpoint of 2,049 characters", "endpoint", endpoint="e" * 2049),
    _s3("credentials without a name", "credentialsSecretName", credentialsSecretName=""),
    _s3("no upload at a time", "uploadConcurrency", uploadConcurrency=0),
    _s3("parts of less than 5 MiB", "uploadPartSize", uploadPartSize=5 * 2**20 - 1),
]

ARTIFACTS: list[Write] = [*REFERENCES, *STORES]
