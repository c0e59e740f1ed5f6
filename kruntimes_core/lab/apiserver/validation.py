"""Validation of an object against its schema: types, limits, patterns, required fields, keys and rules.

What is the same object as before, or equal to it, is not judged again: an update is never refused for what
it does not touch.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterator
from datetime import date
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from kruntimes_core.lab.apiserver.errors import (
    OMITTED,
    Cause,
    FieldError,
    duplicate,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
    type_invalid,
)
from kruntimes_core.lab.apiserver.objects import Object
from kruntimes_core.lab.apiserver.schema import Node, ValidationRule, child, index, json_type

if TYPE_CHECKING:
    from cel import Program

ABSENT: Final = object()
"""Stands for "nothing was here": a null may have been."""

_CAUSES = {cause.value[0]: cause for cause in Cause}
_INT_OR_STRING = frozenset({"integer", "string"})
_RANGES = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}
_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|[+-][0-9]{2}:[0-9]{2})")


class Checker:
    """One pass over one object; `errors` takes what is found.

    root: where the part that is judged stands in its object: `status` for a write to that subresource.
    """

    def __init__(self, root: str = "") -> None:
        self.errors: list[FieldError] = []
        self._root = root

    def check(self, node: Node, value: Any, old: Any, path: str) -> None:
        """Check `value` against `node`; old: what stood here before, `ABSENT` when there was nothing."""
        if value is old or value == old:
            return
        if value is None:
            if node.types and not node.nullable:
                self._wrong_type(node, value, path)
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

    def _wrong_type(self, node: Node, value: Any, path: str) -> None:
        wanted = " or ".join(sorted(node.types))
        self.errors.append(type_invalid(path, value, f"must be of type {wanted}"))

    def _check_type(self, node: Node, value: Any, path: str) -> None:
        given = json_type(value)
        if not node.types or given in node.types:
            return
        if given == "integer" and "number" in node.types:
            return
        if given == "number" and "integer" in node.types and value == int(value):
            return
        # A text or a list where the schema has a format is left to the check of the format, as ever.
        if not (node.format and given in ("string", "array") and not node.types & {"integer", "number"}):
            self._wrong_type(node, value, path)
            if node.types == _INT_OR_STRING:
                # Such a node has `anyOf` beside its types on a kube-apiserver, which fails for the whole too.
                self.errors.append(invalid("", "", f"{path} must be an integer or a string"))

    def _check_limits(self, node: Node, name: str, size: float, value: Any, path: str) -> bool:
        """Whether a number, a length or a count is within its limits."""
        least, greatest = node.limits.get(name, (None, None))
        if greatest is not None and size > greatest:
            if name == "number":
                self.errors.append(invalid(path, value, f"should be less than or equal to {greatest}"))
            elif name == "string":
                self.errors.append(too_long(path, int(greatest)))
            else:
                self.errors.append(too_many(path, int(size), int(greatest)))
            return False
        if least is not None and size < least:
            kind = {"number": "", "string": " characters", "array": " items", "object": " fields"}[name]
            self.errors.append(invalid(path, value, f"should be at least {least}{kind}"))
            return False
        return True

    def _text(self, node: Node, value: str, path: str) -> None:
        if self._check_limits(node, "string", len(value), value, path) and (
            node.matcher is not None and not node.matcher.search(value)
        ):
            self.errors.append(invalid(path, value, f"should match '{node.pattern}'"))
        if not _has_format(node.format, value):
            self.errors.append(type_invalid(path, value, f"must be of type {node.format}"))

    def _number(self, node: Node, value: int | float, path: str) -> None:
        low, high = _RANGES.get(node.format, _RANGES["int64"])
        if "integer" in node.types and not (value == int(value) and low <= value <= high):
            # A kube-apiserver reports this problem alone at the root of what it judges.
            self.errors.append(invalid(self._root, "", f"{path} must be an {node.format or 'int64'}"))
        self._check_limits(node, "number", value, value, path)

    def _list(self, node: Node, value: list[Any], old: Any, path: str) -> None:
        if node.items is not None:
            partner = partner_finder(node, old)
            for place, item in enumerate(value):
                before = partner(item)
                self.check(node.items, item, ABSENT if before is None else before, index(path, place))
        self._check_limits(node, "array", len(value), len(value), path)

    def _object(self, node: Node, value: Object, old: Object, path: str) -> None:
        self._check_limits(node, "object", len(value), len(value), path)
        for name, below in value.items():
            known = node.properties.get(name, node.values)
            if known is not None:
                self.check(known, below, old.get(name, ABSENT), child(path, name))
        self.errors += [required(child(path, name)) for name in node.required if name not in value]


# Formats


def _has_format(format_name: str, text: str) -> bool:
    """Whether `text` has the format; formats that are not known here are not judged."""
    if format_name in ("date-time", "datetime"):
        return _is_date_time(text)
    return format_name != "byte" or _is_base64(text)


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
    return text != ""


# Lists that are maps or sets


def partner_finder(node: Node, old: Any) -> Callable[[Any], Any]:
    """Finds the item of the old list that a new one continues; only lists that are maps have such."""
    if not node.list_keys or not isinstance(old, list):
        return lambda _: None
    known = {_key(node, item): item for item in old if isinstance(item, dict)}
    return lambda item: known.get(_key(node, item)) if isinstance(item, dict) else None


def _key(node: Node, item: Object) -> str:
    return _identity([item.get(name) for name in node.list_keys])


def _identity(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


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
    if not node.list_keys and not node.is_set:
        return
    seen: dict[str, int] = {}
    for place, item in enumerate(value):
        if node.list_keys and item is not None and not isinstance(item, dict):
            yield invalid(index(path, place), item, "must be an object: the list is a map")
            return
    for place, item in enumerate(value):
        keys = {name: item[name] for name in node.list_keys if name in (item or {})}
        shown = keys if node.list_keys else item
        text = _identity(shown)
        seen[text] = seen.get(text, 0) + 1
        if seen[text] == 2:
            yield duplicate(index(path, place), shown)


# Rules (`x-kubernetes-validations`), in the Common Expression Language. A rule about a part that did not
# change is not evaluated: what it would refuse is only a warning on a kube-apiserver, and a rule that
# compares with the old value has nothing to compare.


def broken_rules(node: Node, value: Any, old: Any, path: str = "") -> Iterator[FieldError]:
    """What the rules refuse in a value; old: None for a new one.

    Raises `ValueError` for a rule that cannot be compiled.
    """
    if not node.has_rules or value is None:
        return
    if old is not None and (value is old or value == old):
        return
    yield from _broken_here(node, value, old, path)
    if isinstance(value, dict):
        before = old if isinstance(old, dict) else {}
        for name, below in value.items():
            known = node.properties.get(name, node.values)
            if known is not None:
                yield from broken_rules(known, below, before.get(name), child(path, name))
    elif isinstance(value, list) and node.items is not None:
        partner = partner_finder(node, old)
        for place, item in enumerate(value):
            yield from broken_rules(node.items, item, partner(item), index(path, place))


def _broken_here(node: Node, value: Any, old: Any, path: str) -> Iterator[FieldError]:
    for rule in node.rules:
        needs_old = "oldSelf" in rule.text
        if needs_old and old is None:
            continue
        context = {"self": value, "oldSelf": old} if needs_old else {"self": value}
        problem = _evaluate(rule, context)
        if problem is not None:
            at = path + rule.field_path if path else rule.field_path.lstrip(".")
            shown = OMITTED if isinstance(value, dict | list) else value
            yield FieldError(_CAUSES[rule.reason], at, shown, problem)


def _evaluate(rule: ValidationRule, context: dict[str, Any]) -> str | None:
    program = _program(rule.text)
    try:
        return None if program.execute(context) is True else rule.message
    except (ArithmeticError, LookupError, TypeError, ValueError, RuntimeError) as error:
        return f"{error} evaluating rule: {rule.message}"


@cache
def _program(text: str) -> Program:
    # Here, because the library loads its command line too, which takes a quarter of a second.
    import cel

    return cel.compile(text)
