"""Field selectors: `metadata.name=r1,status.phase!=Running`, for the few fields that each kind offers.

Label selectors as texts: `app=web,tier in (a,b),!old`, read as `apimachinery` reads them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from kruntimes_core.lab.apiserver.errors import ApiError, FieldError, bad_request, invalid
from kruntimes_core.lab.apiserver.metadata import problems_of_key, problems_of_value
from kruntimes_core.lab.apiserver.objects import Object, metadata_of

ReadField = Callable[[Object], str]
Readers = Mapping[str, ReadField]

_SPLIT = re.compile(r"(?<!\\),")
_TERM = re.compile(r"(.*?)(!=|==|=)(.*)", re.DOTALL)


def at(*path: str) -> ReadField:
    """Reads one text of an object; what is missing or no text is empty."""

    def read(obj: Object) -> str:
        value: object = obj
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        return "" if value is None else str(value)

    return read


METADATA: Readers = {
    "metadata.name": lambda obj: metadata_of(obj).get("name", ""),
    "metadata.namespace": lambda obj: metadata_of(obj).get("namespace", ""),
}
"""What every kind offers."""


class FieldSelector:
    """A selector that was read; the terms are (read, wanted value, whether it must be equal)."""

    def __init__(self, text: str, readers: Readers) -> None:
        """readers: the fields that the kind offers. Raises `ApiError` (400)."""
        self._terms: list[tuple[ReadField, str, bool]] = []
        self.name: str | None = None
        """The only name that can match, when the selector asks for one."""
        for part in _SPLIT.split(text) if text else ():
            if not part:
                continue
            match = _TERM.fullmatch(part)
            if match is None:
                raise bad_request(f"invalid selector: '{text}'; can't understand '{part}'")
            self._add(match.group(1), match.group(2) != "!=", _unescaped(match.group(3)), readers)

    def _add(self, field: str, equal: bool, value: str, readers: Readers) -> None:
        if not field and not value:
            # Nothing equals nothing: no condition.
            return
        if field not in readers:
            raise bad_request(f"field label not supported: {field}")
        self._terms.append((readers[field], value, equal))
        if field == "metadata.name" and equal:
            self.name = value

    @property
    def empty(self) -> bool:
        """Whether it matches everything."""
        return not self._terms

    def matches(self, obj: Object) -> bool:
        """Whether the object is meant."""
        return all((read(obj) == value) is equal for read, value, equal in self._terms)


def _unescaped(value: str) -> str:
    return re.sub(r"\\([\\,=])", r"\1", value)


Labels = Mapping[str, str]
Requirement = Callable[[Labels], bool]

_TOKEN = re.compile(r"\s*(==|!=|[=!<>(),]|[^\s=!<>(),]+)")
_SPECIAL = frozenset({"=", "==", "!=", "!", "<", ">", "(", ")", ","})
_OPERATORS = ("=", "==", "!=", "in", "notin", "<", ">")
_EXPECTED = "in, notin, =, ==, !=, gt, lt"


class LabelRequirements:
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
