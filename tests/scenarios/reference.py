"""A second planner, written straight from the API contract and the semantics, to hold the first one to.

Slow and plain on purpose: it reads the JSON objects itself, keeps no index, shares nothing, and after
each placement tries every waiting Run again, from the first. It imports nothing of the project.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction

from tests.scenarios.reference_reading import (
    Object,
    Refused,
    capacity,
    held,
    labels,
    matches,
    preferences,
    request,
    terms,
    time,
    unavailable,
)

_ENDED = ("Succeeded", "Failed", "Timeout", "Cancelled")

# Among Pods that got equally far, the reason that is told: what was looked at last comes first.
_AVAILABILITY = (
    "InsufficientCapacity",
    "HeartbeatStale",
    "RuntimedNotReady",
    "PodNotReady",
    "PodNotRunning",
    "PodTerminating",
)
_AFFINITY = ("AntiAffinityConflict", "AffinityNotSatisfied")
_FILTERS = (_AVAILABILITY, _AFFINITY)


@dataclass
class Answer:
    """What became of one Run, and for a waiting one every reason that it ever had."""

    namespace: str
    run: str
    outcome: str
    reason: str
    pod: str | None = None
    never: bool = False
    until: datetime | None = None
    reasons: set[str] = field(default_factory=set)
    after: int = 0
    """How many Runs had their final answer when this one was first tried."""


@dataclass
class Held:
    """A Run that holds room: active, or placed by this plan."""

    namespace: str
    pod: str
    pod_uid: str | None
    request: dict[str, int]
    labels: dict[str, str]

    def is_on(self, pod: Object) -> bool:
        """By UID; by name where the Run has none."""
        metadata = pod["metadata"]
        if metadata["namespace"] != self.namespace:
            return False
        uid, name = str(metadata["uid"]), str(metadata["name"])
        return uid == self.pod_uid if self.pod_uid else name == self.pod


class ReferencePlanner:
    """Decides the Pending Runs among some objects. `answers` holds one answer each, in order."""

    def __init__(self, objects: Iterable[Object], now: datetime) -> None:
        listed = list(objects)
        self.now = now
        self.pods = [one for one in listed if one["kind"] == "Pod" and labels(one).get("runtime")]
        self.workspaces = {
            (one["metadata"]["namespace"], one["metadata"]["name"]): one
            for one in listed
            if one["kind"] == "PersistentWorkspace"
        }
        runs = [one for one in listed if one["kind"] == "Run"]
        self.held = [_held(one) for one in runs if _is_active(one)]
        self.pending = sorted((one for one in runs if _phase(one) == "Pending"), key=_arrival)
        self.waiting: list[tuple[Object, Answer]] = []
        self.final: list[Answer] = []

    def plan(self) -> ReferencePlanner:
        """Every Run in its order; after a placement every waiting one again, from the first."""
        for run in self.pending:
            answer = self.decide(run)
            if answer.outcome == "Waiting":
                self.waiting.append((run, answer))
                continue
            self.final.append(answer)
            while answer.outcome == "Scheduled" and self._place_a_waiting_one():
                pass
        return self

    def _place_a_waiting_one(self) -> bool:
        for index, (run, before) in enumerate(self.waiting):
            answer = self.decide(run)
            before.reasons |= answer.reasons
            if answer.outcome != "Waiting":
                del self.waiting[index]
                self.final.append(answer)
                return True
        return False

    def decide(self, run: Object) -> Answer:
        """One Run on what is held now; a placement is held at once."""
        metadata, spec, status = run["metadata"], run["spec"], run.get("status") or {}
        answer = Answer(metadata["namespace"], metadata["name"], "", "", after=len(self.final))
        answer.until = self._delayed_until(spec, status)
        if metadata.get("deletionTimestamp"):
            answer.outcome, answer.reason, answer.until = "Ignored", "BeingDeleted", None
        elif spec.get("cancelRequested"):
            answer.outcome, answer.reason, answer.until = "Cancelled", "Cancelled", None
        elif answer.until:
            answer.outcome, answer.reason = "Backoff", "RetryDelay"
        else:
            try:
                self._place(run, answer)
            except Refused as verdict:
                answer.outcome, answer.reason = "Failed", str(verdict)
        return answer

    def _delayed_until(self, spec: Object, status: Object) -> datetime | None:
        attempt = status.get("attempt") or 1
        stopped = [
            time(one.get("lastTransitionTime"))
            for one in status.get("conditions") or []
            if one["type"] == "Running" and one["status"] == "False"
        ]
        if attempt <= 1 or not stopped or stopped[0] is None:
            return None
        seconds = {"2s": 2, "10s": 10, "45s": 45}.get(str((spec.get("retryPolicy") or {}).get("backoff")), 1)
        delay = timedelta(seconds=min(seconds * 2 ** (attempt - 2), 60))
        until = min(stopped[0] + delay, self.now + delay)
        return until if until > self.now else None

    def _place(self, run: Object, answer: Answer) -> None:
        if any(not isinstance(value, str) for value in (run["metadata"].get("labels") or {}).values()):
            raise Refused("InvalidObject")
        asked = request(run)
        near, away = terms(run, "runAffinity"), terms(run, "runAntiAffinity")
        liked, disliked = preferences(run, "runAffinity"), preferences(run, "runAntiAffinity")
        workspace = run["spec"].get("workspace")
        if workspace is not None and workspace.get("kind", "PersistentWorkspace") != "PersistentWorkspace":
            raise Refused("InvalidWorkspace")
        namespace, runtime = run["metadata"]["namespace"], run["spec"]["runtime"]
        pods = [
            pod
            for pod in self.pods
            if pod["metadata"]["namespace"] == namespace and labels(pod)["runtime"] == runtime
        ]
        rejections = [
            self._filter(pod, asked, run, near, away, workspace and self._workspace(namespace, workspace))
            for pod in pods
        ]
        feasible = [pod for pod, rejection in zip(pods, rejections, strict=True) if rejection is None]
        if not feasible:
            answer.outcome, answer.reason = "Waiting", _headline([one for one in rejections if one])
            answer.reasons = {answer.reason}
            answer.never = bool(pods) and not any(_fits(asked, {}, capacity(pod)) for pod in pods)
            return
        chosen = self._best(feasible, asked, liked, disliked)
        answer.outcome, answer.reason, answer.pod = "Scheduled", "Assigned", chosen["metadata"]["name"]
        self.held.append(
            Held(namespace, chosen["metadata"]["name"], chosen["metadata"]["uid"], asked, labels(run))
        )

    def _workspace(self, namespace: str, named: Object) -> Object:
        return self.workspaces.get((namespace, named["name"]), {})

    def _filter(
        self,
        pod: Object,
        asked: dict[str, int],
        run: Object,
        near: list[Object],
        away: list[Object],
        workspace: Object | None,
    ) -> tuple[int, str] | None:
        """The first filter that rejects a Pod, by its place, and the reason; None where all pass."""
        why = unavailable(pod, self.now)
        if why is None and not _fits(asked, self._usage(pod), capacity(pod)):
            why = "InsufficientCapacity"
        if why is not None:
            return 0, why
        if not all(self._met(pod, selector, run) for selector in near):
            return 1, "AffinityNotSatisfied"
        if any(self._targets(selector, pod) for selector in away):
            return 1, "AntiAffinityConflict"
        why = None if workspace is None else _not_there(pod, workspace)
        return None if why is None else (2, why)

    def _met(self, pod: Object, selector: Object, run: Object) -> bool:
        namespace = run["metadata"]["namespace"]
        if any(one.namespace == namespace and matches(selector, one.labels) for one in self.held):
            return self._targets(selector, pod)
        return matches(selector, labels(run))

    def _targets(self, selector: Object, pod: Object) -> bool:
        return any(one.is_on(pod) and matches(selector, one.labels) for one in self.held)

    def _usage(self, pod: Object) -> dict[str, int]:
        usage: dict[str, int] = {}
        for one in self.held:
            if one.is_on(pod):
                for name, amount in one.request.items():
                    usage[name] = usage.get(name, 0) + amount
        return usage

    def _best(
        self,
        pods: list[Object],
        asked: dict[str, int],
        liked: list[tuple[int, Object]],
        disliked: list[tuple[int, Object]],
    ) -> Object:
        raw = [
            sum(weight for weight, selector in liked if self._targets(selector, pod))
            + sum(weight for weight, selector in disliked if not self._targets(selector, pod))
            for pod in pods
        ]
        loads = [self._load(pod, asked) for pod in pods]
        totals = []
        for score, load in zip(raw, loads, strict=True):
            preferred = score * 100 // max(raw) if max(raw) else 0
            place = sum(other < load for other in loads)
            spare = (len(pods) - 1 - place) * 100 // (len(pods) - 1) if len(pods) > 1 else 100
            totals.append(preferred + spare)
        best = [pod for pod, total in zip(pods, totals, strict=True) if total == max(totals)]
        return min(best, key=lambda pod: str(pod["metadata"]["name"]))

    def _load(self, pod: Object, asked: dict[str, int]) -> tuple[Fraction, Fraction]:
        usage = self._usage(pod)
        ratios = [
            Fraction(usage.get(name, 0) + asked.get(name, 0)) / amount
            for name, amount in capacity(pod).items()
        ]
        return max(ratios), sum(ratios, Fraction(0))


def _fits(asked: dict[str, int], usage: dict[str, int], room: dict[str, Fraction]) -> bool:
    return all(name in room and usage.get(name, 0) + amount <= room[name] for name, amount in asked.items())


def _not_there(pod: Object, workspace: Object) -> str | None:
    if not workspace:
        return "WorkspaceMissing"
    status = workspace.get("status") or {}
    if workspace["spec"]["runtime"] != labels(pod)["runtime"]:
        return "WorkspaceRuntimeMismatch"
    phase = status.get("phase") or "Pending"
    if phase != "Bound":
        return f"Workspace{phase}"
    if not status.get("boundPod"):
        return "WorkspacePending"
    return None if status["boundPod"] == pod["metadata"]["name"] else "WorkspaceOnOtherPod"


def _headline(rejections: list[tuple[int, str]]) -> str:
    """The reason of the Pods that got furthest; those that the Run is not tied to, only if all are."""
    if not rejections:
        return "NoRuntimePods"
    here = [one for one in rejections if one[1] != "WorkspaceOnOtherPod"] or rejections
    furthest = max(place for place, _ in here)
    given = [reason for place, reason in here if place == furthest]
    order = _FILTERS[furthest] if furthest < len(_FILTERS) else given
    return next(reason for reason in order if reason in given)


def _phase(run: Object) -> str:
    return (run.get("status") or {}).get("phase") or "Pending"


def _is_active(run: Object) -> bool:
    phase = _phase(run)
    return bool((run.get("status") or {}).get("assignedPod")) and phase not in ("Pending", *_ENDED)


def _held(run: Object) -> Held:
    status = run["status"]
    uid = status.get("assignedPodUID") or None
    return Held(run["metadata"]["namespace"], status["assignedPod"], uid, held(run), labels(run))


def _arrival(run: Object) -> tuple[bool, str, str, str]:
    metadata = run["metadata"]
    created = metadata.get("creationTimestamp")
    return (not created, created or "", metadata["namespace"], metadata["name"])
