"""Schemas that mean the same are found equal, and others are not: what compares must be able to fail."""

from __future__ import annotations

from typing import Any

import pytest

from deployment.meaning import meaning
from kruntimes_core.framework.configuration import Configuration

NAMES = {"type": "array", "items": {"type": "string", "minLength": 1}}
INNER = {"$defs": {"Inner": NAMES}, "properties": {"a": {"$ref": "#/$defs/Inner"}}}
RENAMED = {"$defs": {"Other-1": NAMES}, "properties": {"a": {"$ref": "#/$defs/Other-1"}}}
NESTED: dict[str, Any] = {
    "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}},
    "$ref": "#/$defs/Node",
}

SAME: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "order": ({"required": ["a", "b"], "type": "object"}, {"type": "object", "required": ["b", "a"]}),
    "prose": ({"title": "T", "description": "d", "default": 3, "type": "integer"}, {"type": "integer"}),
    "a property called title": (
        {"properties": {"title": {"type": "string"}}},
        {"properties": {"title": {"type": "string", "title": "Title"}}},
    ),
    "definitions": (INNER, {"properties": {"a": NAMES}}),
    "their names": (INNER, RENAMED),
    "unused ones": ({"$defs": {"X": {"type": "string"}}, "type": "object"}, {"type": "object"}),
    "a reference in allOf": (INNER, {**INNER, "properties": {"a": {"allOf": [{"$ref": "#/$defs/Inner"}]}}}),
    "prose beside a reference": (
        INNER,
        {**INNER, "properties": {"a": {"$ref": "#/$defs/Inner", "default": []}}},
    ),
    "one value": ({"const": "a", "type": "string"}, {"enum": ["a"]}),
    "values": ({"enum": ["a", "b"]}, {"anyOf": [{"const": "b"}, {"const": "a", "type": "string"}]}),
    "types": ({"type": ["string", "null"]}, {"anyOf": [{"type": "null"}, {"type": "string"}]}),
    "types with words": (
        {"type": ["string", "null"], "minLength": 2},
        {"anyOf": [{"type": "string", "minLength": 2}, {"type": "null"}]},
    ),
    "nested alternatives": (
        {"anyOf": [{"type": "null"}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}]},
        {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]},
    ),
    "open objects": ({"type": "object", "additionalProperties": True}, {"type": "object"}),
    "open lists": ({"type": "array", "items": {}, "minItems": 0}, {"type": "array"}),
    "whole numbers": ({"maximum": 3600.0}, {"maximum": 3600}),
    "one that holds itself": (NESTED, NESTED | {"$defs": {"Node": NESTED["$defs"]["Node"], "Unused": {}}}),
}
OTHER: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a bound": ({"maximum": 3600}, {"maximum": 3601}),
    "a bound that is missing": ({"type": "string", "minLength": 1}, {"type": "string"}),
    "a property": ({"properties": {"a": {}}}, {"properties": {"b": {}}}),
    "a property called default": ({"properties": {"default": {"type": "null"}}}, {"properties": {}}),
    "what is required": ({"required": ["a"]}, {"required": ["a", "b"]}),
    "closed and open": ({"additionalProperties": False}, {}),
    "an alternative": ({"type": ["string", "null"]}, {"type": "string"}),
    "a value": ({"enum": ["a"]}, {"enum": ["a", "b"]}),
    "true and one": ({"const": True}, {"const": 1}),
    "one of and any of": (
        {"oneOf": [{"type": "string"}, {"maxLength": 3}]},
        {"anyOf": [{"type": "string"}, {"maxLength": 3}]},
    ),
    "words that contradict": ({"allOf": [{"minLength": 1}, {"minLength": 2}]}, {"minLength": 1}),
    "a definition": (INNER, {**INNER, "$defs": {"Inner": {"type": "array"}}}),
    "places in a list": (
        {"prefixItems": [{"type": "string"}, {"type": "null"}]},
        {"prefixItems": [{"type": "null"}, {"type": "string"}]},
    ),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_the_same_in_other_words_is_equal(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert meaning(one) == meaning(other)


@pytest.mark.parametrize(("one", "other"), OTHER.values(), ids=OTHER)
def test_what_allows_other_values_differs(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert meaning(one) != meaning(other)


def test_every_bound_of_the_configuration_counts() -> None:
    """Whatever word of it is changed, the meaning is another one."""
    schema = Configuration.model_json_schema(by_alias=True)
    whole = meaning(schema)
    events = schema["$defs"]["Events"]["properties"]["perSecond"]
    for word in ("maximum", "minimum", "type"):
        kept = events.pop(word)
        assert meaning(schema) != whole
        events[word] = kept
    assert meaning(schema) == whole
