"""Pods that hold more than they advertise are counted, and named in the log.

No fence stops a write of a former leader that a network held back for longer than the Lease (semantics,
Leading), and the owner of a Pod may lower what it advertises. The watches show what came of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kruntimes_core.cluster.client.resources import PODS, RUNS, ApiResource
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.engine import events
from kruntimes_core.engine.cache import Allocation, Allocations, PodKey
from kruntimes_core.model.metadata import version_number
from kruntimes_core.model.pod import PodObservation, RuntimePod
from kruntimes_core.model.run import Run, RunObservation
from kruntimes_core.model.selectors import LabelSet

_NO_LABELS = LabelSet()
_NEVER = 10**41
"""Larger than any version."""


@dataclass(frozen=True, slots=True)
class _Suspect:
    """A Pod that looks oversold and was not before, or the other way round."""

    version: int
    """All that makes it look so happened up to this version."""
    over: tuple[str, ...]
    run: Run | None
    """The Run with which that was seen, if it was with one."""


class OversoldPods:
    """Counts how often a Pod became oversold.

    The watches of Runs and of Pods are seldom at the same version, and a Run that was read alone is ahead of
    both. What is true of a mixture of versions was perhaps never true. So only what lists and watches show
    counts here, and a Pod that looks oversold counts when both watches have reached the version at which it
    began to look so. Until then its capacity stays the same: at that version it was oversold.

    A watch in which nothing happens may stay behind for long: its bookmarks are then of an old version. So
    while a Pod is suspected, `behind` says that a list is needed.
    """

    def __init__(
        self,
        log: Log,
        namespaces: Sequence[str] | None = None,
        begins: Callable[[RuntimePod, Run | None], None] | None = None,
    ) -> None:
        """namespaces: those that have watches of their own; None where each watch is of all.

        begins: called when a Pod becomes oversold, with the Run with which that was seen, if any.
        """
        self._log = log
        self._call_back = begins
        scopes = (None,) if namespaces is None else namespaces
        self._watched = {scope: _WatchedNamespaces(self._begins) for scope in scopes}
        self._all = self._watched.get(None)
        self.count = 0

    def after(self, event: events.Event) -> None:
        """Take in an event of a list or a watch. It costs a look at the Pods that it changes, and no more."""
        match event:
            case events.RunObserved(seen):
                self._of(seen.run.namespace).run_observed(seen)
            case events.RunGone():
                self._of(event.namespace).run_gone(event.namespace, event.name, event.version)
            case events.RunsListed():
                self._of(event.namespace).runs_listed(event.observations, event.version)
            case events.PodObserved(observation):
                self._of(observation.pod.namespace).pod_observed(observation.pod, observation.version)
            case events.PodGone():
                self._of(event.namespace).pod_gone(event.namespace, event.name, event.version)
            case events.PodsListed():
                self._of(event.namespace).pods_listed(event.observations, event.version)

    def reached(self, resource: ApiResource, namespace: str | None, version: str) -> None:
        """A bookmark: the watch of the resource has shown all events up to this version."""
        if resource in (RUNS, PODS):
            self._of(namespace).bookmark(resource, version)

    def behind(self, resource: ApiResource, namespace: str | None) -> bool:
        """Whether a watch has not shown yet what tells if a Pod is oversold, so that a list is needed."""
        return resource in (RUNS, PODS) and self._of(namespace).behind(resource)

    def _of(self, namespace: str | None) -> _WatchedNamespaces:
        return self._all or self._watched[namespace]

    def _begins(self, pod: RuntimePod, over: Iterable[str], run: Run | None) -> None:
        self.count += 1
        self._log.warning(
            "a pod holds more than it has", pod=f"{pod.namespace}/{pod.name}", resources=", ".join(over)
        )
        if self._call_back is not None:
            self._call_back(pod, run)


def _ordered(version: str) -> int:
    return version_number(version) or _NEVER


class _WatchedNamespaces:
    """The Runs and the Pods of the same namespaces, each exactly as it was at the version of its watch."""

    def __init__(self, begins: Callable[[RuntimePod, Iterable[str], Run | None], None]) -> None:
        self._begins = begins
        self._allocations = Allocations()
        """What active Runs hold, by namespace and name of the Run."""
        self._pods: dict[PodKey, RuntimePod] = {}
        self._reached: dict[ApiResource, int | None] = {RUNS: None, PODS: None}
        """None before the first list, and after a version that cannot be ordered until the next list."""
        self._suspects: dict[PodKey, _Suspect] = {}
        """In the order of their versions."""
        self._oversold: set[PodKey] = set()
        """The Pods that were oversold when both watches had last reached one version."""

    # Runs

    def run_observed(self, seen: RunObservation) -> None:
        """A Run was added or modified."""
        if self._advance(RUNS, seen.version):
            self._look_at(self._take(seen), seen.run)
            self._judge()

    def run_gone(self, namespace: str, name: str, version: str) -> None:
        """A Run was deleted."""
        if self._advance(RUNS, version):
            self._look_at(self._allocate((namespace, name), None))
            self._judge()

    def runs_listed(self, observations: Iterable[RunObservation], version: str) -> None:
        """A whole list: what happened since the version before is not known, only what came of it."""
        missing = set(self._allocations)
        changed: list[PodKey] = []
        newest: dict[PodKey, int] = {}
        for seen in observations:
            missing.discard((seen.run.namespace, seen.run.name))
            changed += self._take(seen)
            pod = (seen.run.namespace, seen.assigned_pod or "")
            if pod in self._suspects and seen.active:
                newest[pod] = max(newest.get(pod, 0), _ordered(seen.version))
        for run in missing:
            changed += self._allocate(run, None)
        self._listed(RUNS, version, changed, newest)

    def _take(self, seen: RunObservation) -> list[PodKey]:
        run, pod = seen.run, seen.assigned_pod
        held = None
        if pod is not None and seen.active:
            held = Allocation(run.namespace, pod, seen.assigned_pod_uid, seen.held, _NO_LABELS)
        return self._allocate((run.namespace, run.name), held)

    def _allocate(self, run: tuple[str, str], held: Allocation | None) -> list[PodKey]:
        """Set what a Run holds. Returns the Pods that hold more or less by it."""
        changes = self._allocations.replace(run, held)
        return [(changed.namespace, changed.pod_name) for changed, _ in changes]

    # Pods

    def pod_observed(self, pod: RuntimePod, version: str) -> None:
        """A Pod was added or modified."""
        if self._advance(PODS, version):
            self._look_at(self._put((pod.namespace, pod.name), pod))
            self._judge()

    def pod_gone(self, namespace: str, name: str, version: str) -> None:
        """A Pod was deleted, or is not a Runtime Pod any more."""
        if self._advance(PODS, version):
            self._put((namespace, name), None)
            self._judge()

    def pods_listed(self, observations: Iterable[PodObservation], version: str) -> None:
        """A whole list of Pods."""
        missing = set(self._pods)
        changed: list[PodKey] = []
        newest: dict[PodKey, int] = {}
        for seen in observations:
            key = (seen.pod.namespace, seen.pod.name)
            missing.discard(key)
            changed += self._put(key, seen.pod)
            if key in self._suspects:
                newest[key] = _ordered(seen.version)
        for key in missing:
            self._put(key, None)
        self._listed(PODS, version, changed, newest)

    def _put(self, key: PodKey, pod: RuntimePod | None) -> list[PodKey]:
        """Set or remove a Pod. Returns it if another Pod has the name, or it advertises something else."""
        before = self._pods.get(key)
        if pod is None:
            self._pods.pop(key, None)
        else:
            self._pods[key] = pod
        if before is None or pod is None or before.uid != pod.uid:
            self._oversold.discard(key)
        elif before.capacity == pod.capacity:
            return []
        self._suspects.pop(key, None)
        return [key] if pod is not None else []

    # Versions

    def bookmark(self, resource: ApiResource, version: str) -> None:
        """The watch has shown all up to this version."""
        number, reached = version_number(version), self._reached[resource]
        if number is not None and reached is not None and number > reached:
            self._reached[resource] = number
            self._judge()

    def _advance(self, resource: ApiResource, version: str) -> bool:
        """An event comes, and none comes between this one and the one before. False for one from the past."""
        number, reached = version_number(version), self._reached[resource]
        if number is None or reached is None:
            self._reached[resource] = None
            return True
        if number <= reached:
            return False
        self._reached[resource] = number - 1
        self._judge()
        self._reached[resource] = number
        return True

    def behind(self, resource: ApiResource) -> bool:
        """Whether a Pod that looks oversold cannot be judged, because of this watch."""
        reached = self._reached[resource]
        return reached is not None and any(
            suspect.over and reached < suspect.version < _NEVER for suspect in self._suspects.values()
        )

    def _listed(
        self, resource: ApiResource, version: str, changed: Iterable[PodKey], newest: Mapping[PodKey, int]
    ) -> None:
        """A whole list was taken in.

        newest: of each suspect, the newest version of what is listed of it. What has not changed since the
        suspicion was so then, too; all else is suspected anew.
        """
        self._reached[resource] = version_number(version)
        suspects, self._suspects = self._suspects, {}
        for key, suspect in suspects.items():
            same = suspect.over and suspect.over == self._over(key)
            if same and newest.get(key, _NEVER) <= suspect.version < _NEVER:
                self._suspects[key] = suspect
        self._look_at({*changed, *suspects})
        self._judge()

    # Judging

    def _look_at(self, pods: Iterable[PodKey], run: Run | None = None) -> None:
        """Suspect each Pod that looks different from how it was last judged. run: whose change shows it."""
        for key in pods:
            over = self._over(key)
            suspect = self._suspects.get(key)
            if bool(over) == (key in self._oversold):
                self._suspects.pop(key, None)
            elif suspect is None or suspect.over != over:
                self._suspects.pop(key, None)
                self._suspects[key] = _Suspect(self._newest(), over, run)

    def _over(self, key: PodKey) -> tuple[str, ...]:
        """The resources of which the Runs that are known hold more than the Pod that is known has."""
        pod = self._pods.get(key)
        if pod is None:
            return ()
        usage = self._allocations.on_pod(pod.namespace, pod.name, pod.uid).usage
        return tuple(name for name, used in usage.items() if used > pod.capacity.get(name, 0))

    def _newest(self) -> int:
        return max(_NEVER if reached is None else reached for reached in self._reached.values())

    def _judge(self) -> None:
        """Judge the Pods that looked so at a version that both watches have reached, and look so still."""
        while self._suspects:
            key, suspect = next(iter(self._suspects.items()))
            if any(reached is None or reached < suspect.version for reached in self._reached.values()):
                return
            del self._suspects[key]
            if suspect.over:
                self._oversold.add(key)
                self._begins(self._pods[key], suspect.over, suspect.run)
            else:
                self._oversold.discard(key)
