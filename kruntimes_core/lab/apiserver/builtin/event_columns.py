"""The columns of Events, as `kubectl get events` shows them."""

from __future__ import annotations

from datetime import datetime

from kruntimes_core.lab.apiserver.ages import age
from kruntimes_core.lab.apiserver.columns import Column, name_column
from kruntimes_core.lab.apiserver.objects import Object


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


EVENT = (
    Column(
        "Last Seen",
        _last_seen,
        description="The time at which the most recent occurrence of this event was recorded.",
    ),
    Column(
        "Type",
        lambda event, _: event.get("type", ""),
        description="Type of this event (Normal, Warning), new types could be added in the future",
    ),
    Column(
        "Reason",
        lambda event, _: event.get("reason", ""),
        description="This should be a short, machine understandable string that gives the reason for the "
        "transition into the object's current status.",
    ),
    Column("Object", _object, description="The object that this event is about."),
    Column(
        "Subobject",
        lambda event, _: event.get("involvedObject", {}).get("fieldPath", ""),
        description="If referring to a piece of an object instead of an entire object, this string should "
        "contain a valid JSON/Go field access statement, such as "
        "desiredState.manifest.containers[2]. For example, if the object reference is to a "
        'container within a pod, this would take on a value like: "spec.containers{name}" (where '
        '"name" refers to the name of the container that triggered the event) or if no container '
        'name is specified "spec.containers[2]" (container with index 2 in this pod). This syntax'
        " is chosen only to have some well-defined way of referencing a part of an object.",
        priority=1,
    ),
    Column(
        "Source",
        _source,
        description="The component reporting this event. Should be a short machine understandable string.",
        priority=1,
    ),
    Column(
        "Message",
        lambda event, _: event.get("message", "").strip(),
        description="A human-readable description of the status of this operation.",
    ),
    Column(
        "First Seen",
        _first_seen,
        description="The time at which the event was first recorded. (Time of server receipt is in "
        "TypeMeta.)",
        priority=1,
    ),
    Column(
        "Count",
        _count,
        description="The number of times this event has occurred.",
        priority=1,
    ),
    name_column(priority=1),
)
"""Cells are made of the stored (core/v1) form, whichever group asks."""
