"""What may be a name, a label or an annotation key; the words are those of `apimachinery`'s checks.

The metadata that the server owns: who may set what, on creation and on an update.

What is wrong with an object's metadata, for every kind alike.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kruntimes_core.lab.apiserver.errors import (
    ApiError,
    FieldError,
    bad_request,
    forbidden,
    invalid,
    quote,
    required,
    too_long,
)
from kruntimes_core.lab.apiserver.objects import Object, metadata_of

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_KEY})?"
_IS_LABEL, _IS_SUBDOMAIN, _IS_KEY, _IS_VALUE = map(re.compile, (_LABEL, _SUBDOMAIN, _KEY, _VALUE))
_KEY_WORDS = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character"
)
_KEY_EXAMPLES = f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_KEY}')"
_RANDOM_CHARACTERS = "bcdfghjklmnpqrstvwxz2456789"
_GENERATED_LENGTH = 63


def problems_of_subdomain(name: str) -> Iterator[str]:
    """Why `name` is no DNS-1123 subdomain; nothing when it is one."""
    if len(name) > 253:
        yield "must be no more than 253 characters"
    if not _IS_SUBDOMAIN.fullmatch(name):
        yield (
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
            "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
            f"for validation is '{_SUBDOMAIN}')"
        )


def problems_of_label(name: str) -> Iterator[str]:
    """Why `name` is no DNS-1123 label; nothing when it is one."""
    if len(name) > 63:
        yield "must be no more than 63 characters"
    if _IS_LABEL.fullmatch(name):
        return
    if _IS_SUBDOMAIN.fullmatch(name):
        yield "must not contain dots"
        return
    yield (
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must "
        "start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
        f"validation is '{_LABEL}')"
    )


def problems_of_key(key: str) -> Iterator[str]:
    """Why `key` is no qualified name: a name with an optional DNS prefix before a slash."""
    prefix, separator, name = key.rpartition("/")
    if "/" in prefix:
        yield (
            f"a valid label key {_KEY_WORDS} {_KEY_EXAMPLES} with an optional DNS subdomain prefix and "
            "'/' (e.g. 'example.com/MyName')"
        )
        return
    if separator and not prefix:
        yield "prefix part must be non-empty"
    elif separator:
        yield from (f"prefix part {problem}" for problem in problems_of_subdomain(prefix))
    if not name:
        yield "name part must be non-empty"
    elif len(name) > 63:
        yield "name part must be no more than 63 bytes"
    if not _IS_KEY.fullmatch(name):
        yield f"name part {_KEY_WORDS} {_KEY_EXAMPLES}"


def problems_of_value(value: str) -> Iterator[str]:
    """Why `value` is no value of a label; nothing when it is one."""
    if len(value) > 63:
        yield "must be no more than 63 bytes"
    if not _IS_VALUE.fullmatch(value):
        yield (
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
            "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
            f"'my_value',  or '12345', regex used for validation is '{_VALUE}')"
        )


def generated(base: str, source: random.Random) -> str:
    """A name for `generateName`: the base, cut so that it fits, and five random characters."""
    ending = "".join(source.choices(_RANDOM_CHARACTERS, k=5))
    return base[: _GENERATED_LENGTH - len(ending)] + ending


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


def clean_metadata(metadata: object, unknown: list[str], owner: str = "") -> Object:
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


def metadata_of_new(metadata: Mapping[str, Any], namespace: str, uid: str, now: str, name: str) -> Object:
    """What a new object gets. Raises `ApiError` when a resourceVersion is set."""
    if metadata.get("resourceVersion") not in (None, "", "0"):
        raise ApiError(500, "", "resourceVersion should not be set on objects to be created")
    dropped = ("resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds", "generation")
    kept = {key: value for key, value in metadata.items() if key not in dropped}
    created = {**kept, "name": name, "uid": uid, "creationTimestamp": now}
    return {**created, "namespace": namespace} if namespace else created


def metadata_of_changed(metadata: Mapping[str, Any], old: Mapping[str, Any]) -> Object:
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


NameProblems = Callable[[str], Iterator[str]]
_MAX_ANNOTATIONS_BYTES = 256 * 1024
_IMMUTABLE = ("name", "namespace", "uid", "deletionTimestamp", "deletionGracePeriodSeconds")
_OWNER_FIELDS = ("apiVersion", "kind", "name", "uid")


def problems_of_new(metadata: Mapping[str, Any], name_problems: NameProblems) -> Iterator[FieldError]:
    """What is wrong with the metadata of an object that is to be created."""
    base = metadata.get("generateName", "")
    # A dash at the end is what most bases have; it never stays the last character.
    masked = base[:-1] + "a" if len(base) > 1 and base.endswith("-") else base
    if base:
        yield from (invalid("metadata.generateName", base, problem) for problem in name_problems(masked))
    name = metadata.get("name", "")
    if not name:
        yield required("metadata.name", "name or generateName is required")
    else:
        yield from (invalid("metadata.name", name, problem) for problem in name_problems(name))
    yield from _of_any(metadata)
    for finalizer in metadata.get("finalizers", ()):
        yield from (invalid("metadata.finalizers", finalizer, text) for text in problems_of_key(finalizer))


def problems_of_changed(metadata: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[FieldError]:
    """What is wrong with the metadata of an update, as often as the checks of the real server find it."""
    yield from _of_any(metadata)
    yield from [*_of_change(metadata, old)] * 2


def _of_change(metadata: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[FieldError]:
    if "deletionTimestamp" in old:
        added = sorted(set(metadata.get("finalizers", ())) - set(old.get("finalizers", ())))
        if added:
            listed = "[]string{" + ", ".join(map(quote, added)) + "}"
            problem = "no new finalizers can be added if the object is being deleted, found new finalizers "
            yield forbidden("metadata.finalizers", problem + listed)
    for field in _IMMUTABLE:
        if metadata.get(field) != old.get(field):
            yield invalid(f"metadata.{field}", metadata.get(field), "field is immutable")
    yield from _of_any(metadata)


def _of_any(metadata: Mapping[str, Any]) -> Iterator[FieldError]:
    for key, value in metadata.get("labels", {}).items():
        yield from (invalid("metadata.labels", key, problem) for problem in problems_of_key(key))
        yield from (invalid("metadata.labels", value, problem) for problem in problems_of_value(value))
    yield from _of_annotations(metadata.get("annotations", {}))
    for place, owner in enumerate(metadata.get("ownerReferences", ())):
        for field in _OWNER_FIELDS:
            if not isinstance(owner, dict) or not owner.get(field):
                yield required(f"metadata.ownerReferences[{place}].{field}", "must not be empty")


def _of_annotations(annotations: Mapping[str, str]) -> Iterator[FieldError]:
    size = 0
    for key, value in annotations.items():
        problems = problems_of_key(key.lower())
        yield from (invalid("metadata.annotations", key, problem) for problem in problems)
        size += len(key.encode()) + len(value.encode())
    if size > _MAX_ANNOTATIONS_BYTES:
        yield too_long("metadata.annotations", _MAX_ANNOTATIONS_BYTES)
