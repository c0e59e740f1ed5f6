"""What must hold after every write that the server accepted, whoever made it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_ACTIVE = frozenset({"Scheduled", "Running", "Ready"})
_CAPACITY = "kruntimes.io/capacity."


@dataclass(frozen=True)
class Event:
    """One version of a Run or a Pod, as a watch told it."""

    resource: str
    """Its plural."""
    type: str
    object: Mapping[str, Any]
    heard_at: float = 0.0
    """When the test heard of it: seconds of a clock that only goes on."""

    @property
    def version(self) -> int:
        """The revision of the store that it stands for."""
        return int(self.object["metadata"]["resourceVersion"])


@dataclass
class _Pod:
    name: str
    capacity: dict[str, int]
    ready: bool


@dataclass
class Invariants:
    """Takes events in the order of their versions, and fails at the one that breaks a rule.

    - usage <= capacity for each Pod UID and resource,
    - a Run is bound once in an attempt,
    - it is bound to a Pod that exists, bears that name and UID, and is ready.
    """

    pods: dict[str, _Pod] = field(default_factory=dict)
    """The Pods that exist, by UID."""
    carried: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)
    """Pod UID -> UID of an active Run -> its request."""
    placements: dict[str, str] = field(default_factory=dict)
    """UID of an active Run -> Pod UID."""
    binds: Counter[tuple[str, int]] = field(default_factory=Counter)
    """(UID of a Run, attempt) -> how often it was bound."""

    def take(self, event: Event) -> None:
        """The next event."""
        if event.resource == "pods":
            self._pod(event)
        else:
            self._run(event)

    def _pod(self, event: Event) -> None:
        metadata = event.object["metadata"]
        if event.type == "DELETED":
            self.pods.pop(metadata["uid"], None)
            return
        annotations = metadata.get("annotations", {})
        capacity = {
            key.removeprefix(_CAPACITY): int(value)
            for key, value in annotations.items()
            if key.startswith(_CAPACITY)
        }
        conditions = event.object.get("status", {}).get("conditions", [])
        ready = {one["type"] for one in conditions if one["status"] == "True"}
        self.pods[metadata["uid"]] = _Pod(
            metadata["name"],
            {"runs": 2, **capacity},
            {"Ready", "kruntimes.io/RuntimedReady"} <= ready and "deletionTimestamp" not in metadata,
        )

    def _run(self, event: Event) -> None:
        run, status = event.object["metadata"]["uid"], event.object.get("status", {})
        pod = status.get("assignedPodUID", "")
        active = event.type != "DELETED" and status.get("phase") in _ACTIVE and pod != ""
        before = self.placements.pop(run, None)
        if before is not None:
            del self.carried[before][run]
        if not active:
            return
        if before != pod:
            assert before is None, f"moved while it was active: {event}"
            self._bound(event, run, status, pod)
        self.placements[run] = pod
        self.carried.setdefault(pod, {})[run] = _request(event.object)
        self._fits(event, pod)

    def _bound(self, event: Event, run: str, status: Mapping[str, Any], uid: str) -> None:
        attempt = run, int(status.get("attempt", 0) or 1)
        self.binds[attempt] += 1
        assert self.binds[attempt] == 1, f"bound twice in one attempt: {event}"
        pod = self.pods.get(uid)
        assert pod is not None, f"bound to a Pod that does not exist: {event}"
        assert pod.name == status.get("assignedPod"), f"bound to a Pod of another name: {event}"
        assert pod.ready, f"bound to a Pod that is not ready: {event}"

    def _fits(self, event: Event, uid: str) -> None:
        if uid not in self.pods:
            return
        usage: Counter[str] = Counter()
        for request in self.carried[uid].values():
            usage.update(request)
        capacity = self.pods[uid].capacity
        over = {name: amount for name, amount in usage.items() if amount > capacity.get(name, 0)}
        assert not over, f"oversold {over} of {capacity}: {event}"


def _request(run: Mapping[str, Any]) -> dict[str, int]:
    requests = run["spec"].get("resources", {}).get("requests") or {}
    return {"runs": 1, **{name: int(amount) for name, amount in requests.items()}}
