"""The columns of server-side tables: of custom resources by their printer columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kruntimes_core.lab.apiserver.ages import age
from kruntimes_core.lab.apiserver.objects import Object, metadata_of
from kruntimes_core.model.times import parse_time

NAME_WORDS = (
    "Name must be unique within a namespace. Is required when creating resources, although some resources "
    "may allow a client to request the generation of an appropriate name automatically. Name is primarily "
    "intended for creation idempotence and configuration definition. Cannot be updated. More info: "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names"
)
AGE_WORDS = (
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not "
    "guaranteed to be set in happens-before order across separate operations. Clients may not set this "
    "value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null "
    "for lists. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"
)

Cell = Callable[[Object, datetime], Any]
_STEP = re.compile(r"\.([^.\[\]]+)|\[([0-9]+)\]|\['([^']+)'\]")


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its head, and how an object (and the time now) makes a cell of it."""

    name: str
    cell: Cell
    type: str = "string"
    format: str = ""
    description: str = ""
    priority: int = 0

    def as_object(self) -> Object:
        """The head as a TableColumnDefinition."""
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": self.description,
            "priority": self.priority,
        }


def name_column(priority: int = 0) -> Column:
    """The column of the name."""
    return Column("Name", _name, "string", "name", NAME_WORDS, priority)


def _name(obj: Object, _: datetime) -> Any:
    return metadata_of(obj).get("name", "")


def age_column() -> Column:
    """The column of the age, as built-in kinds have it."""
    return Column("Age", lambda obj, now: age(created(obj), now), description=AGE_WORDS)


def created(obj: Object) -> object:
    """The creationTimestamp."""
    return metadata_of(obj).get("creationTimestamp")


def custom_columns(entries: Iterable[Mapping[str, Any]]) -> tuple[Column, ...]:
    """The columns of a custom resource, from `additionalPrinterColumns`."""
    return (name_column(), *map(_custom, entries)) if entries else (name_column(), _default_age())


def _default_age() -> Column:
    return _custom({"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"})


def _custom(entry: Mapping[str, Any]) -> Column:
    path = entry["jsonPath"]
    words = entry.get("description") or f"Custom resource definition column (in JSONPath format): {path}"
    steps = [first or third or int(second) for first, second, third in _STEP.findall(path)]
    shown = _SHOWN[entry["type"]]
    return Column(
        entry["name"],
        lambda obj, now: shown(_at(obj, steps), now),
        entry["type"],
        entry.get("format", ""),
        words,
        entry.get("priority", 0),
    )


def _at(obj: Any, steps: list[str | int]) -> Any:
    for step in steps:
        if isinstance(step, int):
            obj = obj[step] if isinstance(obj, list) and step < len(obj) else None
        else:
            obj = obj.get(step) if isinstance(obj, dict) else None
    return obj


def _text(value: Any, _: datetime) -> str | None:
    if value is None:
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)


def _date(value: Any, now: datetime) -> str | None:
    if not isinstance(value, str):
        return None
    return age(value, now) if parse_time(value) is not None else "<invalid>"


def _number(value: Any, _: datetime) -> Any:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


_SHOWN: Mapping[str, Callable[[Any, datetime], Any]] = {
    "string": _text,
    "date": _date,
    "integer": lambda value, now: None if (number := _number(value, now)) is None else int(number),
    "number": _number,
    "boolean": lambda value, _: value if isinstance(value, bool) else None,
}
