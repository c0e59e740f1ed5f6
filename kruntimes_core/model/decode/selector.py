"""Label selectors, compiled under the same rules under which an API server accepts them.

The rules are those of apimachinery's `labels.NewRequirement`: what it refuses can match nothing
that anybody meant, so the Run that carries it must fail, and no other.
"""

from __future__ import annotations

from collections.abc import Mapping

from kruntimes_core.model.decode.fields import optional_list, optional_members
from kruntimes_core.model.decode.problems import FieldError
from kruntimes_core.model.decode.syntax import is_label_value, is_qualified_name
from kruntimes_core.model.messages import quoted
from kruntimes_core.model.selectors import LabelSelector, Operator, Requirement

_OPERATORS = {operator.value: operator for operator in Operator}
_WITH_VALUES = frozenset({Operator.IN, Operator.NOT_IN})


def compile_selector(value: object) -> LabelSelector:
    """Compile a metav1.LabelSelector.

    In: its JSON. Raises `FieldError`, with the path below the selector: `unreadable` when it cannot
    be compiled, not so when it is empty (it would match every Run; the API does not allow it).
    """
    if not isinstance(value, Mapping):
        raise FieldError("labelSelector", f"{quoted(value)} is no selector: write matchLabels")
    labels = optional_members(value.get("matchLabels"), "labelSelector.matchLabels")
    expressions = optional_list(value.get("matchExpressions"), "labelSelector.matchExpressions")
    requirements = {_equality(key, label) for key, label in labels.items()}
    for place, expression in enumerate(expressions):
        requirements.add(_requirement(expression, f"labelSelector.matchExpressions[{place}]"))
    if not requirements:
        problem = "it is empty and would match every Run: write matchLabels or matchExpressions"
        raise FieldError("labelSelector", problem, unreadable=False)
    return LabelSelector(frozenset(requirements))


def _equality(key: object, value: object) -> Requirement:
    path = "labelSelector.matchLabels"
    return Requirement(_key(key, path), Operator.IN, frozenset({_label_value(value, key, path)}))


def _requirement(value: object, path: str) -> Requirement:
    fields = optional_members(value, path)
    key = _key(fields.get("key"), f"{path}.key")
    operator = _operator(fields.get("operator"), key, f"{path}.operator")
    given = optional_list(fields.get("values"), f"{path}.values")
    if (operator in _WITH_VALUES) != bool(given):
        wanted = "needs at least one value" if operator in _WITH_VALUES else "takes no values"
        raise FieldError(f"{path}.values", f"operator {operator.value} on key {quoted(key)} {wanted}")
    values = frozenset(_label_value(entry, key, f"{path}.values") for entry in given)
    return Requirement(key, operator, values)


def _key(key: object, path: str) -> str:
    if not isinstance(key, str) or not is_qualified_name(key):
        rule = "write up to 63 letters, digits, '-', '_' or '.', after an optional DNS prefix and '/'"
        raise FieldError(path, f"{quoted(key)} is no label key: {rule}")
    return key


def _operator(operator: object, key: str, path: str) -> Operator:
    known = _OPERATORS.get(operator) if isinstance(operator, str) else None
    if known is None:
        problem = f"unknown operator {quoted(operator)} on key {quoted(key)}: write {', '.join(_OPERATORS)}"
        raise FieldError(path, problem)
    return known


def _label_value(value: object, key: object, path: str) -> str:
    if not isinstance(value, str) or not is_label_value(value):
        rule = "write nothing or up to 63 letters, digits, '-', '_' or '.'"
        raise FieldError(path, f"{quoted(value)} of key {quoted(key)} is no label value: {rule}")
    return value
