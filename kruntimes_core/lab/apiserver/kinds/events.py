"""Events: one store, seen through core/v1 and through events.k8s.io/v1.

They are kept as core/v1 spells them. What comes in through the new group is judged strictly, what comes
in through the old one leniently, as ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kruntimes_core.lab.apiserver.errors import FieldError, invalid, required
from kruntimes_core.lab.apiserver.kinds.typed import TypedStrategy
from kruntimes_core.lab.apiserver.metadata import problems_of_key
from kruntimes_core.lab.apiserver.objects import Object, metadata_of
from kruntimes_core.lab.apiserver.selectors import METADATA, Readers, at

_OLD_TO_NEW: Mapping[str, str] = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
_NEW_TO_OLD = {new: old for old, new in _OLD_TO_NEW.items()}
_REFERENCE = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
_IMMUTABLE = (
    "involvedObject",
    "reason",
    "message",
    "source",
    "firstTimestamp",
    "lastTimestamp",
    "count",
    "type",
    "eventTime",
    "action",
    "related",
    "reportingComponent",
    "reportingInstance",
)
_LIMITS = (("reportingInstance", 128), ("action", 128), ("reason", 128), ("message", 1024))


def _source(event: Object) -> str:
    return str(event.get("source", {}).get("component") or event.get("reportingComponent", ""))


def field_readers(reference: str) -> Readers:
    """What field selectors may name, in the stored form; reference: what the group calls the object."""
    read = {f"{reference}.{name}": at("involvedObject", name) for name in _REFERENCE}
    read |= {"reason": at("reason"), "type": at("type")}
    if reference == "involvedObject":
        return {**METADATA, **read, "reportingComponent": at("reportingComponent"), "source": _source}
    return {**METADATA, **read, "reportingController": at("reportingComponent")}


class EventStrategy(TypedStrategy):
    """Events through core/v1."""

    creates_on_update = True
    updates_unconditionally = True
    _controller_field = "reportingComponent"

    def problems(self, obj: Object, old: Object | None) -> Iterator[FieldError]:
        """What is wrong with an Event, whichever group it came through."""
        place = obj["involvedObject"].get("namespace", "")
        namespace = metadata_of(obj).get("namespace", "")
        if obj["eventTime"] is None:
            if place != namespace and not (place == "" and namespace == "default"):
                yield invalid("involvedObject.namespace", place, "does not match event.namespace")
            return
        if not place and namespace not in ("default", "kube-system"):
            yield invalid("involvedObject.namespace", place, "does not match event.namespace")
        yield from self._controller_problems(obj)
        for field, limit in _LIMITS:
            value = obj.get(field) or ""
            if not value and field != "message":
                yield required(field)
            if len(value.encode()) > limit:
                yield invalid(field, "", f"can have at most {limit} characters")

    def _controller_problems(self, obj: Object) -> Iterator[FieldError]:
        controller = obj["reportingComponent"]
        if not controller:
            yield required(self._controller_field)
        for problem in problems_of_key(controller):
            yield invalid(self._controller_field, controller, problem)


class NewEventStrategy(EventStrategy):
    """Events through events.k8s.io/v1."""

    _controller_field = "reportingController"

    def from_storage(self, obj: Object) -> Object:
        """As the new group spells it."""
        renamed = {_OLD_TO_NEW.get(name, name): value for name, value in obj.items()}
        for name in ("reportingController", "reportingInstance"):
            if not renamed.get(name):
                renamed.pop(name, None)
        return {**renamed, "apiVersion": "events.k8s.io/v1"}

    def to_storage(self, obj: Object) -> Object:
        """As the core group spells it."""
        renamed = {_NEW_TO_OLD.get(name, name): value for name, value in obj.items()}
        return {"reportingComponent": "", "reportingInstance": "", **renamed, "apiVersion": "v1"}

    def problems(self, obj: Object, old: Object | None) -> Iterator[FieldError]:
        """The strict rules of this group too."""
        yield from super().problems(obj, old)
        if old is None or obj.get("series") != old.get("series"):
            yield from _series_problems(obj.get("series"))
        if old is not None:
            yield from _changed(obj, old)
            return
        if obj["eventTime"] is None:
            yield required("eventTime")
        if obj.get("type") not in ("Normal", "Warning"):
            yield invalid("type", "", f"has invalid value: {obj.get('type', '')}")
        for field in ("firstTimestamp", "lastTimestamp", "count", "source"):
            if obj.get(field):
                yield invalid(field, "", "needs to be unset")


def _series_problems(series: Object | None) -> Iterator[FieldError]:
    if series is None:
        return
    if series.get("count", 0) < 2:
        yield invalid("series.count", "", "should be at least 2")
    if not series.get("lastObservedTime"):
        yield required("series.lastObservedTime")


def _changed(obj: Object, old: Object) -> Iterator[FieldError]:
    for field in _IMMUTABLE:
        if obj.get(field) != old.get(field):
            shown = "reportingController" if field == "reportingComponent" else field
            yield invalid(shown, obj.get(field), "field is immutable")
