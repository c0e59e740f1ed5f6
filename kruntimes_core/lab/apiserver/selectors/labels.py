"""Label selectors as texts: `app=web,tier in (a,b),!old`, read as `apimachinery` reads them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from kruntimes_core.lab.apiserver.field_errors import FieldError, invalid
from kruntimes_core.lab.apiserver.names import problems_of_key, problems_of_value
from kruntimes_core.lab.apiserver.status import ApiError, bad_request

Labels = Mapping[str, str]
Requirement = Callable[[Labels], bool]

_TOKEN = re.compile(r"\s*(==|!=|[=!<>(),]|[^\s=!<>(),]+)")
_SPECIAL = frozenset({"=", "==", "!=", "!", "<", ">", "(", ")", ","})
_OPERATORS = ("=", "==", "!=", "in", "notin", "<", ">")
_EXPECTED = "in, notin, =, ==, !=, gt, lt"


class LabelSelector:
    """A selector that was read: all of its requirements must match."""

    def __init__(self, text: str) -> None:
        """Raises `ApiError` (400) when the text is no selector."""
        self._tokens = _TOKEN.findall(text)
        self._place = 0
        self._requirements = list(self._read())

    @property
    def empty(self) -> bool:
        """Whether it matches everything."""
        return not self._requirements

    def matches(self, labels: Labels) -> bool:
        """Whether an object with these labels is meant."""
        return all(requirement(labels) for requirement in self._requirements)

    def _ahead(self) -> str:
        """The next token, which stays; empty at the end."""
        token: str = self._tokens[self._place] if self._place < len(self._tokens) else ""
        return token

    def _next(self) -> str:
        token = self._ahead()
        self._place += 1
        return token

    def _read(self) -> Iterable[Requirement]:
        if not self._tokens:
            return
        if not _is_word(self._ahead()) and self._ahead() != "!":
            raise bad_request(f"found '{self._ahead()}', expected: !, identifier, or 'end of string'")
        yield self._requirement()
        while word := self._next():
            if word != ",":
                raise bad_request(f"found '{word}', expected: ',' or 'end of string'")
            if not _is_word(self._ahead()) and self._ahead() != "!":
                raise bad_request(f"found '{self._ahead()}', expected: identifier after ','")
            yield self._requirement()

    def _requirement(self) -> Requirement:
        key = self._next()
        negated = key == "!"
        if negated:
            key = self._next()
        if not _is_word(key):
            raise _cannot(f"found '{key}', expected: identifier")
        _check(invalid("", key, problem) for problem in problems_of_key(key))
        if negated:
            return lambda labels: key not in labels
        if self._ahead() in ("", ","):
            return lambda labels: key in labels
        return self._comparison(key, self._next())

    def _comparison(self, key: str, operator: str) -> Requirement:
        if operator not in _OPERATORS:
            raise _cannot(f"found '{operator}', expected: {_EXPECTED}")
        values = self._values() if operator in ("in", "notin") else frozenset({self._value()})
        if operator in ("<", ">"):
            (limit,) = values
            return _number_comparison(key, limit, greater=operator == ">")
        for place, value in enumerate(sorted(values)):
            path = f"values[{place}][{key}]"
            _check(invalid(path, value, problem) for problem in problems_of_value(value))
        if operator in ("notin", "!="):
            return lambda labels: labels.get(key) not in values
        return lambda labels: labels.get(key) in values

    def _value(self) -> str:
        if self._ahead() in ("", ","):
            return ""
        word = self._next()
        if not _is_word(word):
            raise _cannot(f"found '{word}', expected: identifier")
        return word

    def _values(self) -> frozenset[str]:
        if (word := self._next()) != "(":
            raise _cannot(f"found '{word}' expected: '('")
        if self._ahead() == ")":
            self._next()
            return frozenset()
        if not _is_word(self._ahead()) and self._ahead() != ",":
            raise _cannot(f"found '{self._ahead()}', expected: ',', ')' or identifier")
        return frozenset(self._listed())

    def _listed(self) -> Iterable[str]:
        """The values up to the closing bracket; nothing between two commas is the empty value."""
        expects_value = True
        while (word := self._next()) != ")":
            if word == ",":
                if expects_value:
                    yield ""
                expects_value = True
            elif not _is_word(word) or not expects_value:
                raise _cannot(f"found '{word}', expected: ',' or ')'")
            else:
                yield word
                expects_value = False
        if expects_value:
            yield ""


def _is_word(token: str) -> bool:
    return token != "" and token not in _SPECIAL


def _number_comparison(key: str, value: str, *, greater: bool) -> Requirement:
    if not re.fullmatch("[+-]?[0-9]+", value):
        _check([invalid("values[0]", value, "for 'Gt', 'Lt' operators, the value must be an integer")])
    limit = int(value)

    def requirement(labels: Labels) -> bool:
        try:
            number = int(labels[key])
        except (KeyError, ValueError):
            return False
        return number > limit if greater else number < limit

    return requirement


def _check(errors: Iterable[FieldError]) -> None:
    texts = list(map(str, errors))
    if texts:
        raise _cannot(texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]")


def _cannot(problem: str) -> ApiError:
    return bad_request(f"unable to parse requirement: {problem}")
