"""Label selectors as texts: `app=web,tier in (a,b),!old`, read as `apimachinery` reads them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from kruntimes_core.lab.apiserver.status import ApiError, bad_request

Labels = Mapping[str, str]
Requirement = Callable[[Labels], bool]

_TOKEN = re.compile(r"\s*(==|!=|[=!<>(),]|[^\s=!<>(),]+)")
_OPERATORS = ("=", "==", "!=", "in", "notin", "gt", "lt", ">", "<")
_EXPECTED = "in, notin, =, ==, !=, gt, lt"


class LabelSelector:
    """A selector that was read: all of its requirements must match."""

    def __init__(self, text: str) -> None:
        """Raises `ApiError` (400) when the text is no selector."""
        self._tokens = _TOKEN.findall(text)
        self._place = 0
        self._requirements = self._read() if self._tokens else []

    @property
    def empty(self) -> bool:
        """Whether it matches everything."""
        return not self._requirements

    def matches(self, labels: Labels) -> bool:
        """Whether an object with these labels is meant."""
        return all(requirement(labels) for requirement in self._requirements)

    def _next(self) -> str:
        token: str = self._tokens[self._place] if self._place < len(self._tokens) else ""
        self._place += 1
        return token

    def _read(self) -> list[Requirement]:
        found = [self._requirement()]
        while word := self._next():
            if word != ",":
                raise _cannot(f"found '{word}', expected: ',' or 'end of string'")
            found.append(self._requirement())
        return found

    def _requirement(self) -> Requirement:
        key = self._next()
        negated = key == "!"
        if negated:
            key = self._next()
        if not key or key in "=!<>(),==":
            raise _cannot(f"found '{key}', expected: !, identifier, or 'end of string'")
        if negated:
            return lambda labels: key not in labels
        after = self._tokens[self._place] if self._place < len(self._tokens) else ""
        if after in ("", ","):
            return lambda labels: key in labels
        return self._comparison(key, self._next())

    def _comparison(self, key: str, operator: str) -> Requirement:
        if operator not in _OPERATORS:
            raise _cannot(f"found '{operator}', expected: {_EXPECTED}")
        if operator in ("in", "notin"):
            values = self._values()
            if operator == "in":
                return lambda labels: labels.get(key) in values
            return lambda labels: labels.get(key) not in values
        value = self._value()
        if operator in ("=", "=="):
            return lambda labels: labels.get(key) == value
        if operator == "!=":
            return lambda labels: labels.get(key) != value
        return _number_comparison(key, value, greater=operator in ("gt", ">"))

    def _value(self) -> str:
        if self._place >= len(self._tokens) or self._tokens[self._place] == ",":
            return ""
        return self._next()

    def _values(self) -> frozenset[str]:
        if (word := self._next()) != "(":
            raise _cannot(f"found '{word}' expected: '('")
        values = set()
        while (word := self._next()) != ")":
            if not word:
                raise _cannot("found '', expected: ',' or ')'")
            if word != ",":
                values.add(word)
        return frozenset(values or {""})


def _number_comparison(key: str, value: str, *, greater: bool) -> Requirement:
    try:
        limit = int(value)
    except ValueError:
        raise _cannot(
            f"values[0][{key}]: Invalid value: \"{value}\": for 'Gt', 'Lt' operators, "
            "the value must be an integer"
        ) from None

    def requirement(labels: Labels) -> bool:
        try:
            number = int(labels[key])
        except (KeyError, ValueError):
            return False
        return number > limit if greater else number < limit

    return requirement


def _cannot(problem: str) -> ApiError:
    return bad_request(f"unable to parse requirement: {problem}")
