"""The metadata that the server owns: who may set what, on creation and on an update."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kruntimes_core.lab.apiserver.objects import Object, metadata_of
from kruntimes_core.lab.apiserver.status import ApiError, bad_request

_GO_TYPES: Mapping[str, tuple[type, str]] = {
    **dict.fromkeys(
        ("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion"), (str, "string")
    ),
    **dict.fromkeys(("creationTimestamp", "deletionTimestamp"), (str, "string")),
    **dict.fromkeys(("generation", "deletionGracePeriodSeconds"), (int, "int64")),
    **dict.fromkeys(("labels", "annotations"), (dict, "map[string]string")),
    **dict.fromkeys(("finalizers", "ownerReferences", "managedFields"), (list, "[]string")),
}
"""What the metadata of any object may hold: the type in JSON, and in Go."""
_NEVER_KEPT = ("managedFields", "selfLink")
_JSON_TYPES = {str: "string", bool: "bool", int: "number", float: "number", list: "array", dict: "object"}
_KEPT_FROM_OLD = ("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation")


class Misshapen(Exception):  # noqa: N818 - it names what the metadata is, not an error of ours
    """A field of the metadata has a wrong type; the text is Go's."""


def clean(metadata: object, unknown: list[str], owner: str = "") -> Object:
    """The metadata with the fields that every object may have, nulls and empty ones left out.

    `managedFields` are never kept. unknown: takes the paths of unknown fields. owner: the name of the Go
    type that holds the metadata, empty for a custom resource. Raises `Misshapen`.
    """
    if metadata is None:
        return {}
    if not isinstance(metadata, dict):
        raise Misshapen(_wrong(metadata, f"{owner}.metadata" if owner else "", "v1.ObjectMeta"))
    known: Object = {}
    struct = "ObjectMeta.metadata" if owner else "ObjectMeta"
    for name, value in metadata.items():
        if name not in _GO_TYPES:
            unknown.append(f"metadata.{name}")
        elif value not in (None, "", {}, []) and name not in _NEVER_KEPT:
            known[name] = _read(value, name, f"{struct}.{name}")
    return known


def _read(value: Any, name: str, path: str) -> Any:
    wanted, go_type = _GO_TYPES[name]
    if not isinstance(value, wanted) or isinstance(value, bool):
        raise Misshapen(_wrong(value, path, go_type))
    for text in value.values() if isinstance(value, dict) else ():
        if not isinstance(text, str):
            raise Misshapen(_wrong(text, path, "string"))
    return value


def _wrong(value: object, path: str, go_type: str) -> str:
    """What Go says of a value that a field cannot hold; path: empty for what is no field."""
    into = f"Go struct field {path}" if path else "Go value"
    return f"json: cannot unmarshal {_JSON_TYPES.get(type(value), 'null')} into {into} of type {go_type}"


def for_creation(metadata: Mapping[str, Any], namespace: str, uid: str, now: str, name: str) -> Object:
    """What a new object gets. Raises `ApiError` when a resourceVersion is set."""
    if metadata.get("resourceVersion") not in (None, "", "0"):
        raise ApiError(500, "", "resourceVersion should not be set on objects to be created")
    dropped = ("resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds", "generation")
    kept = {key: value for key, value in metadata.items() if key not in dropped}
    created = {**kept, "name": name, "uid": uid, "creationTimestamp": now}
    return {**created, "namespace": namespace} if namespace else created


def for_update(metadata: Mapping[str, Any], old: Mapping[str, Any]) -> Object:
    """The metadata of an update, with what only the server sets taken from the standing object."""
    kept = {key: value for key, value in metadata.items() if key not in ("creationTimestamp", "generation")}
    kept.setdefault("uid", old.get("uid"))
    if "namespace" in old:
        kept.setdefault("namespace", old["namespace"])
    kept["resourceVersion"] = old.get("resourceVersion")
    return {**kept, **{key: old[key] for key in _KEPT_FROM_OLD if key in old}}


def check_place(obj: Mapping[str, Any], namespace: str, name: str | None) -> None:
    """That an object says the name and namespace of the path. name: None where the path has none.

    Raises `ApiError` (400).
    """
    metadata = metadata_of(obj)
    said = metadata.get("name", "")
    if name is not None and not said:
        raise bad_request(
            f"the name of the object ({name} based on URL) was undeterminable: name must be provided"
        )
    if name is not None and said != name:
        raise bad_request(f"the name of the object ({said}) does not match the name on the URL ({name})")
    place = metadata.get("namespace") or namespace
    if not namespace or place == namespace:
        return
    raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
