"""Filling in the defaults of the schema, where the object that holds the field is there."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from kruntimes_core.lab.apiserver.objects import Object
from kruntimes_core.lab.apiserver.validation.schema import Node


def fill(node: Node, value: Any, old: Any) -> Any:
    """`value` with defaults; itself where nothing is missing. old: as in `pruning.prune`."""
    if value is old or not node.defaults_below:
        return value
    if isinstance(value, dict):
        return _object(node, value, old if isinstance(old, dict) else {})
    if isinstance(value, list) and node.items is not None:
        items = [fill(node.items, item, None) for item in value]
        changed = any(new is not item for new, item in zip(items, value, strict=True))
        return items if changed else value
    return value


def _object(node: Node, value: Object, old: Object) -> Object:
    changes: Object = {}
    for name, known in node.properties.items():
        below = value.get(name)
        if below is None and known.has_default and (name not in value or not known.nullable):
            below = deepcopy(known.default)
        filled = fill(known, below, old.get(name)) if below is not None else below
        if filled is not value.get(name) or (known.has_default and name not in value):
            changes[name] = filled
    if node.values is not None:
        for name, below in value.items():
            filled = fill(node.values, below, old.get(name))
            if filled is not below:
                changes[name] = filled
    return {**value, **changes} if changes else value
