"""The rules of a schema (`x-kubernetes-validations`), evaluated by a library for CEL.

The library is an extra (`kruntimes-core[dev]`): without it the rules are not asked, and the server says
so. A rule about a part that did not change is not asked: what it would refuse is only a warning on a
kube-apiserver, and a rule that compares with the old value has nothing to compare.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from kruntimes_core.lab.apiserver.errors import OMITTED, Cause, FieldError
from kruntimes_core.lab.apiserver.schema import Node, ValidationRule, child, index
from kruntimes_core.lab.apiserver.validation import partner_finder

_CAUSES = {
    "FieldValueInvalid": Cause.INVALID,
    "FieldValueForbidden": Cause.FORBIDDEN,
    "FieldValueRequired": Cause.REQUIRED,
    "FieldValueDuplicate": Cause.DUPLICATE,
}


class Program(Protocol):
    """A compiled rule, as the library gives it."""

    def execute(self, context: dict[str, Any]) -> Any:
        """The value of the rule. Raises whatever the library raises when it has none."""


Compile = Callable[[str], Program]


def library() -> Compile | None:
    """The library's compiler; None when it is not installed."""
    try:
        import cel
    except ImportError:
        return None
    compiler: Compile = cel.compile
    return compiler


class Rules:
    """All rules of one schema, compiled."""

    def __init__(self, root: Node, compile_rule: Compile) -> None:
        """Raises `ValueError` when a rule cannot be compiled."""
        self._root = root
        self._programs: dict[str, tuple[Program, bool]] = {}
        self._concerned: set[int] = set()
        self._gather(root, compile_rule)

    def _gather(self, node: Node, compile_rule: Compile) -> bool:
        for rule in node.rules:
            self._programs[rule.text] = (compile_rule(rule.text), "oldSelf" in rule.text)
        below = [self._gather(part, compile_rule) for part in _parts(node)]
        if node.rules or any(below):
            self._concerned.add(id(node))
            return True
        return False

    @property
    def any(self) -> bool:
        """Whether there are rules at all."""
        return bool(self._programs)

    def broken(self, value: Any, old: Any) -> Iterator[FieldError]:
        """What the rules refuse in an object; old: None for a new one."""
        yield from self._walk(self._root, value, old, "")

    def _walk(self, node: Node, value: Any, old: Any, path: str) -> Iterator[FieldError]:
        if id(node) not in self._concerned or value is None:
            return
        if old is not None and (value is old or value == old):
            return
        yield from self._here(node, value, old, path)
        if isinstance(value, dict):
            before = old if isinstance(old, dict) else {}
            for name, below in value.items():
                known = node.properties.get(name, node.values)
                if known is not None:
                    yield from self._walk(known, below, before.get(name), child(path, name))
        elif isinstance(value, list) and node.items is not None:
            partner = partner_finder(node, old)
            for place, item in enumerate(value):
                yield from self._walk(node.items, item, partner(item), index(path, place))

    def _here(self, node: Node, value: Any, old: Any, path: str) -> Iterator[FieldError]:
        for rule in node.rules:
            program, needs_old = self._programs[rule.text]
            if needs_old and old is None:
                continue
            context = {"self": value, "oldSelf": old} if needs_old else {"self": value}
            problem = _evaluate(program, context, rule)
            if problem is not None:
                at = path + rule.field_path if path else rule.field_path.lstrip(".")
                shown = OMITTED if isinstance(value, dict | list) else value
                yield FieldError(_CAUSES[rule.reason], at, shown, problem)


def _evaluate(program: Program, context: dict[str, Any], rule: ValidationRule) -> str | None:
    try:
        return None if program.execute(context) is True else rule.message
    except (ArithmeticError, LookupError, TypeError, ValueError, RuntimeError) as error:
        return f"{error} evaluating rule: {rule.message}"


def _parts(node: Node) -> Iterable[Node]:
    yield from node.properties.values()
    if node.values is not None:
        yield node.values
    if node.items is not None:
        yield node.items
