"""From the body of a write, or from what a patch made, to an object of its resource."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from kruntimes_core.lab.apiserver.errors import (
    OMITTED,
    ApiError,
    bad_request,
    internal,
    invalid,
    invalid_object,
)
from kruntimes_core.lab.apiserver.kinds.strategy import Decoded, Resource
from kruntimes_core.lab.apiserver.metadata import Misshapen
from kruntimes_core.lab.apiserver.objects import Object
from kruntimes_core.lab.apiserver.requests import IGNORE, STRICT, WriteOptions
from kruntimes_core.lab.apiserver.schema import child, index


def read(resource: Resource, body: Any, old: Object | None, options: WriteOptions) -> Decoded:
    """The object of a request. Raises `ApiError` (400) when it cannot be one of this resource."""
    body = _recognized(resource, body)
    try:
        shown = resource.strategy.from_storage(old) if old is not None else None
        decoded = resource.strategy.decode(body, shown)
    except Misshapen as problem:
        raise bad_request(f"the body is not a valid {resource.kind}: {problem}") from problem
    complaints = _complaints(decoded, options)
    if options.field_validation == STRICT and complaints:
        raise bad_request(f"the body is not a valid {resource.kind}: {', '.join(complaints)}")
    return decoded


def _recognized(resource: Resource, body: Any) -> Object:
    """The object with its kind and apiVersion: a built-in kind may leave them to the path.

    Raises `ApiError` (400).
    """
    if not isinstance(body, dict | None):
        raise bad_request(f"the body must be an object of the kind {resource.kind}, not {body!r}")
    found: Object = body or {}
    for name, wanted in (("apiVersion", resource.api_version), ("kind", resource.kind)):
        given = found.get(name)
        if resource.typed and not given:
            found = {**found, name: wanted}
        # A custom resource of another kind is an invalid one: its strategy says so.
        elif given != wanted and not (given and name == "kind" and not resource.typed):
            raise bad_request(f"{name} must be {wanted}, not {given}" if given else f"{name} is required")
    return found


def read_patched(resource: Resource, patched: Object, shown: Object, options: WriteOptions) -> Decoded:
    """What a patch made of an object. Raises `ApiError` (422, 500) when it is of this resource no more."""
    for name, wanted in (("kind", resource.kind), ("apiVersion", resource.api_version)):
        if not resource.typed and not patched.get(name):
            raise internal(f"the patch leaves the object without {name}")
        if resource.typed and patched.get(name) != wanted:
            raise _bad_patch(f"{name} must be {wanted}")
    try:
        decoded = resource.strategy.decode(patched, shown)
    except Misshapen as problem:
        raise _bad_patch(str(problem)) from problem
    if decoded.unknown and options.field_validation == STRICT:
        raise _bad_patch(", ".join(_complaints(decoded, options)))
    return decoded


def _bad_patch(problem: str) -> ApiError:
    return invalid_object("", "", "", [invalid("patch", OMITTED, problem)])


def _complaints(decoded: Decoded, options: WriteOptions) -> tuple[str, ...]:
    return (
        *(f'duplicate field "{path}"' for path in options.repeated),
        *(f'unknown field "{path}"' for path in decoded.unknown),
    )


def warnings_of(decoded: Decoded, options: WriteOptions) -> tuple[str, ...]:
    """What a client is warned of: fields that are said twice, or unknown."""
    return () if options.field_validation == IGNORE else _complaints(decoded, options)


def repeated_fields(body: bytes) -> tuple[str, ...]:
    """The paths of the fields that a JSON text says again, in order. Raises `ValueError`."""
    found: dict[int, list[str]] = {}

    def read_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        obj = dict(pairs)
        if len(obj) != len(pairs):
            names = [name for name, _ in pairs]
            found[id(obj)] = [name for place, name in enumerate(names) if name in names[:place]]
        return obj

    # The root keeps every object alive, so that no id is used twice.
    root = json.loads(body, object_pairs_hook=read_pairs)
    return tuple(_paths(root, "", found)) if found else ()


def _paths(value: Any, path: str, found: Mapping[int, list[str]]) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (child(path, name) for name in found.get(id(value), ()))
        for name, below in value.items():
            yield from _paths(below, child(path, name), found)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _paths(item, index(path, place), found)
