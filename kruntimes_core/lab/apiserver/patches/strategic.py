"""Strategic merge patch: a merge patch in which some lists are merged by a key of their items.

Which lists these are is part of the Go types; here it is a table of those that this system can meet.
Directives: `$patch: delete|replace|merge`, `$deleteFromPrimitiveList/...`, `$setElementOrder/...` and
`$retainKeys`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kruntimes_core.lab.apiserver.go_text import printed

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


def merged(target: Any, patch: Mapping[str, Any]) -> dict[str, Any]:
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
        result[name] = merged(result.get(name), value)
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
            result.append(merged({}, item))
        else:
            result[place] = merged(result[place], item)
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
