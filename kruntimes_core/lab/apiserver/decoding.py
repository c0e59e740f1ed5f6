"""Fields that a body says twice: a JSON text may, an object cannot, and a client is told.

Whether a body is an object of the resource that it was sent to, with a kube-apiserver's words if not.

A Go type may leave out what it is: the path says that. A custom resource must say it.

From the body of a write, or what a patch made, to an object of its resource; or what is wrong with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from kruntimes_core.lab.apiserver.errors import (
    ApiError,
    bad_request,
    internal,
    invalid_object,
    marshal,
    printed,
    quote,
)
from kruntimes_core.lab.apiserver.errors import invalid as invalid_field
from kruntimes_core.lab.apiserver.kinds.strategy import STRATEGIC, Decoded, Resource
from kruntimes_core.lab.apiserver.metadata import Misshapen
from kruntimes_core.lab.apiserver.objects import Object
from kruntimes_core.lab.apiserver.requests import IGNORE, STRICT, Patch, WriteOptions
from kruntimes_core.lab.apiserver.schema import child, index

_Repeats = Mapping[int, list[str]]


def repeated_fields(body: bytes) -> tuple[str, ...]:
    """The paths of the fields that a JSON text says again, in order. Raises `ValueError`."""
    found: dict[int, list[str]] = {}

    def read(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        obj = dict(pairs)
        if len(obj) != len(pairs):
            names = [name for name, _ in pairs]
            found[id(obj)] = [name for place, name in enumerate(names) if name in names[:place]]
        return obj

    # The root keeps every object alive, so that no id is used twice.
    root = json.loads(body, object_pairs_hook=read)
    return tuple(_paths(root, "", found)) if found else ()


def _paths(value: Any, path: str, found: _Repeats) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (child(path, name) for name in found.get(id(value), ()))
        for name, below in value.items():
            yield from _paths(below, child(path, name), found)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _paths(item, index(path, place), found)


_SHOWN_BYTES = 30
_GO_NAMES = {list: "array", str: "string", bool: "bool", int: "number", float: "number"}
_GO_TYPE = (
    r'struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }'
)


def unreadable(resource: Resource, body: bytes, error: ValueError) -> ApiError:
    """400 for a body that is no JSON."""
    problem = "unexpected end of JSON input" if str(error).startswith("EOF ") else str(error)
    return _no_version(resource, body, problem)


def recognised(resource: Resource, found: Any, body: bytes) -> Object:
    """The object with its kind and apiVersion; body: the text that it came in. Raises `ApiError` (400)."""
    if found is None:
        found = {}
    if not isinstance(found, dict):
        problem = f"json: cannot unmarshal {_GO_NAMES[type(found)]} into Go value of type {_GO_TYPE}"
        raise _no_version(resource, body, problem)
    if resource.typed:
        return _typed(resource, found)
    kind, api_version = found.get("kind"), found.get("apiVersion")
    if not isinstance(kind, str) or not kind:
        text = body.decode("utf-8", "replace")
        raise _unrecognised(resource, body, f"Object 'Kind' is missing in '{text}'")
    if api_version != resource.api_version:
        raise bad_request(
            f"the API version in the data ({api_version or ''}) does not match the expected API version "
            f"({resource.api_version})"
        )
    return found


def _typed(resource: Resource, found: Object) -> Object:
    named = {"apiVersion": resource.api_version, "kind": resource.kind}
    said = {name: found[name] for name in named if found.get(name)}
    kind, api_version = {**named, **said}["kind"], {**named, **said}["apiVersion"]
    if (kind, api_version) != (resource.kind, resource.api_version):
        version = api_version.rpartition("/")[2]
        raise bad_request(
            f'{kind} in version "{version}" cannot be handled as a {resource.kind}: no kind {quote(kind)} '
            f"is registered for version {quote(api_version)}"
        )
    return {**found, **named}


def _no_version(resource: Resource, body: bytes, problem: str) -> ApiError:
    return _unrecognised(resource, body, f"couldn't get version/kind; json parse error: {problem}")


def _unrecognised(resource: Resource, body: bytes, problem: str) -> ApiError:
    what = f"the object provided is unrecognized (must be of type {resource.kind})"
    return bad_request(f"{what}: {problem} ({_summary(body)})")


def _summary(body: bytes) -> str:
    """The beginning of a body, as the API server shows it: in hexadecimal unless it looks like an object."""
    if not body:
        return "<empty>"
    shown = body[:_SHOWN_BYTES]
    text = shown.decode("utf-8", "replace") if body.startswith(b"{") else shown.hex()
    return text if len(body) <= _SHOWN_BYTES else f"{text} ..."


def read(resource: Resource, body: Any, old: Object | None, options: WriteOptions) -> Decoded:
    """The object of a request. Raises `ApiError` (400) when it cannot be one of this resource."""
    body = recognised(resource, body, marshal(body).encode())
    kind = body["kind"] if resource.typed else resource.kind
    what = f'{kind} in version "{resource.version}" cannot be handled as a {resource.kind}'
    try:
        shown = resource.strategy.from_storage(old) if old is not None else None
        decoded = resource.strategy.decode(body, shown)
    except Misshapen as problem:
        raise bad_request(f"{what}: {problem}") from problem
    if options.field_validation == STRICT and _complaints(decoded, options):
        raise bad_request(f"{what}: {_strictly(decoded, options)}")
    return decoded


def read_patched(
    resource: Resource, patch: Patch, patched: Object, shown: Object, options: WriteOptions
) -> Decoded:
    """What a patch made of an object. Raises `ApiError` (422, 500) when it is of this resource no more."""
    _check_patched_type(resource, patched)
    try:
        decoded = resource.strategy.decode(patched, shown)
    except Misshapen as problem:
        raise _bad_patch(_quoted(patch, patched), str(problem)) from problem
    if decoded.unknown and options.field_validation == STRICT:
        raise _bad_patch(_quoted(patch, patched), _strictly(decoded, options))
    return decoded


def _quoted(patch: Patch, patched: Object) -> str:
    return printed(patch.document) if patch.media_type == STRATEGIC else marshal(patched)


def _check_patched_type(resource: Resource, patched: Object) -> None:
    """That a patch left the object one of its kind. Raises `ApiError`: 422, or 500 where no kind is left."""
    if not resource.typed:
        for field, words in (("kind", "Kind"), ("apiVersion", "apiVersion")):
            if not patched.get(field):
                raise internal(f"Object '{words}' is missing in 'object has no {field} field'")
    elif (patched.get("kind"), patched.get("apiVersion")) != (resource.kind, resource.api_version):
        kind, version = patched.get("kind", ""), patched.get("apiVersion", "")
        problem = f"no kind {quote(kind)} is registered for version {quote(version)}"
        raise _bad_patch(marshal(patched), problem)


def _bad_patch(quoted: str, problem: str) -> ApiError:
    return invalid_object("", "", "", [invalid_field("patch", quoted, problem)])


def _strictly(decoded: Decoded, options: WriteOptions) -> str:
    return "strict decoding error: " + ", ".join(_complaints(decoded, options))


def _complaints(decoded: Decoded, options: WriteOptions) -> tuple[str, ...]:
    return (
        *(f'duplicate field "{path}"' for path in options.repeated),
        *(f'unknown field "{path}"' for path in decoded.unknown),
    )


def warnings_of(decoded: Decoded, options: WriteOptions) -> tuple[str, ...]:
    """What a client is warned of: fields that are said twice, or unknown."""
    return () if options.field_validation == IGNORE else _complaints(decoded, options)
