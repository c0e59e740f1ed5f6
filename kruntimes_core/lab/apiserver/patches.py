"""JSON merge patch, RFC 7386.

JSON patch, RFC 6902, as the library behind a kube-apiserver understands it.

Strategic merge patch: a merge patch in which some lists are merged by a key of their items.

Which lists these are is part of the Go types; here it is a table of those that this system can meet.
Directives: `$patch: delete|replace|merge`, `$deleteFromPrimitiveList/...`, `$setElementOrder/...` and
`$retainKeys`.

Applying a patch of whatever form, with the errors that the API gives for those that do not fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kruntimes_core.lab.apiserver.errors import ApiError, bad_request, printed, unknown_format, unprocessable
from kruntimes_core.lab.apiserver.objects import Object
from kruntimes_core.lab.apiserver.requests import Patch


def merge_patched(target: Any, patch: Any) -> Any:
    """`target` after the patch: null takes a field away, an object goes deeper, anything else replaces."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, dict):
            result[name] = merge_patched(result.get(name), value)
        else:
            result[name] = value
    return result


MAX_OPERATIONS = 10_000


class CannotApply(Exception):  # noqa: N818 - it says what happened, as the API's answer does
    """The patch is well formed, but does not fit the object."""


def json_patched(target: Any, operations: list[Any]) -> Any:
    """`target` after all operations. Raises `CannotApply` when one of them cannot be done."""
    for operation in operations:
        if not isinstance(operation, dict):
            raise CannotApply("an operation must be an object")
        target = _apply(target, operation)
    return target


def _apply(target: Any, operation: dict[str, Any]) -> Any:
    kind, path = operation.get("op"), _path(operation, "path")
    if kind == "test":
        if _get(target, path, missing=None) != operation.get("value"):
            raise CannotApply(f"testing value {operation.get('path')} failed")
        return target
    if kind in ("add", "replace"):
        if "value" not in operation:
            raise CannotApply(f"{kind} needs a value")
        return _set(target, path, operation["value"], insert=kind == "add")
    if kind == "remove":
        return _remove(target, path)
    if kind in ("move", "copy"):
        source = _path(operation, "from")
        # A field that is not there is copied as a null.
        parent = _get(target, source[:-1])
        value = None if kind == "copy" and isinstance(parent, dict) else _RAISE
        value = _get(target, source, missing=value)
        return _set(_remove(target, source) if kind == "move" else target, path, value, insert=True)
    raise CannotApply(f"unexpected kind: {kind}")


def _path(operation: dict[str, Any], name: str) -> list[str]:
    text = operation.get(name)
    if not isinstance(text, str) or (text and "/" not in text):
        raise CannotApply(f"{name} must be a JSON pointer")
    # What stands before the first slash is not looked at.
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


_RAISE = object()


def _get(target: Any, path: list[str], missing: Any = _RAISE) -> Any:
    for part in path:
        if isinstance(target, dict) and part in target:
            target = target[part]
        elif isinstance(target, list) and _is_place(part, len(target)):
            target = target[int(part)]
        elif missing is _RAISE:
            raise CannotApply(f"missing path: {part}")
        else:
            return missing
    return target


def _is_place(part: str, length: int) -> bool:
    return part.isdigit() and int(part) < length


def _set(target: Any, path: list[str], value: Any, *, insert: bool) -> Any:
    if not path:
        return value
    part, rest = path[0], path[1:]
    if isinstance(target, dict):
        if rest and part not in target:
            raise CannotApply(f"missing path: {part}")
        return {**target, part: _set(target.get(part), rest, value, insert=insert) if rest else value}
    if not isinstance(target, list):
        raise CannotApply(f"missing path: {part}")
    return _set_item(target, part, rest, value, insert=insert)


def _set_item(target: list[Any], part: str, rest: list[str], value: Any, *, insert: bool) -> list[Any]:
    if insert and not rest:
        if part != "-" and not _is_place(part, len(target) + 1):
            raise CannotApply(f"no place {part} in the list")
        place = len(target) if part == "-" else int(part)
        return [*target[:place], value, *target[place:]]
    if not _is_place(part, len(target)):
        raise CannotApply(f"no place {part} in the list")
    place = int(part)
    item = _set(target[place], rest, value, insert=insert) if rest else value
    return [*target[:place], item, *target[place + 1 :]]


def _remove(target: Any, path: list[str]) -> Any:
    if not path:
        raise CannotApply("the whole object cannot be removed")
    part, rest = path[0], path[1:]
    if isinstance(target, dict) and part in target:
        if rest:
            return {**target, part: _remove(target[part], rest)}
        return {name: value for name, value in target.items() if name != part}
    if isinstance(target, list) and _is_place(part, len(target)):
        place = int(part)
        middle = [_remove(target[place], rest)] if rest else []
        return [*target[:place], *middle, *target[place + 1 :]]
    raise CannotApply(f"missing path: {part}")


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


class BadPatch(Exception):  # noqa: N818 - it says what is bad, as the API's answer does
    """The patch is no strategic merge patch."""


def strategic_merged(target: Any, patch: Mapping[str, Any]) -> dict[str, Any]:
    """`target` after the patch. Raises `BadPatch` for a directive or a list that makes no sense."""
    directive = patch.get(_PATCH)
    if directive == "replace":
        return {name: value for name, value in patch.items() if name != _PATCH}
    if directive == "delete":
        return {}
    if directive not in (None, "merge"):
        raise BadPatch(f"unknown patch type: {directive} in map: {printed(patch)}")
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
            raise BadPatch(f"map: {printed(item)} does not contain declared merge key: {key}")
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


_JSON_PATCH = "application/json-patch+json"
_STRATEGIC = "application/strategic-merge-patch+json"


def check_patch(patch: Patch, accepted: Sequence[str]) -> None:
    """That the form is one that the resource takes, and the document fits it. Raises `ApiError`."""
    if patch.media_type not in accepted:
        raise unknown_format(accepted)
    if patch.media_type == _JSON_PATCH:
        if not isinstance(patch.document, list | None):
            raise bad_request(f"error decoding patch: {_given(patch, '[]handlers.jsonPatchOp')}")
        if (count := len(patch.document or ())) > MAX_OPERATIONS:
            raise _too_many(count)
    elif not isinstance(patch.document, dict):
        if patch.document is None:
            raise bad_request("Invalid JSON Patch")
        where = "" if patch.media_type == _STRATEGIC else "error decoding patch: "
        raise bad_request(where + _given(patch, "map[string]interface {}"))


def apply_patch(patch: Patch, target: Object) -> Object:
    """The target after the patch. Raises `ApiError`: 422 or 500 for what cannot be applied."""
    try:
        if patch.media_type == _JSON_PATCH:
            patched = json_patched(target, patch.document or [])
        elif patch.media_type == _STRATEGIC:
            return strategic_merged(target, patch.document)
        else:
            patched = merge_patched(target, patch.document)
    except CannotApply as problem:
        raise unprocessable() from problem
    except BadPatch as problem:
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
    limit = MAX_OPERATIONS
    message = f"The allowed maximum operations in a JSON patch is {limit}, got {count}"
    return ApiError(413, "RequestEntityTooLarge", message)
