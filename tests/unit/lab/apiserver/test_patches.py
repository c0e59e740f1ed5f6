"""The three forms of patches, by themselves."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embedded.api import refusal
from kruntimes_core.lab.apiserver import patches
from kruntimes_core.lab.apiserver.kinds.strategy import JSON_PATCH
from kruntimes_core.lab.apiserver.requests import Patch

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from("abcd"), JSON, max_size=4)


def difference(old: Any, new: Any) -> dict[str, Any]:
    """A merge patch that makes `new` of `old`, where `new` has no nulls."""
    patch: dict[str, Any] = {name: None for name in old if name not in new}
    for name, value in new.items():
        if isinstance(value, dict) and isinstance(old.get(name), dict):
            patch[name] = difference(old[name], value)
        elif name not in old or old[name] != value:
            patch[name] = value
    return patch


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_nulls(below) for name, below in value.items() if below is not None}
    return value


@given(OBJECTS, OBJECTS)
def test_a_merge_patch_of_the_difference_makes_the_new_object(old: Any, new: Any) -> None:
    new = without_nulls(new)
    before = deepcopy(old)
    assert patches.merge_patched(old, difference(old, new)) == new
    assert old == before


@pytest.mark.parametrize(
    ("target", "patch", "after"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_the_examples_of_rfc_7386(target: Any, patch: Any, after: Any) -> None:
    assert patches.merge_patched(target, patch) == after


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "add", "path": "/a/3", "value": 9},
        {"op": "add", "path": "b", "value": 9},
        {"op": "add", "path": "/b"},
        {"op": "remove", "path": ""},
        {"op": "move", "from": "/b", "path": "/c"},
        {"op": "test", "path": "/a/0", "value": 2},
        {"op": "sing", "path": "/a"},
        {"op": "replace", "path": "", "value": 5},
        "add",
    ],
)
def test_operations_that_cannot_be_done(operation: Any) -> None:
    patch = Patch(JSON_PATCH, [operation])
    error = refusal(lambda: patches.patched(patch, {"a": [1, 2]}))
    assert (error.code, error.reason) == (422, "Invalid")


def test_operations_are_done_in_order_and_on_a_copy() -> None:
    target = {"a": [1, 2], "x/y": 1}
    operations = [
        {"op": "move", "from": "/a/0", "path": "/b"},
        {"op": "add", "path": "/a/-", "value": 9},
        {"op": "remove", "path": "/x~1y"},
    ]
    assert patches.patched(Patch(JSON_PATCH, operations), target) == {"a": [2, 9], "b": 1}
    assert target == {"a": [1, 2], "x/y": 1}


POD: dict[str, Any] = {
    "metadata": {"labels": {"a": "1"}, "finalizers": ["x"]},
    "spec": {"containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "1"}], "tolerations": [1]},
    "status": {"conditions": [{"type": "Ready", "status": "True"}]},
}


@pytest.mark.parametrize(
    ("patch", "path", "after"),
    [
        (
            {"spec": {"containers": [{"name": "b", "image": "2"}]}},
            ("spec", "containers"),
            [{"name": "a", "image": "1"}, {"name": "b", "image": "2"}],
        ),
        (
            {"spec": {"containers": [{"name": "c"}]}},
            ("spec", "containers"),
            # What is new comes first, unless the patch says an order.
            [{"name": "c"}, {"name": "a", "image": "1"}, {"name": "b", "image": "1"}],
        ),
        (
            {"spec": {"containers": [{"name": "a", "$patch": "delete"}]}},
            ("spec", "containers"),
            [{"name": "b", "image": "1"}],
        ),
        (
            {"spec": {"containers": [{"name": "c"}, {"$patch": "replace"}]}},
            ("spec", "containers"),
            [{"name": "c"}],
        ),
        (
            {"spec": {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]}},
            ("spec", "containers"),
            [{"name": "b", "image": "1"}, {"name": "a", "image": "1"}],
        ),
        ({"spec": {"tolerations": [2]}}, ("spec", "tolerations"), [2]),
        ({"metadata": {"labels": {"a": None, "b": "2"}}}, ("metadata", "labels"), {"b": "2"}),
        ({"metadata": {"labels": {"$patch": "replace", "b": "2"}}}, ("metadata", "labels"), {"b": "2"}),
        ({"metadata": {"finalizers": ["y", "x"]}}, ("metadata", "finalizers"), ["y", "x"]),
        ({"metadata": {"$deleteFromPrimitiveList/finalizers": ["x"]}}, ("metadata", "finalizers"), []),
        (
            {"status": {"conditions": [{"type": "Ready", "status": "False"}, {"type": "B"}]}},
            ("status", "conditions"),
            [{"type": "Ready", "status": "False"}, {"type": "B"}],
        ),
        ({"spec": {"$retainKeys": ["tolerations"], "tolerations": [1]}}, ("spec",), {"tolerations": [1]}),
    ],
)
def test_strategic_merge(patch: dict[str, Any], path: tuple[str, ...], after: Any) -> None:
    before = deepcopy(POD)
    found: Any = patches.strategic_merged(POD, patch)
    for name in path:
        found = found[name]
    assert found == after
    assert before == POD


def test_a_directive_can_delete_a_field() -> None:
    assert (
        "labels"
        not in patches.strategic_merged(POD, {"metadata": {"labels": {"$patch": "delete"}}})["metadata"]
    )


@pytest.mark.parametrize(
    "patch",
    [
        {"spec": {"containers": [{"image": "2"}]}},
        {"spec": {"$patch": "sing"}},
        {"spec": {"containers": ["a"]}},
    ],
)
def test_what_is_no_strategic_merge_patch(patch: dict[str, Any]) -> None:
    assert refusal(lambda: patches.strategic_merged(POD, patch)).code == 500
