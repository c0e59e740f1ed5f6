"""Applying a patch of whatever form, with the errors that the API gives for those that do not fit."""

from __future__ import annotations

from collections.abc import Sequence

from kruntimes_core.lab.apiserver.form_errors import unknown_format
from kruntimes_core.lab.apiserver.objects import Object
from kruntimes_core.lab.apiserver.patches import json_patch, merge, strategic
from kruntimes_core.lab.apiserver.requests import Patch
from kruntimes_core.lab.apiserver.status import (
    ApiError,
    bad_request,
    unprocessable,
)

_JSON_PATCH = "application/json-patch+json"
_STRATEGIC = "application/strategic-merge-patch+json"


def check(patch: Patch, accepted: Sequence[str]) -> None:
    """That the form is one that the resource takes, and the document fits it. Raises `ApiError`."""
    if patch.media_type not in accepted:
        raise unknown_format(accepted)
    if patch.media_type == _JSON_PATCH:
        if not isinstance(patch.document, list | None):
            raise bad_request(f"error decoding patch: {_given(patch, '[]handlers.jsonPatchOp')}")
        if (count := len(patch.document or ())) > json_patch.MAX_OPERATIONS:
            raise _too_many(count)
    elif not isinstance(patch.document, dict):
        if patch.document is None:
            raise bad_request("Invalid JSON Patch")
        where = "" if patch.media_type == _STRATEGIC else "error decoding patch: "
        raise bad_request(where + _given(patch, "map[string]interface {}"))


def apply(patch: Patch, target: Object) -> Object:
    """The target after the patch. Raises `ApiError`: 422 or 500 for what cannot be applied."""
    try:
        if patch.media_type == _JSON_PATCH:
            patched = json_patch.patched(target, patch.document or [])
        elif patch.media_type == _STRATEGIC:
            return strategic.merged(target, patch.document)
        else:
            patched = merge.merged(target, patch.document)
    except json_patch.CannotApply as problem:
        raise unprocessable() from problem
    except strategic.BadPatch as problem:
        raise ApiError(500, "", str(problem)) from problem
    if not isinstance(patched, dict):
        raise unprocessable()
    found: Object = patched
    return found


def _given(patch: Patch, wanted: str) -> str:
    kinds = {dict: "object", list: "array", str: "string", bool: "bool", int: "number", float: "number"}
    given = kinds.get(type(patch.document), "null")
    return f"json: cannot unmarshal {given} into Go value of type {wanted}"


def _too_many(count: int) -> ApiError:
    limit = json_patch.MAX_OPERATIONS
    message = f"The allowed maximum operations in a JSON patch is {limit}, got {count}"
    return ApiError(413, "RequestEntityTooLarge", message)
