"""From the body of a write, or what a patch made, to an object of its resource; or what is wrong with it."""

from __future__ import annotations

from typing import Any

from kruntimes_core.lab.apiserver import meta
from kruntimes_core.lab.apiserver.field_errors import invalid as invalid_field
from kruntimes_core.lab.apiserver.go_text import marshal, printed, quote
from kruntimes_core.lab.apiserver.objects import Object
from kruntimes_core.lab.apiserver.recognition import recognised
from kruntimes_core.lab.apiserver.requests import IGNORE, STRICT, Patch, WriteOptions
from kruntimes_core.lab.apiserver.resources import STRATEGIC, Resource
from kruntimes_core.lab.apiserver.status import ApiError, bad_request, internal, invalid
from kruntimes_core.lab.apiserver.strategy import Decoded


def read(resource: Resource, body: Any, old: Object | None, options: WriteOptions) -> Decoded:
    """The object of a request. Raises `ApiError` (400) when it cannot be one of this resource."""
    body = recognised(resource, body, marshal(body).encode())
    kind = body["kind"] if resource.typed else resource.kind
    what = f'{kind} in version "{resource.version}" cannot be handled as a {resource.kind}'
    try:
        shown = resource.strategy.from_storage(old) if old is not None else None
        decoded = resource.strategy.decode(body, shown)
    except meta.Misshapen as problem:
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
    except meta.Misshapen as problem:
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
    return invalid("", "", "", [invalid_field("patch", quoted, problem)])


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
