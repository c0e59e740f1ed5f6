"""Strategic merge patch: a merge patch in which some lists are merged by a key of their items.

Which lists these are is part of the Go types; here it is a table of those that this system can meet.
Directives: `$patch: delete|replace|merge`, `$deleteFromPrimitiveList/...`, `$setElementOrder/...` and
`$retainKeys`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
        raise BadPatch(f"unrecognized directive: {directive!r}")
    result = dict(target) if isinstance(target, dict) else {}
    if _RETAIN in patch:
        result = {name: value for name, value in result.items() if name in patch[_RETAIN]}
    for name, value in patch.items():
        if name.startswith(_DELETE):
            listed = result.get(name.removeprefix(_DELETE), [])
            result[name.removeprefix(_DELETE)] = [item for item in listed if item not in value]
        elif not name.startswith("$"):
            _merge_field(result, name, value)
    for name, order in patch.items():
        if name.startswith(_ORDER):
            _order(result, name.removeprefix(_ORDER), order)
    return result


def _merge_field(result: dict[str, Any], name: str, value: Any) -> None:
    if value is None:
        result.pop(name, None)
    elif isinstance(value, dict):
        result[name] = merged(result.get(name), value)
        if value.get(_PATCH) == "delete":
            del result[name]
    elif isinstance(value, list) and name in _MERGED_TEXTS:
        standing = result.get(name, [])
        result[name] = [*standing, *(item for item in value if item not in standing)]
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
            raise BadPatch(f"map: {item} does not contain declared merge key: {key}")
        place = _place(result, key, item[key])
        if item.get(_PATCH) == "delete":
            if place is not None:
                del result[place]
        elif place is None:
            result.append(merged({}, item))
        else:
            result[place] = merged(result[place], item)
    return result


def _place(items: list[Any], key: str, value: Any) -> int | None:
    found = (place for place, item in enumerate(items) if isinstance(item, dict) and item.get(key) == value)
    return next(found, None)


def _order(result: dict[str, Any], name: str, order: list[Any]) -> None:
    """Bring the items that the order names into it; the others keep their distance to what is before."""
    key = _MERGE_KEYS.get(name)
    wanted = [item.get(key) if isinstance(item, dict) else item for item in order]

    def rank(item: Any) -> int:
        value = item.get(key) if isinstance(item, dict) else item
        return wanted.index(value) if value in wanted else len(wanted)

    if isinstance(result.get(name), list):
        result[name] = sorted(result[name], key=rank)
