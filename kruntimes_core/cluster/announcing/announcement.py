"""One thing to say, and the Event that says it: bounded as the API demands, whatever goes in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kruntimes_core.cluster.announcing.reasons import CONTROLLER, Reason
from kruntimes_core.cluster.client.resources import PODS, RUNS
from kruntimes_core.model.pod import RuntimePod
from kruntimes_core.model.run import Run
from kruntimes_core.model.times import micro_time

_NOTE_BYTES = 1_024
_INSTANCE_BYTES = 128
_NAME_LENGTH = 253
_SUFFIX_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Reference:
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


def reference_to_run(namespace: str, name: str, uid: str) -> Reference:
    """A Run as Events refer to it."""
    return Reference(f"{RUNS.group}/{RUNS.version}", "Run", namespace, name, uid)


def run_reference(run: Run) -> Reference:
    """The same, for a known one."""
    return reference_to_run(run.namespace, run.name, run.uid)


def pod_reference(pod: RuntimePod) -> Reference:
    """A Runtime Pod as Events refer to it."""
    return Reference(PODS.version, "Pod", pod.namespace, pod.name, pod.uid)


@dataclass(frozen=True, slots=True)
class Announcement:
    """What an Event says. Equal ones are one Event, with a series."""

    reason: Reason
    regarding: Reference
    note: str
    related: Reference | None = None

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
        """A name for its Event that starts as the object's does. number: told apart from others by it."""
        suffix = f".{number:0{_SUFFIX_DIGITS}x}"
        return self.regarding.name[: _NAME_LENGTH - len(suffix)].rstrip("-.") + suffix


def series(count: int, now: datetime) -> dict[str, Any]:
    """A merge patch: the Event was observed so many times, and is now."""
    return {"series": {"count": count, "lastObservedTime": micro_time(now)}}


def bounded(text: str, length: int) -> str:
    """At most `length` bytes of `text` that can be sent: half of a surrogate pair becomes a `?`."""
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= length:
        return encoded.decode("utf-8")
    return encoded[: length - 3].decode("utf-8", "ignore") + "..."
