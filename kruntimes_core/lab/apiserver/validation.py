"""The formats of texts that a schema of ours names, judged as a kube-apiserver judges them.

Lists that are maps or sets: their keys are unique, and their items have partners in the old list.

Types, bounds, patterns, enumerations and required fields of the schema.

The order of the checks and the words are those of kube-openapi's validator. What is the same object as
before, or equal to it, is not judged again: an update is never refused for what it does not touch.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any, Final

from kruntimes_core.lab.apiserver.errors import (
    FieldError,
    duplicate,
    invalid,
    marshal,
    not_supported,
    quote,
    required,
    too_long,
    too_many,
    type_invalid,
)
from kruntimes_core.lab.apiserver.objects import Object
from kruntimes_core.lab.apiserver.schema import Node, child, index

_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|[+-][0-9]{2}:[0-9]{2})")


def fits(format_name: str, text: str) -> bool:
    """Whether `text` has the format; formats that are not known here are not judged."""
    if format_name in ("date-time", "datetime"):
        return _is_date_time(text)
    if format_name == "byte":
        return _is_base64(text)
    return True


def _is_date_time(text: str) -> bool:
    day, separator, clock = text.lower().partition("t")
    match = _TIME.fullmatch(clock)
    if not separator or match is None or not _is_date(day):
        return False
    hours, minutes, seconds = match.group(1, 2, 3)
    return hours <= "23" and minutes <= "59" and seconds <= "59"


def _is_date(text: str) -> bool:
    try:
        return len(text) == 10 and bool(date.fromisoformat(text))
    except ValueError:
        return False


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return len(text) > 0


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


ABSENT: Final = object()
"""Stands for "nothing was here": a null may have been."""

_INT_OR_STRING = frozenset({"integer", "string"})
_FORMATS = {"integer": "int64", "number": "float64"}
_RANGES = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}


class Checker:
    """One pass over one object; `errors` takes what is found.

    root: what the paths of the messages' texts leave out (`status` for a write to that subresource,
    because the API server judges it alone there).
    """

    def __init__(self, root: str = "") -> None:
        self.errors: list[FieldError] = []
        self._root = re.compile(rf"^{re.escape(root)}\.?") if root else None

    def check(self, node: Node, value: Any, old: Any, path: str) -> None:
        """Check `value` against `node`; old: what stood here before, `ABSENT` when there was nothing."""
        if value is old or value == old:
            return
        if value is None:
            if node.types and not node.nullable:
                self._type(path, ",".join(sorted(node.types)), "null")
            return
        self._check_type(node, value, path)
        if isinstance(value, str):
            self._text(node, value, path)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            self._number(node, value, path)
        elif isinstance(value, list):
            self._list(node, value, old, path)
        elif isinstance(value, dict):
            self._object(node, value, old if isinstance(old, dict) else {}, path)
        if node.enum is not None and value not in node.enum:
            self.errors.append(not_supported(path, value, map(str, node.enum)))

    def _in_body(self, path: str) -> str:
        return f"{self._root.sub('', path) if self._root else path} in body"

    def _type(self, path: str, wanted: str, given: str) -> None:
        detail = f"{self._in_body(path)} must be of type {wanted}: {quote(given)}"
        self.errors.append(type_invalid(path, given, detail))

    def _check_type(self, node: Node, value: Any, path: str) -> None:
        given = type_of(value)
        if not node.types or given in node.types:
            return
        if given == "integer" and "number" in node.types:
            return
        if given == "number" and "integer" in node.types and value == int(value):
            return
        if node.format and given in ("string", "array"):
            # A text or a list is left to the check of the format, which a list passes.
            if not node.types & {"integer", "number"}:
                return
        elif node.format:
            self._type(path, node.format, _FORMATS.get(given, ""))
            return
        self._type(path, ",".join(sorted(node.types)), given)
        if node.types == _INT_OR_STRING:
            # Such a node has `anyOf` beside its two types, which fails too, and then its first schema.
            detail = f"{quote(path)} must validate at least one schema (anyOf)"
            self.errors.append(invalid("", "", detail))
            self._type(path, "integer", given)

    def _text(self, node: Node, value: str, path: str) -> None:
        body = self._in_body(path)
        if node.max_length is not None and len(value) > node.max_length:
            self.errors.append(too_long(path, node.max_length))
        elif node.min_length is not None and len(value) < node.min_length:
            detail = f"{body} should be at least {node.min_length} chars long"
            self.errors.append(invalid(path, value, detail))
        elif node.matcher is not None and not node.matcher.search(value):
            self.errors.append(invalid(path, value, f"{body} should match '{node.pattern}'"))
        if node.format and not fits(node.format, value):
            self._type_of_format(node, value, path)

    def _type_of_format(self, node: Node, value: str, path: str) -> None:
        detail = f"{self._in_body(path)} must be of type {node.format}: {quote(value)}"
        self.errors.append(type_invalid(path, value, detail))

    def _number(self, node: Node, value: int | float, path: str) -> None:
        body = self._in_body(path)
        if "integer" in node.types and not _in_range(value, node.format):
            self._out_of_range(node, path)
        if node.minimum is not None and value < node.minimum:
            detail = f"{body} should be greater than or equal to {node.minimum}"
            self.errors.append(invalid(path, value, detail))
        if node.maximum is not None and value > node.maximum:
            detail = f"{body} should be less than or equal to {node.maximum}"
            self.errors.append(invalid(path, value, detail))

    def _out_of_range(self, node: Node, path: str) -> None:
        """The one problem that is reported at the root of what is judged."""
        where = self._root.sub("", path) if self._root else path
        kind = f"with format {node.format}" if node.format else "(default format)"
        detail = f"Checked value must be of type integer {kind} in {where}"
        self.errors.append(invalid(path.removesuffix(where).rstrip("."), "", detail))

    def _list(self, node: Node, value: list[Any], old: Any, path: str) -> None:
        if node.items is not None:
            partner: Callable[[Any], Any] = partner_finder(node, old)
            for place, item in enumerate(value):
                before = partner(item)
                self.check(node.items, item, ABSENT if before is None else before, index(path, place))
        if node.min_items is not None and len(value) < node.min_items:
            detail = f"{self._in_body(path)} should have at least {node.min_items} items"
            self.errors.append(invalid(path, len(value), detail))
        if node.max_items is not None and len(value) > node.max_items:
            self.errors.append(too_many(path, len(value), node.max_items))

    def _object(self, node: Node, value: Object, old: Object, path: str) -> None:
        if node.min_properties is not None and len(value) < node.min_properties:
            detail = f"{self._in_body(path)} should have at least {node.min_properties} properties"
            self.errors.append(invalid(path, len(value), detail))
        if node.max_properties is not None and len(value) > node.max_properties:
            self.errors.append(too_many(path, len(value), node.max_properties))
        for name, below in value.items():
            known = node.properties.get(name, node.values)
            if known is not None:
                self.check(known, below, old.get(name, ABSENT), child(path, name))
        for name in node.required:
            if name not in value:
                self.errors.append(required(child(path, name)))


def _in_range(value: int | float, format_name: str) -> bool:
    low, high = _RANGES.get(format_name, _RANGES["int64"])
    return value == int(value) and low <= value <= high


def type_of(value: Any) -> str:
    """The JSON type of a value, as schemas name it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"
