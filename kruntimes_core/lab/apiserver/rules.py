"""The rules of a schema (`x-kubernetes-validations`) in the Common Expression Language.

A rule about a part that did not change is not evaluated: what it would refuse is only a warning on a
kube-apiserver, and a rule that compares with the old value has nothing to compare.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from kruntimes_core.lab.apiserver.errors import OMITTED, Cause, FieldError
from kruntimes_core.lab.apiserver.schema import Node, ValidationRule, child, index
from kruntimes_core.lab.apiserver.validation import partner_finder

if TYPE_CHECKING:
    from cel import Program

_CAUSES = {cause.value[0]: cause for cause in Cause}


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
