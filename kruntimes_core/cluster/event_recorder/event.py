"""What one Event says, bounded as the API demands; `docs/reference/events.md` lists the reasons."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from kruntimes_core.cluster.client.resources import PODS, RUNS
from kruntimes_core.model.messages import counted
from kruntimes_core.model.pod import RuntimePod
from kruntimes_core.model.run import Run
from kruntimes_core.model.times import micro_time

CONTROLLER = "kruntimes.com/scheduler"
"""`reportingController` of every Event."""

_NOTE_BYTES = 1_024
_INSTANCE_BYTES = 128
_NAME_LENGTH = 253
_SUFFIX_DIGITS = 16


class EventReason(StrEnum):
    """`reason` of an Event: a closed set, with the names of kube-scheduler where it has one."""

    FAILED_SCHEDULING = "FailedScheduling"
    """The Run has waited for a Pod for long."""
    NEVER_FITS = "NeverFits"
    """The same, and no Pod of its Runtime advertises the room that it requests."""
    HEARTBEAT_STALE = "HeartbeatStale"
    """The same, and of the ready Pods of its Runtime none has a fresh heartbeat."""
    PLUGIN_ERROR = "PluginError"
    """A plugin has failed for the Run for long."""
    FAILED_UPDATE_STATUS = "FailedUpdateStatus"
    """What was decided for the Run could not be written for long."""
    INVALID_RUN = "InvalidRun"
    """The Run was ended as Failed."""
    RUNTIME_POD_OVERSOLD = "RuntimePodOversold"
    """A Pod was seen to hold more than it has."""
    SCHEDULED = "Scheduled"
    """The Run was bound; only if placements are configured."""

    @property
    def type(self) -> str:
        """`type` of the Event."""
        return "Normal" if self is EventReason.SCHEDULED else "Warning"

    @property
    def urgent(self) -> bool:
        """Whether somebody must see to it: waiting alone does not help."""
        return self not in (EventReason.FAILED_SCHEDULING, EventReason.SCHEDULED)

    @property
    def action(self) -> str:
        """`action` of the Event: what was done, or tried."""
        return _ACTIONS.get(self, "Scheduling")


_ACTIONS = {
    EventReason.FAILED_UPDATE_STATUS: "UpdatingStatus",
    EventReason.RUNTIME_POD_OVERSOLD: "Watching",
    EventReason.SCHEDULED: "Binding",
}


class EventOutcome(StrEnum):
    """What became of an Event."""

    CREATED = "created"
    UPDATED = "updated"
    """It exists already; its series was counted on."""
    REFUSED = "refused"
    """The API server does not want it."""
    FAILED = "failed"
    """No answer, or one that says to try later."""
    DROPPED = "dropped"
    """It was not sent: too many wait, it was tried too often, or this host no longer decides."""


class Lane(StrEnum):
    """Where an Event waits to be sent; a label of `kruntimes_scheduler_event_queue_length`."""

    AT_ONCE = "at_once"
    LASTING = "lasting"
    """The pending conditions."""
    PLACEMENTS = "placements"


@dataclass(frozen=True, slots=True)
class ObjectReference:
    """The object that an Event is about."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str

    @property
    def body(self) -> dict[str, str]:
        """As a core/v1 ObjectReference."""
        return {
            "apiVersion": self.api_version,
            "kind": self.kind,
            "namespace": self.namespace,
            "name": self.name,
            "uid": self.uid,
        }


def reference_to_run(namespace: str, name: str, uid: str) -> ObjectReference:
    """A Run as Events refer to it."""
    return ObjectReference(f"{RUNS.group}/{RUNS.version}", "Run", namespace, name, uid)


def run_reference(run: Run) -> ObjectReference:
    """A known Run as Events refer to it."""
    return reference_to_run(run.namespace, run.name, run.uid)


def pod_reference(pod: RuntimePod) -> ObjectReference:
    """A Runtime Pod as Events refer to it."""
    return ObjectReference(PODS.version, "Pod", pod.namespace, pod.name, pod.uid)


@dataclass(frozen=True, slots=True)
class EventContent:
    """What an Event says. Equal contents are one Event, with a series."""

    reason: EventReason
    regarding: ObjectReference
    note: str
    related: ObjectReference | None = None

    def event(self, name: str, instance: str, now: datetime) -> dict[str, Any]:
        """A new Event of the regarded object's namespace. instance: who reports it."""
        related = {"related": self.related.body} if self.related is not None else {}
        return {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": self.regarding.namespace},
            "eventTime": micro_time(now),
            "reportingController": CONTROLLER,
            "reportingInstance": bounded(instance, _INSTANCE_BYTES),
            "action": self.reason.action,
            "reason": self.reason.value,
            "type": self.reason.type,
            "note": bounded(self.note, _NOTE_BYTES),
            "regarding": self.regarding.body,
            **related,
        }

    def name(self, number: int) -> str:
        """A name for its Event that starts as the object's does. number: makes it unique."""
        suffix = f".{number:0{_SUFFIX_DIGITS}x}"
        return self.regarding.name[: _NAME_LENGTH - len(suffix)].rstrip("-.") + suffix


def shared_note(note: str, more: int) -> str:
    """The note of an Event that stands for more Runs than the one that it regards. more: how many."""
    if not more:
        return note
    added = f" (the same holds back {counted(more, 'more run')} of this runtime)"
    return bounded(note, _NOTE_BYTES - len(added)) + added


def series(count: int, now: datetime) -> dict[str, Any]:
    """A merge patch that says how often the Event was observed, and that the last time is now."""
    return {"series": {"count": count, "lastObservedTime": micro_time(now)}}


def bounded(text: str, length: int) -> str:
    """At most `length` bytes of `text` that can be sent: half of a surrogate pair becomes a `?`."""
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= length:
        return encoded.decode("utf-8")
    return encoded[: length - 3].decode("utf-8", "ignore") + "..."
