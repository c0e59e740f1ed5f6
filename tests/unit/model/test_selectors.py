"""Matching labels, in the four operators, against an evaluator that shares nothing with the code."""

import copy
import pickle
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kruntimes_core.model.decode import Decoder
from kruntimes_core.model.selectors import LabelSelector, LabelSet, Operator, Requirement, compile_selector
from kruntimes_core.testing import matching, run_object

Expression = tuple[str, str, tuple[str, ...]]


def says(expression: Expression, labels: Mapping[str, str]) -> bool:
    """Kubernetes' truth table, spelled out: (key there and listed, key there and not, key not there)."""
    key, operator, values = expression
    row = 2 if key not in labels else 0 if operator.endswith("In") and labels[key] in values else 1
    return {
        "In": (True, False, False),
        "NotIn": (False, True, True),
        "Exists": (True, True, False),
        "DoesNotExist": (False, False, True),
    }[operator][row]


def selector_of(*expressions: Expression) -> LabelSelector:
    return compile_selector(
        {
            "matchExpressions": [
                {"key": key, "operator": operator, "values": list(values)}
                for key, operator, values in expressions
            ]
        }
    )


def labels_of(raw: Any) -> LabelSet:
    """Labels as a Run has them whose `metadata.labels` says `raw`."""
    return Decoder().run(run_object(metadata={"labels": raw})).run.labels


ABSENT_KEY = [None, {}, {"other": "gold"}, {"other": ""}]


@pytest.mark.parametrize("raw", ABSENT_KEY)
@pytest.mark.parametrize(
    ("operator", "values", "matches"),
    [("In", ("gold",), False), ("NotIn", ("gold",), True), ("Exists", (), False), ("DoesNotExist", (), True)],
)
def test_an_absent_key_meets_the_two_negative_operators(
    raw: object, operator: str, values: tuple[str, ...], matches: bool
) -> None:
    labels = labels_of(raw)
    assert labels.satisfies(selector_of(("tier", operator, values))) is matches


@pytest.mark.parametrize(
    ("operator", "values", "matches"),
    [
        ("In", ("gold",), False),
        ("In", ("gold", ""), True),
        ("NotIn", ("gold",), True),
        ("NotIn", ("",), False),
        ("Exists", (), True),
        ("DoesNotExist", (), False),
    ],
)
def test_an_empty_value_is_a_present_value(operator: str, values: tuple[str, ...], matches: bool) -> None:
    assert labels_of({"tier": ""}).satisfies(selector_of(("tier", operator, values))) is matches


def test_a_run_without_labels_is_a_target_of_not_in_but_never_of_in() -> None:
    both = selector_of(("app", "In", ("a",)), ("tier", "NotIn", ("gold",)))
    assert not labels_of(None).satisfies(both)
    assert labels_of(None).satisfies(selector_of(("tier", "NotIn", ("gold",))))
    assert labels_of({"app": "a"}).satisfies(both)
    assert not labels_of({"app": "a", "tier": "gold"}).satisfies(both)


keys = st.sampled_from(["a", "b", "example.com/c"])
values = st.sampled_from(["", "x", "y"])
expressions = st.one_of(
    st.tuples(keys, st.sampled_from(["In", "NotIn"]), st.lists(values, min_size=1, max_size=3).map(tuple)),
    st.tuples(keys, st.sampled_from(["Exists", "DoesNotExist"]), st.just(())),
)


@given(
    st.lists(expressions, max_size=4),
    st.dictionaries(keys, values, max_size=2),
    st.one_of(st.none(), st.dictionaries(keys, values)),
)
def test_matching_equals_the_truth_table(
    listed: list[Expression], equal: dict[str, str], labels: dict[str, str] | None
) -> None:
    terms = [{"key": key, "operator": operator, "values": list(given)} for key, operator, given in listed]
    if not terms and not equal:
        return
    selector = compile_selector({"matchLabels": equal, "matchExpressions": terms})
    carried = labels or {}
    expected = all(says(one, carried) for one in listed) and all(
        carried.get(key) == value for key, value in equal.items()
    )
    assert labels_of(labels).satisfies(selector) is expected
    assert selector.matches(carried) is expected


def test_order_and_repetition_make_no_other_selector() -> None:
    first = selector_of(("a", "In", ("x",)), ("b", "NotIn", ("x", "y")))
    second = compile_selector(
        {
            "matchLabels": {"a": "x"},
            "matchExpressions": [{"key": "b", "operator": "NotIn", "values": ["y", "x", "y"]}] * 2,
        }
    )
    assert first == second
    assert hash(first) == hash(second)
    assert first != selector_of(("a", "In", ("x",)))
    stranger: object = "something else"
    assert first != stranger


def test_a_selector_cannot_be_changed_but_copied() -> None:
    selector = matching(app="a")
    with pytest.raises(AttributeError):
        setattr(selector, "requirements", frozenset())  # noqa: B010 - types forbid to write it plainly
    assert copy.deepcopy(selector) == selector
    assert pickle.loads(pickle.dumps(selector)) == selector  # noqa: S301 - our own bytes


def test_label_sets_keep_answering_right_beyond_what_they_remember() -> None:
    labels = LabelSet({"n": "7"})
    selectors = [
        LabelSelector(frozenset({Requirement("n", Operator.IN, frozenset({str(n)}))})) for n in range(600)
    ]
    for _ in range(2):
        assert [n for n, selector in enumerate(selectors) if labels.satisfies(selector)] == [7]
