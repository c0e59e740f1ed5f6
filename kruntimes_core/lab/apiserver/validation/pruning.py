"""Dropping what the schema does not know, and saying what was dropped.

Also a null where the schema allows none counts as absent, unless a default takes its place: that is
what a kube-apiserver does before it validates a custom resource.
"""

from __future__ import annotations

from typing import Any

from kruntimes_core.lab.apiserver.objects import Object
from kruntimes_core.lab.apiserver.validation.paths import child, index
from kruntimes_core.lab.apiserver.validation.schema import Node

_NOTHING = Node(types=frozenset())


def prune(node: Node, value: Any, old: Any, path: str, unknown: list[str]) -> Any:
    """`value` without unknown fields and needless nulls; itself where nothing is to be dropped.

    old: what stood here before; where it is the same object it was pruned then. unknown: takes the
    paths of the unknown fields, in order.
    """
    if value is old:
        return value
    if isinstance(value, dict):
        return _object(node, value, old if isinstance(old, dict) else {}, path, unknown)
    if isinstance(value, list) and not (node.open and node.items is None):
        below = node.items or _NOTHING
        items = [prune(below, item, None, index(path, place), unknown) for place, item in enumerate(value)]
        changed = any(new is not item for new, item in zip(items, value, strict=True))
        return items if changed else value
    if type(value) is float and "integer" in node.types and value.is_integer():
        # `2.0` is the integer 2, and told as such.
        return int(value)
    return value


def _object(node: Node, value: Object, old: Object, path: str, unknown: list[str]) -> Object:
    kept: Object = {}
    changed = False
    for name, below in value.items():
        known = node.properties.get(name, node.values)
        if known is None:
            if node.open:
                kept[name] = below
            else:
                unknown.append(child(path, name))
                changed = True
            continue
        if below is None and not known.nullable and not known.has_default:
            changed = True
            continue
        kept[name] = prune(known, below, old.get(name), child(path, name), unknown)
        changed = changed or kept[name] is not below
    return kept if changed else value
