"""Field selectors: `metadata.name=r1,status.phase!=Running`, for the few fields that each kind offers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from kruntimes_core.lab.apiserver.objects import Object, metadata_of
from kruntimes_core.lab.apiserver.status import bad_request

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
