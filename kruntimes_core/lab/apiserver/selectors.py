"""Label selectors (`app=web,tier in (a,b),!old`) and field selectors (`status.phase!=Running`) as texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from kruntimes_core.lab.apiserver.errors import bad_request
from kruntimes_core.lab.apiserver.metadata import problems_of_key, problems_of_value
from kruntimes_core.lab.apiserver.objects import Object, metadata_of

# Labels

Labels = Mapping[str, str]
Requirement = Callable[[Labels], bool]

_WORD = r"[^\s=!<>(),]+"
_REQUIREMENT = re.compile(
    rf"\s*(?P<negated>!?)\s*(?P<key>{_WORD})"
    rf"(?:\s*(?P<operator>==|!=|[=<>])\s*(?P<value>{_WORD})?|\s+(?P<set>in|notin)\s*\((?P<values>[^()]*)\))?"
    r"\s*(?P<end>,|$)"
)


def label_requirements(text: str) -> Iterator[Requirement]:
    """What a label selector requires, all at once. Raises `ApiError` (400) for another text."""
    place, more = 0, bool(text.strip())
    while more:
        found = _REQUIREMENT.match(text, place)
        if found is None or (found["negated"] and (found["operator"] or found["set"])):
            problem = (
                f"cannot read {text[place:]!r}" if text[place:] else "a requirement is missing at the end"
            )
            raise bad_request(f"invalid label selector {text!r}: {problem}")
        yield _requirement(found)
        place, more = found.end(), bool(found["end"])


def _requirement(found: re.Match[str]) -> Requirement:
    key, operator = found["key"], found["operator"] or found["set"]
    _check(key, problems_of_key(key))
    if operator is None:
        there = not found["negated"]
        return lambda labels: (key in labels) is there
    if operator in ("<", ">"):
        return _number_comparison(key, found["value"] or "", greater=operator == ">")
    values = _values(found["values"]) if found["set"] else frozenset({found["value"] or ""})
    for value in values:
        _check(value, problems_of_value(value))
    wanted = operator not in ("notin", "!=")
    return lambda labels: (labels.get(key) in values) is wanted


def _values(text: str) -> frozenset[str]:
    return frozenset(value.strip() for value in text.split(",")) if text.strip() else frozenset()


def _number_comparison(key: str, value: str, *, greater: bool) -> Requirement:
    if not re.fullmatch("[+-]?[0-9]+", value):
        _check(value, ["the value of '<' and '>' must be an integer"])
    limit = int(value)

    def requirement(labels: Labels) -> bool:
        try:
            number = int(labels[key])
        except (KeyError, ValueError):
            return False
        return number > limit if greater else number < limit

    return requirement


def _check(shown: str, problems: Iterable[str]) -> None:
    for problem in problems:
        raise bad_request(f"invalid label selector: {shown!r}: {problem}")


# Fields

ReadField = Callable[[Object], str]
Readers = Mapping[str, ReadField]

_SPLIT = re.compile(r"(?<!\\),")
_TERM = re.compile(r"(.*?)(!=|==|=)(.*)", re.DOTALL)


def at(*path: str) -> ReadField:
    """Reads one text of an object; what is missing is empty."""

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


def field_requirements(text: str, readers: Readers) -> Iterator[Callable[[Object], bool]]:
    """What a field selector requires, all at once. readers: the fields that the kind offers.

    Raises `ApiError` (400).
    """
    for part in filter(None, _SPLIT.split(text)):
        match = _TERM.fullmatch(part)
        if match is None:
            raise bad_request(f"invalid field selector {text!r}: cannot read {part!r}")
        field, operator, value = match.groups()
        # Nothing equals nothing: no condition.
        if field or value:
            if field not in readers:
                raise bad_request(f"field label not supported: {field}")
            yield _comparison(readers[field], re.sub(r"\\([\\,=])", r"\1", value), equal=operator != "!=")


def _comparison(read: ReadField, value: str, *, equal: bool) -> Callable[[Object], bool]:
    return lambda obj: (read(obj) == value) is equal
