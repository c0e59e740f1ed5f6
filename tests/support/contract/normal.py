"""Makes the answers of two servers comparable: what must differ is replaced by what it means.

uids are numbered as they appear; versions become ranks; times that the server read from a clock, ages and
continue tokens lose their value; managedFields, which the embedded server never has, are left out. Times of
2001 come from scripts and stay. Of an error the code, the reason and the fields and types of its causes are
compared, not its prose, nor what the columns of a table say of themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_UID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_TIME = re.compile(r"\b(?!2001-)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z")
_GENERATED = re.compile(r"\b([Gg]en[-_])[a-z0-9]{5}\b")
_AGE = re.compile(r"^\d+s$")
_IN_QUERY = re.compile(r"\b(resourceVersion|continue)=(?:\d+\b|[\w-]{20,})")


class Normal:
    """Replaces what one server said in one script. Feed it the whole record, in order."""

    def __init__(self, namespace: str, record: Iterable[tuple[str, Any]]) -> None:
        self._namespace = namespace
        self._uids: dict[str, str] = {}
        self._versions = sorted({version for _, said in record for version in _written(said)})

    def of(self, said: Any) -> Any:
        """The normal form of something said."""
        if isinstance(said, str):
            return self._text(said)
        if isinstance(said, list):
            return [self.of(item) for item in said]
        if isinstance(said, dict):
            return {
                self._text(name): self._field(name, value, said)
                for name, value in said.items()
                if name != "managedFields"
            }
        return said

    def request(self, target: str) -> str:
        """The normal form of a request."""
        return _IN_QUERY.sub(r"\1=<of before>", self._text(target))

    def _field(self, name: str, value: Any, owner: Mapping[str, Any]) -> Any:
        if name == "resourceVersion" and isinstance(value, str) and value.isdigit():
            return self._version(int(value), written="uid" in owner)
        if name == "continue" and value:
            return "<continue>"
        if (name == "message" and owner.get("kind") == "Status") or (
            name == "description" and "priority" in owner
        ):
            return "<prose>"
        if name == "causes":
            return sorted({f"{cause.get('reason')} at {cause.get('field')}" for cause in value})
        if name == "warnings":
            # What stands after a field's name is prose.
            return [self._text(warning).partition(": ")[0] for warning in value]
        if name == "cells":
            return ["<age>" if _AGE.match(str(cell)) else self.of(cell) for cell in value]
        return self.of(value)

    def _version(self, version: int, *, written: bool) -> str:
        """Which write of the script it is, or after how many of them."""
        if written:
            return f"<version {self._versions.index(version) + 1}>"
        return f"<after version {sum(known <= version for known in self._versions)}>"

    def _text(self, text: str) -> str:
        text = text.replace(self._namespace, "<namespace>")
        text = _UID.sub(self._uid, text)
        text = _TIME.sub(lambda match: "<micro time>" if match.group(1) else "<time>", text)
        return _GENERATED.sub(r"\1<random>", text)

    def _uid(self, match: re.Match[str]) -> str:
        return self._uids.setdefault(match.group(), f"<uid {len(self._uids) + 1}>")


def _written(said: Any) -> Iterator[int]:
    """The versions of the objects in an answer; those of lists and bookmarks are no writes of the script."""
    if isinstance(said, list):
        for item in said:
            yield from _written(item)
    elif isinstance(said, dict):
        version = said.get("resourceVersion")
        if "uid" in said and isinstance(version, str) and version.isdigit():
            yield int(version)
        for name, value in said.items():
            if name != "managedFields":
                yield from _written(value)
