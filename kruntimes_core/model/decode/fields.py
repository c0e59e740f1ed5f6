"""Reading fields of JSON objects whose types nobody has checked."""

from __future__ import annotations

from collections.abc import Mapping

from kruntimes_core.model.decode.problems import FieldError
from kruntimes_core.model.messages import quoted

NOTHING: Mapping[str, object] = {}
# What a JSON reader gives is a dict, and asking the abstract class costs ten times as much.
_OBJECT = (dict, Mapping)


def members(value: object) -> Mapping[str, object]:
    """The members of a JSON object; none when `value` is anything else."""
    return value if isinstance(value, _OBJECT) else NOTHING


def text(value: object) -> str:
    """A JSON string; empty when `value` is anything else."""
    return value if isinstance(value, str) else ""


def optional_members(value: object, path: str) -> Mapping[str, object]:
    """The members of a JSON object that may be absent; raises `FieldError` for any other type."""
    if value is None:
        return NOTHING
    if not isinstance(value, _OBJECT):
        raise FieldError(path, f"{quoted(value)} stands where an object must: write a map of fields")
    return value


def optional_list(value: object, path: str) -> list[object]:
    """A JSON list that may be absent; raises `FieldError` for any other type."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise FieldError(path, f"{quoted(value)} stands where a list must: write a list")
    return value


def texts(value: object) -> dict[str, str]:
    """The members of a JSON object that are strings by strings, as all labels and annotations must be."""
    if not isinstance(value, _OBJECT):
        return {}
    return {key: entry for key, entry in value.items() if isinstance(key, str) and isinstance(entry, str)}


def is_whole(value: object, readable: Mapping[str, str]) -> bool:
    """Whether `readable` is all of a map of strings that may be absent."""
    return value is None or (isinstance(value, _OBJECT) and len(value) == len(readable))


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
