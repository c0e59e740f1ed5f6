"""The passes along a schema: words of the problems, odd values, and what is not judged again."""

from __future__ import annotations

from typing import Any

import pytest

from kruntimes_core.lab.apiserver.errors import FieldError
from kruntimes_core.lab.apiserver.rules import Rules, library
from kruntimes_core.lab.apiserver.schema import fill, prune, read_schema
from kruntimes_core.lab.apiserver.validation import ABSENT, Checker, fits, repeated

Schema = dict[str, Any]
INT_OR_STRING: Schema = {
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "x-kubernetes-int-or-string": True,
    "pattern": "^[0-9]+(k)?$",
}


def problems(
    schema: Schema, value: Any, old: Any = ABSENT, root: str = "", path: str = "spec.x"
) -> list[str]:
    checker = Checker(root)
    checker.check(read_schema(schema), value, old, path)
    return [str(error) for error in checker.errors]


@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        ({"type": "string"}, 5, 'Invalid value: "integer": <body> must be of type string: "integer"'),
        ({"type": "integer"}, "5", 'Invalid value: "string": <body> must be of type integer: "string"'),
        ({"type": "object"}, [], 'Invalid value: "array": <body> must be of type object: "array"'),
        ({"type": "boolean"}, None, 'Invalid value: "null": <body> must be of type boolean: "null"'),
        (
            {"type": "integer", "minimum": 1},
            0,
            "Invalid value: 0: <body> should be greater than or equal to 1",
        ),
        ({"type": "integer", "maximum": 1}, 2, "Invalid value: 2: <body> should be less than or equal to 1"),
        ({"type": "string", "maxLength": 2}, "abc", "Too long: may not be more than 2 bytes"),
        (
            {"type": "string", "minLength": 2},
            "a",
            'Invalid value: "a": <body> should be at least 2 chars long',
        ),
        ({"type": "string", "pattern": "^a$"}, "b", "Invalid value: \"b\": <body> should match '^a$'"),
        ({"type": "string", "pattern": "^a$"}, "a\n", "Invalid value: \"a\\n\": <body> should match '^a$'"),
        ({"type": "string", "enum": ["a", "b"]}, "c", 'Unsupported value: "c": supported values: "a", "b"'),
        ({"type": "array", "items": {}, "maxItems": 1}, [1, 2], "Too many: 2: must have at most 1 item"),
        ({"type": "object", "maxProperties": 1}, {"a": 1, "b": 2}, "Too many: 2: must have at most 1 item"),
        (
            {"type": "string", "format": "date-time"},
            "x",
            'Invalid value: "x": <body> must be of type date-time: "x"',
        ),
    ],
)
def test_problems_are_worded_as_the_real_server_words_them(schema: Schema, value: Any, said: str) -> None:
    (problem,) = problems(schema, value)
    assert problem.replace("spec.x in body", "<body>") == f"spec.x: {said}"


def test_a_required_field_is_named_by_its_own_path() -> None:
    schema = {"type": "object", "required": ["a"]}
    assert problems(schema, {}, path="spec.x[0]") == ["spec.x[0].a: Required value"]


def test_in_a_status_the_words_leave_the_root_out() -> None:
    schema = {"type": "integer", "minimum": 0}
    (said,) = problems(schema, -1, root="status", path="status.attempt")
    assert said == "status.attempt: Invalid value: -1: attempt in body should be greater than or equal to 0"


def test_a_number_out_of_the_range_of_its_format_is_told_at_the_root() -> None:
    schema = {"type": "integer", "format": "int32"}
    (said,) = problems(schema, 2**31)
    assert said == (
        '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.x'
    )
    (said,) = problems(schema, 2**31, root="status", path="status.attempt")
    assert said.startswith('status: Invalid value: ""')


@pytest.mark.parametrize("value", [0, 2.0, 2**31 - 1, -(2**31)])
def test_these_are_int32(value: float) -> None:
    assert problems({"type": "integer", "format": "int32"}, value) == []


@pytest.mark.parametrize("value", [1, "1", "12k"])
def test_an_int_or_string_may_be_both(value: object) -> None:
    assert problems(INT_OR_STRING, value) == []


def test_an_int_or_string_that_is_neither_fails_as_both_and_each() -> None:
    said = problems(INT_OR_STRING, [])
    assert [line.split(":")[0] for line in said] == ["spec.x", "<nil>", "spec.x"]
    assert said[1] == '<nil>: Invalid value: "": "spec.x" must validate at least one schema (anyOf)'


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
    assert problems(schema, {"a": "longer", "b": "y"}, old) == [
        "spec.x.a: Too long: may not be more than 1 byte"
    ]


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
        'map[1]: Duplicate value: {"type":"a"}',
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
    assert fits(format_name, text) is fit


def broken(schema: Schema, value: Any, old: Any = None) -> list[FieldError]:
    compiler = library()
    assert compiler is not None, "these tests need the extra `dev`"
    return list(Rules(read_schema(schema), compiler).broken(value, old))


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


def test_a_rule_about_what_did_not_change_is_not_asked() -> None:
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


def test_without_the_library_the_rules_are_not_asked() -> None:
    from kruntimes_core.lab.apiserver.kinds.custom_resources import resources_of

    definition = {
        "spec": {
            "group": "x.io",
            "scope": "Namespaced",
            "names": {"kind": "Limit", "plural": "limits"},
            "versions": [{"name": "v1", "served": True, "schema": {"openAPIV3Schema": LIMIT}}],
        }
    }
    obj = {"apiVersion": "x.io/v1", "kind": "Limit", "metadata": {"name": "l"}, "a": 2, "b": 1}
    (unchecked,) = resources_of(definition, None)
    (checked,) = resources_of(definition, library())
    assert list(unchecked.strategy.problems_of_new(obj)) == []
    assert [error.field for error in checked.strategy.problems_of_new(obj)] == ["a"]
