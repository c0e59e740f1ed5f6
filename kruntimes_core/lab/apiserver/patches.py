"""The three forms of patches: JSON (RFC 6902), merge (RFC 7386), and strategic merge for built-in kinds.

None of them changes what it is given. A strategic merge patch merges some lists by a key of their items:
which lists these are is part of the Go types; here it is a table of those that this system can meet.
Its directives are `$patch: delete|replace|merge`, `$deleteFromPrimitiveList/...`, `$setElementOrder/...`
and `$retainKeys`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jsonpatch import JsonPatchException, apply_patch
from jsonpointer import JsonPointerException

from kruntimes_core.lab.apiserver.errors import (
    ApiError,
    bad_request,
    cannot_apply,
    too_large,
    unsupported_media_type,
)
from kruntimes_core.lab.apiserver.kinds.strategy import JSON_PATCH, STRATEGIC
from kruntimes_core.lab.apiserver.objects import Object
from kruntimes_core.lab.apiserver.requests import Patch

_MAX_OPERATIONS = 10_000
_MERGE_KEYS: Mapping[str, str] = {
    "conditions": "type",
    "containers": "name",
    "initContainers": "name",
    "ephemeralContainers": "name",
    "volumes": "name",
    "env": "name",
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
    "ports": "containerPort",
    "imagePullSecrets": "name",
    "hostAliases": "ip",
    "topologySpreadConstraints": "topologyKey",
    "resourceClaims": "name",
    "schedulingGates": "name",
    "ownerReferences": "uid",
    "podIPs": "ip",
    "hostIPs": "ip",
    "resourceClaimStatuses": "name",
}
_MERGED_TEXTS = frozenset({"finalizers"})
_DELETE, _ORDER, _RETAIN, _PATCH = "$deleteFromPrimitiveList/", "$setElementOrder/", "$retainKeys", "$patch"


def check_patch(patch: Patch, accepted: Sequence[str]) -> None:
    """That the form is one that the resource takes, and the document fits it. Raises `ApiError`."""
    if patch.media_type not in accepted:
        raise unsupported_media_type(accepted)
    if patch.media_type != JSON_PATCH:
        if not isinstance(patch.document, dict):
            raise bad_request(f"the patch must be an object, not {patch.document!r}")
    elif not isinstance(patch.document, list | None):
        raise bad_request(f"the patch must be a list of operations, not {patch.document!r}")
    elif len(patch.document or ()) > _MAX_OPERATIONS:
        raise too_large(f"the patch must have at most {_MAX_OPERATIONS} operations")


def patched(patch: Patch, target: Object) -> Object:
    """The target after the patch. Raises `ApiError`: 422 or 500 for what cannot be applied."""
    if patch.media_type == STRATEGIC:
        return strategic_merged(target, patch.document)
    if patch.media_type != JSON_PATCH:
        return merge_patched(target, patch.document)
    try:
        found = apply_patch(target, patch.document or [])
    except (JsonPatchException, JsonPointerException) as problem:
        raise cannot_apply(str(problem)) from problem
    if not isinstance(found, dict):
        raise cannot_apply("it leaves no object")
    return found


def merge_patched(target: Any, patch: Mapping[str, Any]) -> Object:
    """`target` after the patch: null takes a field away, an object goes deeper, anything else replaces."""
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, dict):
            result[name] = merge_patched(result.get(name), value)
        else:
            result[name] = value
    return result


def strategic_merged(target: Any, patch: Mapping[str, Any]) -> dict[str, Any]:
    """`target` after the patch. Raises `ApiError` (500) for a directive or a list that makes no sense."""
    directive = patch.get(_PATCH)
    if directive == "replace":
        return {name: value for name, value in patch.items() if name != _PATCH}
    if directive == "delete":
        return {}
    if directive not in (None, "merge"):
        raise _bad_patch(f"unknown patch type: {directive} in map: {patch}")
    result = dict(target) if isinstance(target, dict) else {}
    if _RETAIN in patch:
        result = {name: value for name, value in result.items() if name in patch[_RETAIN]}
    before = dict(result)
    for name, value in patch.items():
        if name.startswith(_DELETE):
            listed = result.get(name.removeprefix(_DELETE), [])
            result[name.removeprefix(_DELETE)] = [item for item in listed if item not in value]
        elif not name.startswith("$"):
            _merge_field(result, name, value)
    for name, order in patch.items():
        field = name.removeprefix(_ORDER)
        if name != field and isinstance(result.get(field), list):
            result[field] = _ordered(result[field], order, before.get(field) or [], _MERGE_KEYS.get(field))
    return result


def _merge_field(result: dict[str, Any], name: str, value: Any) -> None:
    if value is None:
        result.pop(name, None)
    elif isinstance(value, dict):
        if name not in result and _PATCH in value:
            # Where there is nothing, a directive leaves nothing, whatever it is.
            return
        result[name] = strategic_merged(result.get(name), value)
        if value.get(_PATCH) == "delete":
            del result[name]
    elif isinstance(value, list) and name in _MERGED_TEXTS:
        standing = result.get(name, [])
        together = list(dict.fromkeys([*standing, *value]))
        result[name] = _ordered(together, value, standing, None)
    elif isinstance(value, list) and name in _MERGE_KEYS:
        result[name] = _merged_list(result.get(name) or [], value, _MERGE_KEYS[name])
    else:
        result[name] = value


def _merged_list(standing: list[Any], patch: list[Any], key: str) -> list[Any]:
    if any(isinstance(item, dict) and item.get(_PATCH) == "replace" for item in patch):
        return [item for item in patch if not (isinstance(item, dict) and _PATCH in item)]
    result = list(standing)
    for item in patch:
        if not isinstance(item, dict) or key not in item:
            raise _bad_patch(f"map: {item} does not contain declared merge key: {key}")
        place = _place(result, key, item[key])
        if item.get(_PATCH) == "delete":
            if place is not None:
                del result[place]
        elif place is None:
            result.append(strategic_merged({}, item))
        else:
            result[place] = strategic_merged(result[place], item)
    return _ordered(result, [item for item in patch if _PATCH not in item], standing, key)


def _place(items: list[Any], key: str, value: Any) -> int | None:
    found = (place for place, item in enumerate(items) if isinstance(item, dict) and item.get(key) == value)
    return next(found, None)


def _ordered(items: list[Any], wanted: Sequence[Any], standing: Sequence[Any], key: str | None) -> list[Any]:
    """The items in the order of those that a patch names; others stay before what they stood before.

    key: by which items are known, None for texts. It is Kubernetes' `mergeSortedSlice`.
    """

    def known(item: Any) -> Any:
        return item.get(key) if key is not None and isinstance(item, dict) else item

    order, before = [known(item) for item in wanted], [known(item) for item in standing]
    named = sorted(
        (item for item in items if known(item) in order), key=lambda item: order.index(known(item))
    )
    others = [item for item in items if known(item) not in order]
    result: list[Any] = []
    while named and others:
        first, other = known(named[0]), known(others[0])
        stays = first in before and other in before and before.index(other) < before.index(first)
        result.append((others if stays else named).pop(0))
    return [*result, *named, *others]


def _bad_patch(problem: str) -> ApiError:
    return ApiError(500, "", problem)
