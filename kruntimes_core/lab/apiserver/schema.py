"""A structural schema, read once into nodes, and the passes that prune an object and fill in its defaults.

Only what a CustomResourceDefinition may hold is read; `anyOf` is understood as the API server's own
int-or-string form, the only use that a structural schema of ours makes of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from kruntimes_core.lab.apiserver.objects import Object


def child(path: str, name: str) -> str:
    """The path of a field below `path`."""
    return f"{path}.{name}" if path else name


def index(path: str, place: int) -> str:
    """The path of an item of the list at `path`."""
    return f"{path}[{place}]"


_LIMITS = (
    ("number", "minimum", "maximum"),
    ("string", "minLength", "maxLength"),
    ("array", "minItems", "maxItems"),
    ("object", "minProperties", "maxProperties"),
)
_CLASS_OR_ESCAPE_OR_END = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\$")


@dataclass(frozen=True, slots=True)
class ValidationRule:
    """One entry of `x-kubernetes-validations`; field_path: where its problem is reported, `.a.b`."""

    text: str
    message: str
    field_path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Node:
    """What the schema says about one place of an object."""

    types: frozenset[str]
    nullable: bool = False
    format: str = ""
    enum: tuple[Any, ...] | None = None
    limits: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    """The least and the greatest number, length, or count of items or fields, by the JSON type."""
    pattern: str = ""
    matcher: re.Pattern[str] | None = None
    required: tuple[str, ...] = ()
    properties: Mapping[str, Node] = field(default_factory=dict)
    values: Node | None = None
    """The node of every value of a map (`additionalProperties`)."""
    items: Node | None = None
    open: bool = False
    """Whether fields that the schema does not name are kept."""
    list_keys: tuple[str, ...] = ()
    """The keys of a list that is a map; empty for other lists."""
    is_set: bool = False
    has_default: bool = False
    default: Any = None
    defaults_below: bool = False
    """Whether any place below has a default, so that the pass for defaults can skip what has none."""
    rules: tuple[ValidationRule, ...] = ()
    has_rules: bool = False
    """Whether this place or any below it has rules, so that evaluating them can skip what has none."""


def read_schema(schema: Mapping[str, Any]) -> Node:
    """The node of an `openAPIV3Schema` and all nodes below it."""
    properties = {name: read_schema(below) for name, below in schema.get("properties", {}).items()}
    additional = schema.get("additionalProperties")
    values = read_schema(additional) if isinstance(additional, dict) else None
    items = read_schema(schema["items"]) if "items" in schema else None
    list_type, pattern = schema.get("x-kubernetes-list-type"), schema.get("pattern", "")
    rules = tuple(map(_validation_rule, schema.get("x-kubernetes-validations", ())))
    below = [*properties.values(), *(node for node in (values, items) if node is not None)]
    return Node(
        types=_types(schema),
        nullable=bool(schema.get("nullable")),
        format=schema.get("format", ""),
        enum=tuple(schema["enum"]) if "enum" in schema else None,
        limits={
            name: (schema.get(least), schema.get(greatest))
            for name, least, greatest in _LIMITS
            if least in schema or greatest in schema
        },
        pattern=pattern,
        matcher=re.compile(_as_python(pattern)) if pattern else None,
        required=tuple(schema.get("required", ())),
        properties=properties,
        values=values,
        items=items,
        open=bool(schema.get("x-kubernetes-preserve-unknown-fields")) or additional is True,
        list_keys=tuple(schema.get("x-kubernetes-list-map-keys", ())) if list_type == "map" else (),
        is_set=list_type == "set",
        has_default="default" in schema,
        default=schema.get("default"),
        defaults_below=any(node.has_default or node.defaults_below for node in below),
        rules=rules,
        has_rules=bool(rules) or any(node.has_rules for node in below),
    )


def _types(schema: Mapping[str, Any]) -> frozenset[str]:
    if schema.get("x-kubernetes-int-or-string"):
        return frozenset({"integer", "string"})
    return frozenset({schema["type"]}) if "type" in schema else frozenset()


def _as_python(pattern: str) -> str:
    """A pattern in RE2's syntax with its `$` spelt as Python spells "only at the very end"."""
    return _CLASS_OR_ESCAPE_OR_END.sub(
        lambda match: r"\Z" if match.group() == "$" else match.group(), pattern
    )


def _validation_rule(entry: Mapping[str, Any]) -> ValidationRule:
    text = entry["rule"].strip()
    message = entry.get("message") or f"failed rule: {text}"
    return ValidationRule(text, message, entry.get("fieldPath", ""), entry.get("reason", "FieldValueInvalid"))


def json_type(value: Any) -> str:
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


# Pruning

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


# Defaulting


def fill(node: Node, value: Any, old: Any) -> Any:
    """`value` with defaults; itself where nothing is missing. old: as in `prune`."""
    if value is old or not node.defaults_below:
        return value
    if isinstance(value, dict):
        return _object_defaults(node, value, old if isinstance(old, dict) else {})
    if isinstance(value, list) and node.items is not None:
        items = [fill(node.items, item, None) for item in value]
        changed = any(new is not item for new, item in zip(items, value, strict=True))
        return items if changed else value
    return value


def _object_defaults(node: Node, value: Object, old: Object) -> Object:
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
