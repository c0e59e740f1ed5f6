"""The metadata of every object: valid names and labels, what only the server sets, what may change."""

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
    required,
    too_long,
)
from kruntimes_core.lab.apiserver.objects import Object, metadata_of

NameProblems = Callable[[str], Iterator[str]]
_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_KEY_CHARACTERS = (
    "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)
_RANDOM_CHARACTERS = "bcdfghjklmnpqrstvwxz2456789"
_GENERATED_LENGTH = 63
_TYPES: Mapping[str, type] = {
    **dict.fromkeys(("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion"), str),
    **dict.fromkeys(("creationTimestamp", "deletionTimestamp"), str),
    **dict.fromkeys(("generation", "deletionGracePeriodSeconds"), int),
    **dict.fromkeys(("labels", "annotations"), dict),
    **dict.fromkeys(("finalizers", "ownerReferences", "managedFields"), list),
}
"""What the metadata of any object may hold."""
_TYPE_NAMES = {str: "a string", int: "an integer", dict: "an object of strings", list: "a list"}
_NEVER_KEPT = ("managedFields", "selfLink")
_KEPT_FROM_OLD = ("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation")
_MAX_ANNOTATIONS_BYTES = 256 * 1024
_IMMUTABLE = ("name", "namespace", "uid", "deletionTimestamp", "deletionGracePeriodSeconds")
_OWNER_FIELDS = ("apiVersion", "kind", "name", "uid")


# Names, keys and values


def problems_of_subdomain(name: str) -> Iterator[str]:
    """Why `name` is not a DNS-1123 subdomain; nothing when it is one."""
    if len(name) > 253:
        yield "must be no more than 253 characters"
    if not re.fullmatch(_SUBDOMAIN, name):
        yield (
            "must consist of lower case alphanumeric characters, '-' or '.', and must start and end with "
            "an alphanumeric character"
        )


def problems_of_label(name: str) -> Iterator[str]:
    """Why `name` is not a DNS-1123 label; nothing when it is one."""
    if len(name) > 63:
        yield "must be no more than 63 characters"
    if not re.fullmatch(_LABEL, name):
        yield (
            "must consist of lower case alphanumeric characters or '-', and must start and end with an "
            "alphanumeric character"
        )


def problems_of_key(key: str) -> Iterator[str]:
    """Why `key` is not a qualified name: a name with an optional DNS prefix before a slash."""
    prefix, separator, name = key.rpartition("/")
    if "/" in prefix:
        yield "must be a name with at most one prefix before a '/', such as 'example.com/my-name'"
        return
    if separator and not prefix:
        yield "prefix part must be non-empty"
    elif separator:
        yield from (f"prefix part {problem}" for problem in problems_of_subdomain(prefix))
    if not name:
        yield "name part must be non-empty"
    elif len(name) > 63:
        yield "name part must be no more than 63 bytes"
    if not re.fullmatch(_KEY, name):
        yield f"name part must consist of {_KEY_CHARACTERS}"


def problems_of_value(value: str) -> Iterator[str]:
    """Why `value` is not a value of a label; nothing when it is one."""
    if len(value) > 63:
        yield "must be no more than 63 bytes"
    if value and not re.fullmatch(_KEY, value):
        yield f"must be empty or consist of {_KEY_CHARACTERS}"


def generated(base: str, source: random.Random) -> str:
    """A name for `generateName`: the base, cut so that it fits, and five random characters."""
    ending = "".join(source.choices(_RANDOM_CHARACTERS, k=5))
    return base[: _GENERATED_LENGTH - len(ending)] + ending


# Reading


class Misshapen(Exception):  # noqa: N818 - it names what the object is, not an error of ours
    """A field has a type that cannot be read; the text names the field."""


def clean_metadata(metadata: object, unknown: list[str]) -> Object:
    """The metadata with the fields that every object may have, nulls and empty ones left out.

    `managedFields` are never kept. unknown: takes the paths of unknown fields. Raises `Misshapen`.
    """
    if metadata is None:
        return {}
    if not isinstance(metadata, dict):
        raise Misshapen(f"metadata must be an object, not {metadata!r}")
    known: Object = {}
    for name, value in metadata.items():
        if name not in _TYPES:
            unknown.append(f"metadata.{name}")
        elif value not in (None, "", {}, []) and name not in _NEVER_KEPT:
            _check_type(name, value)
            known[name] = value
    return known


def _check_type(name: str, value: Any) -> None:
    wanted = _TYPES[name]
    texts = value.values() if isinstance(value, dict) else ()
    if not isinstance(value, wanted) or isinstance(value, bool) or not all(isinstance(t, str) for t in texts):
        raise Misshapen(f"metadata.{name} must be {_TYPE_NAMES[wanted]}, not {value!r}")


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
    said, place = metadata.get("name", ""), metadata.get("namespace") or namespace
    if name is not None and said != name:
        problem = f"metadata.name ({said}) must be the name in the path ({name})"
        raise bad_request(problem if said else f"metadata.name is required: the path names {name}")
    if namespace and place != namespace:
        raise bad_request(f"metadata.namespace ({place}) must be the namespace in the path ({namespace})")


# Validating


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
    yield from _problems_of_any(metadata)
    for finalizer in metadata.get("finalizers", ()):
        yield from (invalid("metadata.finalizers", finalizer, text) for text in problems_of_key(finalizer))


def problems_of_changed(metadata: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[FieldError]:
    """What is wrong with the metadata of an update."""
    yield from _problems_of_any(metadata)
    added = set(metadata.get("finalizers", ())) - set(old.get("finalizers", ()))
    if "deletionTimestamp" in old and added:
        listed = ", ".join(sorted(added))
        problem = f"no new finalizers can be added if the object is being deleted: {listed}"
        yield forbidden("metadata.finalizers", problem)
    for field in _IMMUTABLE:
        if metadata.get(field) != old.get(field):
            yield invalid(f"metadata.{field}", metadata.get(field), "field is immutable")


def _problems_of_any(metadata: Mapping[str, Any]) -> Iterator[FieldError]:
    for key, value in metadata.get("labels", {}).items():
        yield from (invalid("metadata.labels", key, problem) for problem in problems_of_key(key))
        yield from (invalid("metadata.labels", value, problem) for problem in problems_of_value(value))
    size = 0
    for key, value in metadata.get("annotations", {}).items():
        problems = problems_of_key(key.lower())
        yield from (invalid("metadata.annotations", key, problem) for problem in problems)
        size += len(key.encode()) + len(value.encode())
    if size > _MAX_ANNOTATIONS_BYTES:
        yield too_long("metadata.annotations", _MAX_ANNOTATIONS_BYTES)
    for place, owner in enumerate(metadata.get("ownerReferences", ())):
        for field in _OWNER_FIELDS:
            if not isinstance(owner, dict) or not owner.get(field):
                yield required(f"metadata.ownerReferences[{place}].{field}", "must not be empty")
