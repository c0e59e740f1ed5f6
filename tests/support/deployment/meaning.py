"""What a JSON Schema means, so that two writers who say the same in other words are found to agree.

Versions of pydantic differ in where a definition stands, in the order of alternatives, and in words that add
nothing. What is left here differs only where some value is valid by one schema and invalid by the other.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Node = dict[str, Any]

_DEFINITIONS = "#/$defs/"
_SAY_NOTHING = frozenset(
    {"$comment", "$defs", "$id", "$schema", "default", "deprecated", "description", "discriminator"}
    | {"examples", "readOnly", "title", "writeOnly"}
)
_IDLE: Mapping[str, Any] = {
    "additionalProperties": {},
    "items": {},
    "minItems": 0,
    "minLength": 0,
    "minProperties": 0,
    "propertyNames": {},
    "required": [],
    "uniqueItems": False,
}
"""Keywords that allow everything with this value."""
_KINDS = {
    "array": {"items", "maxItems", "minItems", "prefixItems", "uniqueItems"},
    "number": {"exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"},
    "object": {"additionalProperties", "maxProperties", "minProperties", "patternProperties"}
    | {"properties", "propertyNames", "required"},
    "string": {"format", "maxLength", "minLength", "pattern"},
}
"""The keywords that are about values of one type; to others they mean nothing."""
_MAPS = ("patternProperties", "properties")
_SINGLE = ("additionalProperties", "items", "not", "propertyNames")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")


def meaning(schema: Node) -> Node:
    """The schema in one form for all that mean the same: without references, prose and idle words."""
    return _meant(schema, schema.get("$defs", {}), ())


def _meant(schema: Any, definitions: Mapping[str, Node], above: tuple[str, ...]) -> Node:
    """above: the definitions that this one is a part of; one that holds itself is named by its distance."""
    if isinstance(schema, bool):
        return {} if schema else {"not": {}}
    parts = [_own_words(schema, lambda below: _meant(below, definitions, above))]
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(_DEFINITIONS)
        if name in above:
            parts.append({"$ref": len(above) - above.index(name)})
        else:
            parts.append(_meant(definitions[name], definitions, (*above, name)))
    parts += parts[0].pop("allOf", ())
    return _alternatives(_together(parts))


def _own_words(schema: Node, within: Callable[[Any], Node]) -> Node:
    said = {key: _plain(value) for key, value in schema.items() if key not in _SAY_NOTHING | {"$ref"}}
    for key in _MAPS:
        if key in said:
            said[key] = {name: within(below) for name, below in said[key].items()}
    for key in _SINGLE:
        if key in said:
            said[key] = within(said[key])
    for key in _LISTS:
        if key in said:
            said[key] = [within(below) for below in said[key]]
    if "const" in said:
        said["enum"] = [said.pop("const")]
    if "required" in said:
        said["required"] = _sorted(said["required"])
    if "enum" in said:
        # As text: to Python, 1 and true are equal.
        said["enum"] = sorted({json.dumps(value) for value in said["enum"]})
    return {key: value for key, value in said.items() if key not in _IDLE or value != _IDLE[key]}


def _together(parts: Iterable[Node]) -> Node:
    """One node that asks for all of these; parts that say different things by one word stay apart."""
    whole: Node = {}
    apart: list[Node] = []
    for part in parts:
        if any(key in whole and whole[key] != value for key, value in part.items()):
            apart.append(part)
        else:
            whole |= part
    return {**whole, "allOf": _sorted(apart)} if apart else whole


def _alternatives(node: Node) -> Node:
    """Several types, and alternatives, as alternatives of one type each, in one order."""
    kinds = node.get("type")
    if isinstance(kinds, list):
        rest = {key: value for key, value in node.items() if key != "type"}
        return _any_of([_of_its_type({**rest, "type": kind}) for kind in kinds], {})
    node = _of_its_type(node)
    if "anyOf" in node:
        choices = node.pop("anyOf")
        return _any_of(choices, node)
    if "oneOf" in node:
        node["oneOf"] = _sorted(node["oneOf"])
    return node


def _any_of(choices: Iterable[Node], beside: Node) -> Node:
    flat: list[Node] = []
    enumerated: list[str] = []
    for choice in choices:
        inner = choice["anyOf"] if choice.keys() == {"anyOf"} else [choice]
        for one in inner:
            if one.keys() == {"enum"}:
                enumerated += one["enum"]
            elif one not in flat:
                flat.append(one)
    if enumerated:
        flat.append({"enum": sorted(set(enumerated))})
    return _together([beside, flat[0]]) if len(flat) == 1 else {**beside, "anyOf": _sorted(flat)}


def _of_its_type(node: Node) -> Node:
    """Without words about other types, and without the type where the values that are listed show it."""
    kind = node.get("type")
    if kind is None:
        return node
    if "enum" in node:
        return {key: value for key, value in node.items() if key != "type"}
    own = "number" if kind == "integer" else kind
    foreign = {key for name, keys in _KINDS.items() if name != own for key in keys}
    return {key: value for key, value in node.items() if key not in foreign}


def _plain(value: Any) -> Any:
    """A whole number is one however it is written."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _sorted(values: Iterable[Any]) -> list[Any]:
    """Without repetition, in one order for all kinds of values."""
    return [json.loads(text) for text in sorted({json.dumps(value, sort_keys=True) for value in values})]
