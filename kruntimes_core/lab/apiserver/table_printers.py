"""Server-side tables: the columns that `kubectl get` shows of built-in kinds, and of custom resources.

A cell is made of the object as it is stored and the time now.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from kruntimes_core.lab.apiserver.objects import Object, metadata_of, spec_of, status_of
from kruntimes_core.model.times import parse_time

# Ages

_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86400, 365 * 86400
_STEPS = (
    # (below, unit, its sign, the smaller unit shown beside it or none, its sign)
    (2 * _MINUTE, 1, "s", 0, ""),
    (10 * _MINUTE, _MINUTE, "m", 1, "s"),
    (3 * _HOUR, _MINUTE, "m", 0, ""),
    (8 * _HOUR, _HOUR, "h", _MINUTE, "m"),
    (2 * _DAY, _HOUR, "h", 0, ""),
    (8 * _DAY, _DAY, "d", _HOUR, "h"),
    (2 * _YEAR, _DAY, "d", 0, ""),
    (8 * _YEAR, _YEAR, "y", _DAY, "d"),
)


def age(text: object, now: datetime) -> str:
    """The age of an RFC 3339 time at `now`; `<unknown>` when there is none."""
    moment = parse_time(text)
    return "<unknown>" if moment is None else duration((now - moment).total_seconds())


def duration(exact_seconds: float) -> str:
    """A span, rounded down, in at most two units."""
    if exact_seconds < -1:
        return "<invalid>"
    seconds = max(0, int(exact_seconds))
    for below, unit, sign, smaller, smaller_sign in _STEPS:
        if seconds < below:
            rest = seconds % unit // smaller if smaller else 0
            return f"{seconds // unit}{sign}" + (f"{rest}{smaller_sign}" if rest else "")
    return f"{seconds // _YEAR}y"


# Columns

Cell = Callable[[Object, datetime], Any]
_STEP = re.compile(r"\.([^.\[\]]+)|\[([0-9]+)\]|\['([^']+)'\]")


@dataclass(frozen=True, slots=True)
class PrinterColumn:
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


_NAME = PrinterColumn("Name", lambda obj, _: metadata_of(obj).get("name", ""), format="name")
_AGE = PrinterColumn("Age", lambda obj, now: age(metadata_of(obj).get("creationTimestamp"), now))


# Custom resources


_CUSTOM_AGE = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}


def custom_columns(entries: Iterable[Mapping[str, Any]]) -> tuple[PrinterColumn, ...]:
    """The columns of a custom resource, from `additionalPrinterColumns`."""
    return (_NAME, *map(_custom, entries or [_CUSTOM_AGE]))


def _custom(entry: Mapping[str, Any]) -> PrinterColumn:
    path = entry["jsonPath"]
    words = entry.get("description") or f"Custom resource definition column (in JSONPath format): {path}"
    steps = [first or third or int(second) for first, second, third in _STEP.findall(path)]
    shown = _SHOWN[entry["type"]]
    return PrinterColumn(
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


# Namespaces and Leases

NAMESPACE_COLUMNS = (
    _NAME,
    PrinterColumn("Status", lambda obj, _: status_of(obj).get("phase")),
    _AGE,
)
LEASE_COLUMNS = (
    _NAME,
    PrinterColumn("Holder", lambda obj, _: spec_of(obj).get("holderIdentity", "")),
    _AGE,
)

# Pods

_NONE = "<none>"


def _containers(obj: Object) -> list[Any]:
    return [entry for entry in status_of(obj).get("containerStatuses", ()) if isinstance(entry, dict)]


def _ready(obj: Object, _: datetime) -> str:
    running = [one for one in _containers(obj) if one.get("ready") and "running" in one.get("state", {})]
    return f"{len(running)}/{len(spec_of(obj).get('containers') or ())}"


def _phase(obj: Object, _: datetime) -> str:
    status = status_of(obj)
    shown: str = status.get("reason") or status.get("phase", "")
    for container in reversed(_containers(obj)):
        state = container.get("state", {})
        waiting, ended = state.get("waiting", {}), state.get("terminated", {})
        shown = waiting.get("reason") or ended.get("reason") or shown
    if "deletionTimestamp" in metadata_of(obj) and status.get("phase") not in ("Succeeded", "Failed"):
        return "Terminating"
    return shown


def _restarts(obj: Object, _: datetime) -> str:
    return str(sum(container.get("restartCount", 0) for container in _containers(obj)))


def _gates(obj: Object, _: datetime) -> str:
    gates = [gate.get("conditionType") for gate in spec_of(obj).get("readinessGates", ())]
    true = {one.get("type") for one in status_of(obj).get("conditions", ()) if one.get("status") == "True"}
    return f"{sum(gate in true for gate in gates)}/{len(gates)}" if gates else _NONE


def _address(obj: Object, _: datetime) -> str:
    addresses = status_of(obj).get("podIPs")
    return addresses[0].get("ip") or _NONE if addresses else _NONE


POD_COLUMNS = (
    _NAME,
    PrinterColumn("Ready", _ready),
    PrinterColumn("Status", _phase),
    PrinterColumn("Restarts", _restarts),
    _AGE,
    PrinterColumn("IP", _address, priority=1),
    PrinterColumn("Node", lambda obj, _: spec_of(obj).get("nodeName") or _NONE, priority=1),
    PrinterColumn(
        "Nominated Node", lambda obj, _: status_of(obj).get("nominatedNodeName") or _NONE, priority=1
    ),
    PrinterColumn("Readiness Gates", _gates, priority=1),
)

# Events


def _first_seen(event: Object, now: datetime) -> str:
    return age(event.get("firstTimestamp") or event.get("eventTime"), now)


def _last_seen(event: Object, now: datetime) -> str:
    series = event.get("series")
    if series:
        return age(series.get("lastObservedTime"), now)
    last = event.get("lastTimestamp")
    return age(last, now) if last else _first_seen(event, now)


def _count(event: Object, _: datetime) -> int:
    series = event.get("series")
    return series.get("count", 0) if series else event.get("count") or 1


def _object(event: Object, _: datetime) -> str:
    about = event.get("involvedObject", {})
    kind = about.get("kind", "").lower()
    return f"{kind}/{about['name']}" if about.get("name") else kind


def _source(event: Object, _: datetime) -> str:
    source = event.get("source", {})
    component = source.get("component") or event.get("reportingComponent", "")
    instance = source.get("host") or event.get("reportingInstance", "")
    return f"{component}, {instance}" if instance else component


EVENT_COLUMNS = (
    PrinterColumn("Last Seen", _last_seen),
    PrinterColumn("Type", lambda event, _: event.get("type", "")),
    PrinterColumn("Reason", lambda event, _: event.get("reason", "")),
    PrinterColumn("Object", _object),
    PrinterColumn(
        "Subobject", lambda event, _: event.get("involvedObject", {}).get("fieldPath", ""), priority=1
    ),
    PrinterColumn("Source", _source, priority=1),
    PrinterColumn("Message", lambda event, _: event.get("message", "").strip()),
    PrinterColumn("First Seen", _first_seen, priority=1),
    PrinterColumn("Count", _count, priority=1),
    replace(_NAME, priority=1),
)
"""Cells are made of the stored (core/v1) form, whichever group the client names."""
