"""Whether a body is an object of the resource that it was sent to, with a kube-apiserver's words if not.

A Go type may leave out what it is: the path says that. A custom resource must say it.
"""

from __future__ import annotations

from typing import Any

from kruntimes_core.lab.apiserver.go_text import quote
from kruntimes_core.lab.apiserver.objects import Object
from kruntimes_core.lab.apiserver.resources import Resource
from kruntimes_core.lab.apiserver.status import ApiError, bad_request

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
