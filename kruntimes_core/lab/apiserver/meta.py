"""The metadata that the server owns: who may set what, on creation and on an update."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kruntimes_core.lab.apiserver.objects import Object, metadata_of
from kruntimes_core.lab.apiserver.status import ApiError, bad_request

_TEXTS = ("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion")
_TIMES = ("creationTimestamp", "deletionTimestamp")
_NUMBERS = ("generation", "deletionGracePeriodSeconds")
_MAPS = ("labels", "annotations")
_LISTS = ("finalizers", "ownerReferences", "managedFields")
_GO_TYPES = {str: "string", bool: "bool", int: "number", float: "number", list: "array", dict: "object"}
_KEPT_FROM_OLD = ("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation")


class Misshapen(Exception):  # noqa: N818 - it names what the metadata is, not an error of ours
    """A field of the metadata has a wrong type; the text is Go's."""


def clean(metadata: object) -> Object:
    """The metadata with the fields that every object may have, nulls and empty ones left out.

    `managedFields` are never kept. Raises `Misshapen`.
    """
    if metadata is None:
        return {}
    if not isinstance(metadata, dict):
        raise Misshapen(_text(metadata, "", "v1.ObjectMeta"))
    known: Object = {}
    for name, value in metadata.items():
        if value in (None, "", {}, []) or name in ("managedFields", "selfLink"):
            continue
        if name in _TEXTS or name in _TIMES:
            known[name] = _of_type(value, str, name, "string")
        elif name in _NUMBERS:
            known[name] = _of_type(value, int, name, "int64")
        elif name in _MAPS:
            known[name] = _texts(_of_type(value, dict, name, "map[string]string"), name)
        elif name in _LISTS:
            known[name] = _of_type(value, list, name, "[]string")
    return known


def _texts(value: Object, name: str) -> Object:
    for text in value.values():
        if not isinstance(text, str):
            raise Misshapen(_text(text, f".{name}", "string"))
    return value


def _of_type(value: Any, wanted: type, name: str, go_type: str) -> Any:
    if not isinstance(value, wanted) or isinstance(value, bool):
        raise Misshapen(_text(value, f".{name}", go_type))
    return value


def _text(value: object, path: str, go_type: str) -> str:
    given = _GO_TYPES.get(type(value), "null")
    return f"json: cannot unmarshal {given} into Go struct field ObjectMeta{path} of type {go_type}"


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
    kept = {key: value for key, value in metadata.items() if key not in _KEPT_FROM_OLD}
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
    if name is not None and said != name:
        raise bad_request(f"the name of the object ({said}) does not match the name on the URL ({name})")
    place = metadata.get("namespace") or namespace
    if not namespace or place == namespace:
        return
    if name is None:
        raise bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    raise bad_request(
        f"the namespace of the object ({place}) does not match the namespace on the request ({namespace})"
    )
