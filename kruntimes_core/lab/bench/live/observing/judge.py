"""What must hold after every write that the API server accepted, whoever made it.

The rules are those of the API contract and of any scheduler worth the name; nothing in here knows how
one works.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum

from kruntimes_core.lab.bench.live.observing.seen import ENDED, STARTED, Seen, SeenPod, SeenRun


class Rule(StrEnum):
    """What is held to, by the names that a report uses."""

    OVERCOMMITTED = "overcommitted"
    """No Pod (by UID) carries more than it advertises, in any resource."""
    BOUND_TWICE = "boundTwice"
    """A Run is bound once in an attempt, and not moved while it is active."""
    POD_NOT_ALIVE = "podNotAlive"
    """A bind goes to a Pod that exists, bears that name and UID, is ready and is not being deleted."""
    OTHER_RUNTIME = "otherRuntime"
    """A bind goes to a Pod of the Run's own Runtime."""
    COHORT_APART = "cohortApart"
    """A Run of a cohort goes to a Pod that carries one of them, unless none of them is on any."""
    RUN_LOST = "runLost"
    """No Run is taken off its Pod, ended, or deleted by somebody else than its Pod or its owner."""
    EMPTY_WRITE = "emptyWrite"
    """No write moves the resourceVersion of a Run and changes nothing."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that was broken, and how."""

    rule: Rule
    text: str


class Judge:
    """Takes versions in the order of the store, and gives what each of them broke."""

    def __init__(self, own: Collection[str] = (), cleared: Collection[str] = ()) -> None:
        """own: resourceVersions that Pods and owners of Runs made. cleared: UIDs that they deleted."""
        self._own = own
        self._cleared = cleared
        self._pods: dict[str, SeenPod] = {}
        self._runs: dict[str, SeenRun] = {}
        self._usage: dict[str, Counter[str]] = {}
        self._cohorts: dict[tuple[str, str], Counter[str]] = {}
        """How many active Runs of a cohort, by its namespace and name, each Pod carries."""
        self._binds: Counter[tuple[str, int]] = Counter()

    def all(self, history: Iterable[Seen]) -> list[Finding]:
        """What a whole history broke, in its order."""
        ordered = sorted(history, key=lambda seen: seen.order)
        return [finding for seen in ordered for finding in self.take(seen)]

    def take(self, seen: Seen) -> list[Finding]:
        """What the next version broke."""
        if isinstance(seen, SeenPod):
            self._pods[seen.uid] = seen
            if seen.gone:
                self._pods.pop(seen.uid)
            return []
        return self._run(seen) if isinstance(seen, SeenRun) else []

    def _run(self, run: SeenRun) -> list[Finding]:
        before = self._runs.pop(run.uid, None)
        if before is not None and before.active:
            self._leave(before)
        if not run.gone:
            self._runs[run.uid] = run
        broken = [] if before is None else self._changed(before, run)
        if run.active:
            bound = before is None or not before.active or before.pod_uid != run.pod_uid
            apart = self._apart(run)
            self._enter(run)
            if bound:
                broken += [*self._again(run, before), *self._place(run), *apart, *self._fits(run)]
        return [Finding(rule, f"{_named(run)}: {text}") for rule, text in broken]

    def _enter(self, run: SeenRun) -> None:
        self._usage.setdefault(run.pod_uid, Counter()).update(run.requests)
        if run.cohort:
            self._cohorts.setdefault((run.namespace, run.cohort), Counter())[run.pod_uid] += 1

    def _leave(self, run: SeenRun) -> None:
        self._usage[run.pod_uid].subtract(run.requests)
        if run.cohort:
            self._cohorts[run.namespace, run.cohort][run.pod_uid] -= 1

    def _changed(self, before: SeenRun, run: SeenRun) -> list[tuple[Rule, str]]:
        """What a version broke by being what it is after another one."""
        if run.version in self._own or (run.gone and run.uid in self._cleared):
            return []
        if run.gone:
            return [(Rule.RUN_LOST, f"it was deleted while it was {before.phase}")]
        if run.substance == before.substance:
            return [(Rule.EMPTY_WRITE, f"nothing changed since version {before.version}")]
        if before.active and run.phase == "Pending":
            return [(Rule.RUN_LOST, f"it was taken off pod {before.pod}")]
        if run.phase == "Scheduled" and before.phase in STARTED and run.pod_uid == before.pod_uid:
            return [(Rule.BOUND_TWICE, f"it was bound again while it was {before.phase}")]
        if run.phase in ENDED and before.phase == "Pending":
            return [(Rule.RUN_LOST, f"it was ended as {run.phase} before it was bound")]
        if run.phase in ENDED - {"Succeeded"} and before.phase not in ENDED:
            return [(Rule.RUN_LOST, f"it was ended as {run.phase}")]
        return []

    def _again(self, run: SeenRun, before: SeenRun | None) -> list[tuple[Rule, str]]:
        attempt = run.uid, run.attempt
        self._binds[attempt] += 1
        if before is not None and before.active:
            return [(Rule.BOUND_TWICE, f"it was moved from pod {before.pod} to pod {run.pod}")]
        if self._binds[attempt] > 1:
            return [(Rule.BOUND_TWICE, f"it was bound twice in attempt {run.attempt}")]
        return []

    def _place(self, run: SeenRun) -> list[tuple[Rule, str]]:
        pod = self._pods.get(run.pod_uid)
        if pod is None:
            return [(Rule.POD_NOT_ALIVE, f"pod {run.pod} with UID {run.pod_uid} does not exist")]
        if pod.name != run.pod:
            return [(Rule.POD_NOT_ALIVE, f"UID {run.pod_uid} is of pod {pod.name}, not of {run.pod}")]
        if pod.namespace != run.namespace:
            return [(Rule.POD_NOT_ALIVE, f"pod {pod.name} is in namespace {pod.namespace}")]
        if not pod.ready:
            return [(Rule.POD_NOT_ALIVE, f"pod {pod.name} is not ready")]
        if pod.runtime != run.runtime:
            return [(Rule.OTHER_RUNTIME, f"pod {pod.name} is of runtime {pod.runtime}, not of {run.runtime}")]
        return []

    def _apart(self, run: SeenRun) -> list[tuple[Rule, str]]:
        """Asked before the Run itself counts: it is no company for itself."""
        known = self._cohorts.get((run.namespace, run.cohort), Counter())
        if known[run.pod_uid] or not known.total():
            return []
        return [(Rule.COHORT_APART, f"its cohort {run.cohort} is on another pod than {run.pod}")]

    def _fits(self, run: SeenRun) -> list[tuple[Rule, str]]:
        pod = self._pods.get(run.pod_uid)
        if pod is None:
            return []
        return [
            (Rule.OVERCOMMITTED, f"pod {pod.name} is oversold: {name}={used} of {pod.capacity.get(name, 0)}")
            for name, used in self._usage[run.pod_uid].items()
            if used > pod.capacity.get(name, 0)
        ]


def _named(run: SeenRun) -> str:
    return f"run {run.namespace}/{run.name} at version {run.version}"
