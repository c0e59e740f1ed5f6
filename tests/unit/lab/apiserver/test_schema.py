"""The passes along a schema: types of the problems, odd values, and what is not judged again."""

from __future__ import annotations

from typing import Any

import pytest

from kruntimes_core.lab.apiserver.errors import FieldError
from kruntimes_core.lab.apiserver.schema import fill, prune, read_schema
from kruntimes_core.lab.apiserver.validation import ABSENT, Checker, broken_rules, repeated

Schema = dict[str, Any]
INT_OR_STRING: Schema = {
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "x-kubernetes-int-or-string": True,
    "pattern": "^[0-9]+(k)?$",
}


def problems(
    schema: Schema, value: Any, old: Any = ABSENT, root: str = "", path: str = "spec.x"
) -> list[tuple[str, str]]:
    """(field, type) of what is wrong with a value."""
    checker = Checker(root)
    checker.check(read_schema(schema), value, old, path)
    return [(error.field, error.as_cause()["reason"]) for error in checker.errors]


INVALID, TYPE = "FieldValueInvalid", "FieldValueTypeInvalid"


@pytest.mark.parametrize(
    ("schema", "value", "type_"),
    [
        ({"type": "string"}, 5, TYPE),
        ({"type": "integer"}, "5", TYPE),
        ({"type": "object"}, [], TYPE),
        ({"type": "boolean"}, None, TYPE),
        ({"type": "string", "format": "date-time"}, "x", TYPE),
        ({"type": "integer", "minimum": 1}, 0, INVALID),
        ({"type": "integer", "maximum": 1}, 2, INVALID),
        ({"type": "string", "minLength": 2}, "a", INVALID),
        ({"type": "string", "pattern": "^a$"}, "b", INVALID),
        ({"type": "string", "pattern": "^a$"}, "a\n", INVALID),
        ({"type": "array", "items": {}, "minItems": 1}, [], INVALID),
        ({"type": "object", "minProperties": 1}, {}, INVALID),
        ({"type": "string", "maxLength": 2}, "abc", "FieldValueTooLong"),
        ({"type": "array", "items": {}, "maxItems": 1}, [1, 2], "FieldValueTooMany"),
        ({"type": "object", "maxProperties": 1}, {"a": 1, "b": 2}, "FieldValueTooMany"),
        ({"type": "string", "enum": ["a", "b"]}, "c", "FieldValueNotSupported"),
    ],
)
def test_a_problem_has_the_type_that_the_real_server_gives(schema: Schema, value: Any, type_: str) -> None:
    assert problems(schema, value) == [("spec.x", type_)]


def test_a_message_names_the_value_and_what_is_wrong() -> None:
    checker = Checker()
    schema = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 1}, "s": {"enum": ["a"]}}}
    checker.check(read_schema(schema), {"n": 2, "s": "b"}, ABSENT, "spec")
    assert [str(error) for error in checker.errors] == [
        "spec.n: Invalid value: 2: should be less than or equal to 1",
        'spec.s: Unsupported value: "b": supported values: "a"',
    ]


def test_a_required_field_is_named_by_its_own_path() -> None:
    schema = {"type": "object", "required": ["a"]}
    assert problems(schema, {}, path="spec.x[0]") == [("spec.x[0].a", "FieldValueRequired")]


@pytest.mark.parametrize("root", ["", "status"])
def test_a_number_out_of_the_range_of_its_format_is_told_at_the_root(root: str) -> None:
    schema = {"type": "integer", "format": "int32"}
    assert problems(schema, 2**31, root=root, path="status.attempt") == [(root, INVALID)]


@pytest.mark.parametrize("value", [0, 2.0, 2**31 - 1, -(2**31)])
def test_these_are_int32(value: float) -> None:
    assert problems({"type": "integer", "format": "int32"}, value) == []


@pytest.mark.parametrize("value", [1, "1", "12k"])
def test_an_int_or_string_may_be_both(value: object) -> None:
    assert problems(INT_OR_STRING, value) == []


def test_an_int_or_string_that_is_neither_fails_as_a_whole_too() -> None:
    assert problems(INT_OR_STRING, []) == [("spec.x", TYPE), ("", INVALID)]


def test_a_dollar_in_a_class_or_escaped_is_a_dollar() -> None:
    assert problems({"type": "string", "pattern": r"^[$a]\$$"}, "a$") == []
    assert problems({"type": "string", "pattern": r"^[$a]\$$"}, "a$\n") != []


def test_what_stays_as_it_was_is_not_judged_again() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string", "maxLength": 1}, "b": {"type": "string", "maxLength": 1}},
    }
    old = {"a": "long", "b": "x"}
    assert problems(schema, {"a": "long", "b": "y"}, old) == []
    assert problems(schema, {"a": "longer", "b": "y"}, old) == [("spec.x.a", "FieldValueTooLong")]


def test_an_item_of_a_map_list_continues_the_item_of_its_key() -> None:
    item = {
        "type": "object",
        "properties": {"type": {"type": "string"}, "v": {"type": "integer", "maximum": 1}},
    }
    schema = {
        "type": "array",
        "items": item,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
    }
    old = [{"type": "a", "v": 9}]
    assert problems(schema, [{"type": "b", "v": 0}, {"type": "a", "v": 9}], old) == []
    assert problems(schema, [{"type": "b", "v": 9}], old) != []
    plain = {"type": "array", "items": item}
    assert problems(plain, [{"type": "a", "v": 9}, {"type": "a", "v": 9}], old) != []


def test_a_null_that_was_there_is_told_from_nothing() -> None:
    schema = {"type": "array", "items": {"type": "object"}}
    assert problems(schema, [None]) != []
    assert problems(schema, [None], [None]) == []


def test_pruning_says_what_it_drops_and_keeps_what_it_may() -> None:
    schema = {
        "type": "object",
        "properties": {
            "known": {"type": "object", "properties": {"a": {"type": "string"}}},
            "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            "texts": {"type": "object", "additionalProperties": {"type": "string"}},
            "list": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}},
            "number": {"type": "integer"},
        },
    }
    value = {
        "known": {"a": "1", "b": "2"},
        "open": {"b": "2"},
        "texts": {"b": "2"},
        "list": [{"a": "1"}, {"b": "2"}],
        "number": {"b": 2},
        "more": 1,
    }
    unknown: list[str] = []
    assert prune(read_schema(schema), value, None, "", unknown) == {
        "known": {"a": "1"},
        "open": {"b": "2"},
        "texts": {"b": "2"},
        "list": [{"a": "1"}, {}],
        "number": {},
    }
    assert unknown == ["known.b", "list[1].b", "number.b", "more"]


def test_pruning_leaves_alone_what_needs_none() -> None:
    node = read_schema({"type": "object", "properties": {"a": {"type": "object", "properties": {}}}})
    value: Schema = {"a": {}}
    assert prune(node, value, None, "", []) is value


def test_a_whole_number_is_an_integer() -> None:
    node = read_schema({"type": "object", "properties": {"n": {"type": "integer"}}})
    assert str(prune(node, {"n": 2.0}, None, "", [])) == "{'n': 2}"


def test_defaults_are_filled_in_for_what_is_absent_or_null() -> None:
    node = read_schema(
        {
            "type": "object",
            "properties": {
                "a": {"type": "string", "default": "x"},
                "b": {"type": "object", "properties": {"c": {"type": "integer", "default": 1}}},
                "d": {"type": "string", "nullable": True, "default": "y"},
            },
        }
    )
    assert fill(node, {}, None) == {"a": "x", "d": "y"}
    assert fill(node, {"a": None, "b": {}, "d": None}, None) == {"a": "x", "b": {"c": 1}, "d": None}
    full = {"a": "1", "b": {"c": 2}, "d": "2"}
    assert fill(node, full, None) is full


def test_a_key_may_stand_once_in_a_map_list_and_a_value_once_in_a_set() -> None:
    schema = {
        "type": "object",
        "properties": {
            "map": {
                "type": "array",
                "items": {"type": "object"},
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["type"],
            },
            "set": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
            "list": {"type": "array", "items": {"type": "string"}},
        },
    }
    value = {"map": [{"type": "a"}, {"type": "a"}, {}, {"type": "a"}], "set": ["x", "x"], "list": ["x", "x"]}
    assert [str(error) for error in repeated(read_schema(schema), value, None, "")] == [
        'map[1]: Duplicate value: {"type": "a"}',
        'set[1]: Duplicate value: "x"',
    ]


@pytest.mark.parametrize(
    ("format_name", "text", "fit"),
    [
        ("date-time", "2026-01-02T03:04:05Z", True),
        ("date-time", "2026-01-02T03:04:05.123456789+01:00", True),
        ("date-time", "2026-01-02t03:04:05z", True),
        ("date-time", "2026-01-02T03:04:05", False),
        ("date-time", "2026-02-30T03:04:05Z", False),
        ("date-time", "2026-01-02T24:04:05Z", False),
        ("date-time", "2026-01-02", False),
        ("byte", "YQ==", True),
        ("byte", "YQ", False),
        ("byte", "!", False),
        ("anything", "at all", True),
    ],
)
def test_formats(format_name: str, text: str, fit: bool) -> None:
    found = problems({"type": "string", "format": format_name}, text)
    assert found == ([] if fit else [("spec.x", "FieldValueTypeInvalid")])


def broken(schema: Schema, value: Any, old: Any = None) -> list[FieldError]:
    return list(broken_rules(read_schema(schema), value, old))


LIMIT: Schema = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "x-kubernetes-validations": [{"rule": "self.a <= self.b", "message": "a above b", "fieldPath": ".a"}],
}


def test_a_rule_is_told_at_its_field() -> None:
    schema = {"type": "object", "properties": {"x": LIMIT}}
    (error,) = broken(schema, {"x": {"a": 2, "b": 1}})
    assert str(error) == "x.a: Invalid value: a above b"
    assert broken(schema, {"x": {"a": 1, "b": 1}}) == []


def test_a_rule_about_a_text_shows_the_text() -> None:
    schema = {"type": "string", "x-kubernetes-validations": [{"rule": "self != 'x'"}]}
    (error,) = broken({"type": "object", "properties": {"s": schema}}, {"s": "x"})
    assert str(error) == "s: Invalid value: \"x\": failed rule: self != 'x'"


def test_a_rule_that_compares_with_the_old_value_needs_one() -> None:
    schema = {
        "type": "object",
        "properties": {"s": {"type": "string"}},
        "x-kubernetes-validations": [{"rule": "self.s == oldSelf.s", "message": "s is immutable"}],
    }
    assert broken(schema, {"s": "b"}) == []
    assert [error.detail for error in broken(schema, {"s": "b"}, {"s": "a"})] == ["s is immutable"]


def test_a_rule_about_what_did_not_change_is_not_evaluated() -> None:
    schema = {"type": "object", "properties": {"x": LIMIT, "y": {"type": "string"}}}
    bad = {"a": 2, "b": 1}
    assert broken(schema, {"x": bad, "y": "2"}, {"x": dict(bad), "y": "1"}) == []


def test_a_rule_that_cannot_be_evaluated_refuses() -> None:
    (error,) = broken(LIMIT, {"b": 1})
    assert "evaluating rule: a above b" in error.detail


def test_rules_reach_into_lists_and_maps() -> None:
    item = {"type": "string", "x-kubernetes-validations": [{"rule": "self != 'x'", "message": "no x"}]}
    schema = {
        "type": "object",
        "properties": {
            "list": {"type": "array", "items": item},
            "map": {"type": "object", "additionalProperties": item},
        },
    }
    found = broken(schema, {"list": ["a", "x"], "map": {"k": "x"}})
    assert [error.field for error in found] == ["list[1]", "map.k"]
