"""Lists that are maps or sets: their keys are unique, and their items have partners in the old list."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kruntimes_core.lab.apiserver.field_errors import FieldError, duplicate, invalid
from kruntimes_core.lab.apiserver.go_text import marshal
from kruntimes_core.lab.apiserver.validation.paths import child, index
from kruntimes_core.lab.apiserver.validation.schema import Node


def partner_finder(node: Node, old: Any) -> Callable[[Any], Any]:
    """Finds the item of the old list that a new one continues; only lists that are maps have such."""
    if not node.list_keys or not isinstance(old, list):
        return lambda _: None
    known = {_key(node, item): item for item in old if isinstance(item, dict)}
    return lambda item: known.get(_key(node, item)) if isinstance(item, dict) else None


def repeated(node: Node, value: Any, old: Any, path: str) -> Iterator[FieldError]:
    """One problem for each key or item that a list has more than once; unchanged parts are skipped."""
    if value is old:
        return
    before = old if isinstance(old, dict) else {}
    if isinstance(value, dict):
        for name, below in value.items():
            known = node.properties.get(name, node.values)
            if known is not None:
                yield from repeated(known, below, before.get(name), child(path, name))
    elif isinstance(value, list):
        yield from _repeated_here(node, value, path)
        if node.items is not None:
            for place, item in enumerate(value):
                yield from repeated(node.items, item, None, index(path, place))


def _repeated_here(node: Node, value: list[Any], path: str) -> Iterator[FieldError]:
    seen: dict[str, int] = {}
    if node.list_keys:
        for place, item in enumerate(value):
            if item is not None and not isinstance(item, dict):
                yield invalid(index(path, place), item, "must be an object for an array of list-type map")
                return
    for place, item in enumerate(value):
        if node.list_keys:
            shown: Any = {name: item[name] for name in node.list_keys if name in (item or {})}
        elif node.is_set:
            shown = item
        else:
            return
        text = marshal(shown)
        seen[text] = seen.get(text, 0) + 1
        if seen[text] == 2:
            yield duplicate(index(path, place), shown)


def _key(node: Node, item: dict[str, Any]) -> str:
    return marshal([item.get(name) for name in node.list_keys])
