"""Reading single fields of JSON objects of unchecked types, and the spellings that Kubernetes allows."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kruntimes_core.model.messages import quoted

NOTHING: Mapping[str, object] = {}
# A JSON reader gives a dict; an instance check against the abstract class costs ten times as much.
_OBJECT = (dict, Mapping)

# The rules of apimachinery's `validation` package.
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*")
_MAX_NAME = 63
_MAX_SUBDOMAIN = 253


class DecodeError(ValueError):
    """A field that cannot be used. Decoding an object raises and catches it; `compile_selector` lets it out.

    path: the field, from the object's root. problem: what is wrong and what to write instead.
    unreadable: True when it could not be read, False when what was read is not allowed there.
    """

    def __init__(self, path: str, problem: str, *, unreadable: bool = True) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem
        self.unreadable = unreadable

    def below(self, parent: str) -> DecodeError:
        """The same problem, with the path of the object that contains the field."""
        return DecodeError(f"{parent}.{self.path}", self.problem, unreadable=self.unreadable)


def members(value: object) -> Mapping[str, object]:
    """The members of a JSON object; none when `value` is anything else."""
    return value if isinstance(value, _OBJECT) else NOTHING


def text(value: object) -> str:
    """A JSON string; empty when `value` is anything else."""
    return value if isinstance(value, str) else ""


def texts(value: object) -> dict[str, str]:
    """The string members of a JSON object, under string keys, as all labels and annotations must be."""
    if not isinstance(value, _OBJECT):
        return {}
    return {key: entry for key, entry in value.items() if isinstance(key, str) and isinstance(entry, str)}


def is_whole(value: object, readable: Mapping[str, str]) -> bool:
    """Whether `readable` is all of a map of strings that may be absent."""
    return value is None or (isinstance(value, _OBJECT) and len(value) == len(readable))


def optional_members(value: object, path: str) -> Mapping[str, object]:
    """The members of a JSON object that may be absent; raises `DecodeError` for any other type."""
    if value is None:
        return NOTHING
    if not isinstance(value, _OBJECT):
        raise DecodeError(path, f"{quoted(value)} is not an object: write a map of fields")
    return value


def optional_list(value: object, path: str) -> list[object]:
    """A JSON list that may be absent; raises `DecodeError` for any other type."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise DecodeError(path, f"{quoted(value)} is not a list: write a list")
    return value


def condition(conditions: object, kind: str) -> Mapping[str, object]:
    """The first condition of a type in `status.conditions`; empty when there is none that can be read."""
    if isinstance(conditions, list | tuple):
        for entry in conditions:
            if isinstance(entry, _OBJECT) and entry.get("type") == kind:
                return entry
    return NOTHING


def marked_for_deletion(metadata: Mapping[str, object]) -> bool:
    """Whether `metadata.deletionTimestamp` is there, readable or not."""
    return metadata.get("deletionTimestamp") not in (None, "")


def is_label_value(value: str) -> bool:
    """Whether `value` can be the value of a label: empty, or up to 63 letters, digits, `-`, `_`, `.`."""
    return not value or _is_name(value)


def is_qualified_name(key: str) -> bool:
    """Whether `key` can be the key of a label: a name, or a DNS subdomain, a slash and a name."""
    prefix, slash, name = key.rpartition("/")
    return _is_name(name) and (not slash or is_subdomain(prefix))


def is_subdomain(name: str) -> bool:
    """Whether `name` is a DNS-1123 subdomain of at most 253 characters."""
    return len(name) <= _MAX_SUBDOMAIN and _SUBDOMAIN.fullmatch(name) is not None


def _is_name(name: str) -> bool:
    return len(name) <= _MAX_NAME and _NAME.fullmatch(name) is not None
