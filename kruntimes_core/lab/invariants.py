"""The rules of placement that must hold after every write that the API server accepted, from any client.

They come from the API contract. This module reads objects by itself and not with the scheduler's decoders, so
that a mistake in those cannot hide a broken rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from math import ceil
from typing import Any

from kruntimes_core.model.quantity import QuantityError, capacity_amount, read_quantity

STARTED = frozenset({"Running", "Ready"})
ENDED = frozenset({"Succeeded", "Failed", "Timeout", "Cancelled"})
_INACTIVE = ENDED | {"Pending"}
_CAPACITY = "kruntimes.io/capacity."
_READY = frozenset({"Ready", "kruntimes.io/RuntimedReady"})
_DEFAULT_SLOTS = 2
# Fields that every write changes, and the time in a condition, which may change although nothing else does.
_OF_EACH_VERSION = frozenset({"resourceVersion", "managedFields"})
_OF_A_MOMENT = "lastTransitionTime"


class Invariant(StrEnum):
    """The rules, with their names in reports."""

    OVERCOMMITTED = "overcommitted"
    """No Pod (by UID) carries more than it advertises, in any resource."""
    BOUND_TWICE = "boundTwice"
    """A Run is bound once in an attempt, and not moved while it is active."""
    POD_NOT_ALIVE = "podNotAlive"
    """A bind goes to a Pod that exists, has that name and UID, is ready and is not being deleted."""
    OTHER_RUNTIME = "otherRuntime"
    """A bind goes to a Pod of the Run's own Runtime."""
    COHORT_APART = "cohortApart"
    """A Run of a cohort goes to a Pod that carries a Run of the same cohort, if there is such a Pod."""
    RUN_LOST = "runLost"
    """Only the Pod or the owner of a Run takes the Run off its Pod, ends it, or deletes it."""
    EMPTY_WRITE = "emptyWrite"
    """Each write that gives a Run a new resourceVersion also changes something else."""


_Broken = tuple[Invariant, str]


@dataclass(frozen=True, slots=True)
class Violation:
    """One case in which a rule was broken."""

    invariant: Invariant
    text: str
    """The Run, its version, and what was wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectVersion:
    """One version of an object, or its deletion."""

    namespace: str
    name: str
    uid: str
    version: str
    gone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunVersion(ObjectVersion):
    """One version of a Run."""

    phase: str = "Pending"
    pod: str = ""
    pod_uid: str = ""
    attempt: int = 1
    runtime: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    requests: Mapping[str, int]
    substance: int = 0
    """A hash of the content: versions that differ only in the resourceVersion and in times have the same."""

    @property
    def active(self) -> bool:
        """Whether the Run holds room on a Pod. A Run in an unknown (later) phase does, too."""
        return not self.gone and bool(self.pod_uid) and self.phase not in _INACTIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class PodVersion(ObjectVersion):
    """One version of a Pod."""

    ready: bool = False
    runtime: str = ""
    capacity: Mapping[str, int | Fraction]


class InvariantChecker:
    """Takes the versions of Runs and Pods in the order of the store, and returns what each broke."""

    def __init__(self, *, pods_may_go: bool = False, cohort_label: str = "") -> None:
        """pods_may_go: allow a bind to a Pod that was deleted or became unready while the bind was sent.

        cohort_label: Runs with equal values of this label are a cohort, and must be on one Pod.
        """
        self.pods_may_go = pods_may_go
        self.binds: Counter[tuple[str, int]] = Counter()
        """How often each Run (by UID) was bound in each attempt, by writes that were judged."""
        self._cohort_label = cohort_label
        self._pods: dict[str, PodVersion] = {}
        self._runs: dict[str, RunVersion] = {}
        self._usage: dict[str, Counter[str]] = {}
        self._cohorts: dict[tuple[str, str], Counter[str]] = {}
        """For each cohort, by namespace and value of the label: how many of its active Runs each Pod carries.
        """

    def usage(self, pod_uid: str) -> Mapping[str, int]:
        """The resources that the active Runs of a Pod use."""
        return +self._usage.get(pod_uid, Counter())

    def take(self, version: ObjectVersion, *, judged: bool = True) -> list[Violation]:
        """Take the next version, and return the rules that it broke.

        judged: False for versions from before the start, and for writes by Pods and by the owners of Runs,
        which may do more than a scheduler.
        """
        if isinstance(version, PodVersion):
            self._pods[version.uid] = version
            if version.gone:
                del self._pods[version.uid]
        elif isinstance(version, RunVersion):
            return self._run(version, judged=judged)
        return []

    def _run(self, run: RunVersion, *, judged: bool) -> list[Violation]:
        before = self._runs.pop(run.uid, None)
        if before is not None and before.active:
            self._account(before, -1)
        if not run.gone:
            self._runs[run.uid] = run
        apart = self._is_apart(run)
        if run.active:
            self._account(run, 1)
        if not judged:
            return []
        broken = [] if before is None else list(_changed(before, run))
        if run.active and (before is None or not before.active or before.pod_uid != run.pod_uid):
            broken += self._bound(run, before, apart=apart)
        named = f"run {run.namespace}/{run.name} at version {run.version}"
        return [Violation(invariant, f"{named}: {text}") for invariant, text in broken]

    def _account(self, run: RunVersion, number: int) -> None:
        """Add the requests of a Run to the usage of its Pod (1), or subtract them (-1)."""
        usage = self._usage.setdefault(run.pod_uid, Counter())
        for resource, amount in run.requests.items():
            usage[resource] += number * amount
        cohort = run.labels.get(self._cohort_label)
        if cohort:
            self._cohorts.setdefault((run.namespace, cohort), Counter())[run.pod_uid] += number

    def _is_apart(self, run: RunVersion) -> bool:
        """Whether other Runs of its cohort are active, but none of them on its Pod."""
        pods = self._cohorts.get((run.namespace, run.labels.get(self._cohort_label, "")), Counter())
        return not pods[run.pod_uid] and pods.total() > 0

    def _bound(self, run: RunVersion, before: RunVersion | None, *, apart: bool) -> Iterator[_Broken]:
        """The rules that a bind broke."""
        attempt = run.uid, run.attempt
        self.binds[attempt] += 1
        if before is not None and before.active:
            yield Invariant.BOUND_TWICE, f"it was moved from pod {before.pod} to pod {run.pod}"
        elif self.binds[attempt] > 1:
            yield Invariant.BOUND_TWICE, f"it was bound twice in attempt {run.attempt}"
        pod = self._pods.get(run.pod_uid)
        yield from self._place(run, pod)
        if apart:
            cohort = run.labels[self._cohort_label]
            yield Invariant.COHORT_APART, f"its cohort {cohort} is on another pod than {run.pod}"
        if pod is not None:
            yield from _oversold(pod, self._usage[run.pod_uid])

    def _place(self, run: RunVersion, pod: PodVersion | None) -> Iterator[_Broken]:
        """The first thing that is wrong with the Pod to which a Run was bound."""
        if pod is None:
            if not self.pods_may_go:
                gone = f"pod {run.pod} with UID {run.pod_uid} does not exist"
                yield Invariant.POD_NOT_ALIVE, gone
        elif pod.name != run.pod:
            yield Invariant.POD_NOT_ALIVE, f"UID {run.pod_uid} is of pod {pod.name}, not of {run.pod}"
        elif pod.namespace != run.namespace:
            yield Invariant.POD_NOT_ALIVE, f"pod {pod.name} is in namespace {pod.namespace}"
        elif not pod.ready and not self.pods_may_go:
            yield Invariant.POD_NOT_ALIVE, f"pod {pod.name} is not ready"
        elif pod.runtime != run.runtime:
            runtimes = f"pod {pod.name} is of runtime {pod.runtime}, not of {run.runtime}"
            yield Invariant.OTHER_RUNTIME, runtimes


def _oversold(pod: PodVersion, usage: Mapping[str, int]) -> Iterator[_Broken]:
    """The resources of which a Pod carries more than it advertises."""
    for name, used in usage.items():
        if used > pod.capacity.get(name, 0):
            amounts = f"{name}={used} of {pod.capacity.get(name, 0)}"
            yield Invariant.OVERCOMMITTED, f"pod {pod.name} is oversold: {amounts}"


def _changed(before: RunVersion, run: RunVersion) -> Iterator[_Broken]:
    """The first rule that the change from one version of a Run to the next one broke."""
    if run.gone:
        yield Invariant.RUN_LOST, f"it was deleted while it was {before.phase}"
    elif run.substance == before.substance:
        yield Invariant.EMPTY_WRITE, f"nothing changed since version {before.version}"
    elif before.active and run.phase == "Pending":
        yield Invariant.RUN_LOST, f"it was taken off pod {before.pod}"
    elif run.phase == "Scheduled" and before.phase in STARTED and run.pod_uid == before.pod_uid:
        yield Invariant.BOUND_TWICE, f"it was bound again while it was {before.phase}"
    elif run.phase in ENDED and before.phase == "Pending":
        yield Invariant.RUN_LOST, f"it was ended as {run.phase} before it was bound"
    elif run.phase in ENDED - {"Succeeded"} and before.phase not in ENDED:
        yield Invariant.RUN_LOST, f"it was ended as {run.phase}"


# Reading objects


def run_version(obj: Mapping[str, Any], *, gone: bool = False) -> RunVersion:
    """Read a Run. gone: whether this is its last version, because it was deleted."""
    metadata, spec, status = (_members(obj.get(part)) for part in ("metadata", "spec", "status"))
    requests = _members(_members(spec.get("resources")).get("requests"))
    return RunVersion(
        **_identity(metadata),
        gone=gone,
        phase=status.get("phase") or "Pending",
        pod=status.get("assignedPod") or "",
        pod_uid=status.get("assignedPodUID") or "",
        attempt=status.get("attempt") or 1,
        runtime=spec.get("runtime") or "",
        labels=_members(metadata.get("labels")),
        requests={"runs": 1} | dict(_amounts(requests)),
        substance=_substance(metadata, spec, status),
    )


def pod_version(obj: Mapping[str, Any], *, gone: bool = False) -> PodVersion:
    """Read a Pod. gone: as for a Run."""
    metadata, status = (_members(obj.get(part)) for part in ("metadata", "status"))
    true = {one["type"] for one in _conditions(status) if one.get("status") == "True"}
    advertised = {
        key.removeprefix(_CAPACITY): capacity_amount(amount)
        for key, amount in _members(metadata.get("annotations")).items()
        if key.startswith(_CAPACITY)
    }
    capacity = {name: amount for name, amount in advertised.items() if amount is not None}
    return PodVersion(
        **_identity(metadata),
        gone=gone,
        ready=true >= _READY and status.get("phase") == "Running" and "deletionTimestamp" not in metadata,
        runtime=_members(metadata.get("labels")).get("runtime", ""),
        capacity={"runs": _DEFAULT_SLOTS} | capacity,
    )


READERS: Mapping[str, Callable[..., ObjectVersion]] = {"runs": run_version, "pods": pod_version}
"""The function that reads the objects of each resource, by the plural of the resource."""


def _members(value: Any) -> Mapping[str, Any]:
    """The members of an object; none if the value is not an object."""
    return value if isinstance(value, Mapping) else {}


def _identity(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "namespace": metadata.get("namespace", ""),
        "name": metadata.get("name", ""),
        "uid": metadata.get("uid", ""),
        "version": metadata.get("resourceVersion", ""),
    }


def _conditions(status: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    conditions = status.get("conditions")
    return [_members(one) for one in conditions] if isinstance(conditions, list) else []


def _amounts(requests: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """The amounts that a request uses, rounded up to whole numbers. Unreadable amounts use nothing."""
    for resource, quantity in requests.items():
        with suppress(QuantityError):
            amount = ceil(read_quantity(quantity))
            if amount > 0:
                yield resource, amount


def _substance(metadata: Mapping[str, Any], spec: Mapping[str, Any], status: Mapping[str, Any]) -> int:
    """A hash of everything but the fields that change with each version, and times."""
    kept = {key: value for key, value in metadata.items() if key not in _OF_EACH_VERSION}
    others = {key: value for key, value in status.items() if key != "conditions"}
    conditions = [
        {key: value for key, value in one.items() if key != _OF_A_MOMENT} for one in _conditions(status)
    ]
    return hash(repr((kept, spec, others, conditions)))
