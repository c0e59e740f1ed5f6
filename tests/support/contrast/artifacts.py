"""What a Run leaves behind, and where: owned by others, and accepted whole."""

from __future__ import annotations

from typing import Any

from contrast.cases import REMOVED, Write
from realcluster.client import Object

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


def _wrong(title: str, field: str, **fields: object) -> Write:
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
        _wrong(f"reference without {name}", name, **{name: REMOVED})
        for name in ("name", "type", "driver", "location", "sizeBytes", "createdAt")
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
    _wrong("file without a path", "location.filesystem.path", location={"filesystem": {}}),
    _wrong(
        "claim's name of 254 characters",
        "location.filesystem.volumeClaimName",
        location={"filesystem": {"path": "p", "volumeClaimName": "v" * 254}},
    ),
    _wrong("object without a bucket", "location.s3.bucket", driver="s3", location={"s3": {"key": "k"}}),
    *(
        _wrong(
            f"{field} of {len(value):,} characters",
            f"location.s3.{field}",
            driver="s3",
            location={"s3": {"bucket": "b", "key": "k", field: value}},
        )
        for field, value in (("bucket", ""), ("bucket", "b" * 256), ("key", ""), ("key", "k" * 4097))
    ),
    _wrong("object without a key", "location.s3.key", driver="s3", location={"s3": {"bucket": "b"}}),
    _wrong("negative size", "sizeBytes", sizeBytes=-1),
    _wrong("size in words", "sizeBytes", sizeBytes="1 MiB"),
    _wrong("creation on no day", "createdAt", createdAt="yesterday"),
    _wrong("digest of 257 characters", "digest", digest="d" * 257),
    _wrong("content type of 256 characters", "contentType", contentType="c" * 256),
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
