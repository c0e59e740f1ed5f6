"""The state of the cluster: Pods with what they carry, targets and workspaces of each namespace."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol

from immutables import Map

from kruntimes_core.engine.instant import Now
from kruntimes_core.engine.state.claims import Claim, Claims, RunKey
from kruntimes_core.engine.state.heartbeats import Heartbeat, heard
from kruntimes_core.engine.versions import newer, older
from kruntimes_core.model.pod import PodObservation, RuntimePod, Unavailability
from kruntimes_core.model.selectors import LabelSet
from kruntimes_core.model.snapshot import Pods, Snapshot
from kruntimes_core.model.targets import Targets
from kruntimes_core.model.workspace import Workspace, WorkspaceObservation

PodKey = tuple[str, str]
"""(namespace, name)."""


class Changes(Protocol):
    """Who is told of each change of a value, at once."""

    def pod_changed(self, namespace: str, runtime: str) -> None:
        """A Pod of the Runtime is new, changed or gone."""

    def targets_changed(self, namespace: str, labels: LabelSet, before: Targets, after: Targets) -> None:
        """The namespace has more or fewer targets with these labels."""

    def workspace_changed(self, namespace: str, name: str) -> None:
        """A workspace is new, changed or gone."""


@dataclass(slots=True)
class _KnownPod:
    """A Pod as it was last observed, and the value that was made of it."""

    observation: PodObservation
    heartbeat: Heartbeat
    stale: bool
    value: RuntimePod


@dataclass(slots=True)
class _Namespace:
    """What snapshots of one namespace are made of. `version` counts the changes."""

    targets: Targets = field(default_factory=Targets)
    workspaces: Map[str, Workspace] = field(default_factory=Map)
    pods: dict[str, Pods] = field(default_factory=dict)
    version: int = 0


class State:
    """Pods, claims and workspaces; every change of a value is told to `changes`."""

    def __init__(self, changes: Changes, heartbeat_staleness: int) -> None:
        self._changes = changes
        self._limit = heartbeat_staleness
        self._claims = Claims()
        self._pods: dict[PodKey, _KnownPod] = {}
        self._names: dict[tuple[str, str], str] = {}  # (namespace, Pod UID) -> name
        self._namespaces: dict[str, _Namespace] = {}
        self._workspace_versions: dict[tuple[str, str], str] = {}
        self._expiries: list[tuple[int, PodKey]] = []
        self._armed: set[PodKey] = set()

    # Reading

    def snapshot(self, namespace: str, runtime: str, wall: datetime) -> Snapshot:
        """The picture that a cycle decides from."""
        known = self._namespace(namespace)
        return Snapshot(
            namespace=namespace,
            runtime=runtime,
            pods=self._pods_of(known, runtime),
            targets=known.targets,
            workspaces=known.workspaces,
            now=wall,
        )

    def pod(self, namespace: str, name: str) -> RuntimePod | None:
        """A Pod as it is now, with what it carries."""
        known = self._pods.get((namespace, name))
        return known.value if known is not None else None

    def without_load(self, namespace: str, name: str) -> RuntimePod | None:
        """A Pod as it is now, without what it carries: what a bind that waits depends on."""
        known = self._pods.get((namespace, name))
        return _available(known.observation.pod, known.stale) if known is not None else None

    def targets(self, namespace: str) -> Targets:
        """The targets of a namespace, actual and assumed."""
        return self._namespace(namespace).targets

    def workspace(self, namespace: str, name: str) -> Workspace | None:
        """A workspace as it is now."""
        return self._namespace(namespace).workspaces.get(name)

    def version(self, namespace: str) -> int:
        """A number that grows with each change of anything in the namespace."""
        return self._namespace(namespace).version

    def claim_of(self, run: RunKey) -> Claim | None:
        """What a Run holds."""
        return self._claims.of(run)

    @property
    def next_expiry(self) -> int | None:
        """When a heartbeat may run out, in ticks: just past its last fresh moment."""
        return self._expiries[0][0] if self._expiries else None

    # Changing

    def claim(self, run: RunKey, claim: Claim | None) -> None:
        """Set what a Run holds: as observed, as assumed, or nothing."""
        for changed, sign in self._claims.replace(run, claim):
            known = self._namespace(changed.namespace)
            before = known.targets
            known.targets = before.changed_by(changed.labels, sign)
            known.version += 1
            name = changed.pod_name
            if changed.pod_uid is not None:
                name = self._names.get((changed.namespace, changed.pod_uid), "")
            self._recompose((changed.namespace, name))
            self._changes.targets_changed(changed.namespace, changed.labels, before, known.targets)

    def observe_pod(self, observation: PodObservation, now: Now) -> None:
        """A Pod was seen; older than what was seen before, it is ignored."""
        pod = observation.pod
        key = (pod.namespace, pod.name)
        known = self._pods.get(key)
        if known is not None:
            if older(observation.version, known.observation.version):
                return
            before = known.observation.pod
            if before.uid != pod.uid or before.runtime != pod.runtime:
                self._forget_pod(key)
                known = None
        heartbeat = heard(known.heartbeat if known else None, observation.probed_at, now, self._limit)
        stale = heartbeat.stale(now)
        if known is None:
            self._names[pod.namespace, pod.uid] = pod.name
            self._pods[key] = _KnownPod(observation, heartbeat, stale, pod)
            self._enter(key)
        else:
            known.observation, known.heartbeat, known.stale = observation, heartbeat, stale
            self._recompose(key)
        self._arm(key)

    def pod_gone(self, namespace: str, name: str, uid: str, version: str = "") -> None:
        """A Pod was deleted; its successor of the same name is not touched by it."""
        known = self._pods.get((namespace, name))
        if known is None or (uid and known.observation.pod.uid != uid):
            return
        if version and older(version, known.observation.version):
            return
        self._forget_pod((namespace, name))

    def pods_listed(
        self, observations: Iterable[PodObservation], version: str, namespace: str | None, now: Now
    ) -> None:
        """A whole list of Pods was seen: those that are missing in it are gone."""
        listed = set()
        for observation in observations:
            listed.add((observation.pod.namespace, observation.pod.name))
            self.observe_pod(observation, now)
        for key in [key for key in self._pods if namespace in (None, key[0]) and key not in listed]:
            if not newer_than_list(self._pods[key].observation.version, version):
                self._forget_pod(key)

    def observe_workspace(self, observation: WorkspaceObservation) -> None:
        """A workspace was seen."""
        workspace = observation.workspace
        key = (workspace.namespace, workspace.name)
        if older(observation.version, self._workspace_versions.get(key, "")):
            return
        self._workspace_versions[key] = observation.version
        known = self._namespace(workspace.namespace)
        if known.workspaces.get(workspace.name) != workspace:
            known.workspaces = known.workspaces.set(workspace.name, workspace)
            known.version += 1
            self._changes.workspace_changed(*key)

    def workspace_gone(self, namespace: str, name: str, uid: str, version: str = "") -> None:
        """A workspace was deleted."""
        known = self._namespace(namespace)
        workspace = known.workspaces.get(name)
        if workspace is None or (uid and workspace.uid and workspace.uid != uid):
            return
        if version and older(version, self._workspace_versions.get((namespace, name), "")):
            return
        known.workspaces = known.workspaces.delete(name)
        known.version += 1
        self._workspace_versions.pop((namespace, name), None)
        self._changes.workspace_changed(namespace, name)

    def workspaces_listed(
        self, observations: Iterable[WorkspaceObservation], version: str, namespace: str | None
    ) -> None:
        """A whole list of workspaces was seen."""
        listed = set()
        for observation in observations:
            listed.add((observation.workspace.namespace, observation.workspace.name))
            self.observe_workspace(observation)
        for key in [k for k in self._workspace_versions if namespace in (None, k[0]) and k not in listed]:
            if not newer_than_list(self._workspace_versions[key], version):
                self.workspace_gone(*key, "")

    def expire(self, now: Now) -> None:
        """Take note of heartbeats that ran out by `now`: no event tells of them."""
        while self._expiries and self._expiries[0][0] <= now.ticks:
            _, key = heapq.heappop(self._expiries)
            self._armed.discard(key)
            known = self._pods.get(key)
            if known is None or known.stale:
                continue
            if known.heartbeat.stale(now):
                known.stale = True
                self._recompose(key)
            else:
                self._arm(key)

    # Inside

    def _namespace(self, namespace: str) -> _Namespace:
        known = self._namespaces.get(namespace)
        if known is None:
            known = self._namespaces[namespace] = _Namespace()
        return known

    def _pods_of(self, namespace: _Namespace, runtime: str) -> Pods:
        pods = namespace.pods.get(runtime)
        if pods is None:
            pods = namespace.pods[runtime] = Pods()
        return pods

    def _arm(self, key: PodKey) -> None:
        """One timer a Pod: a refreshed heartbeat is looked at when the old one would run out."""
        known = self._pods[key]
        if not known.stale and key not in self._armed:
            self._armed.add(key)
            heapq.heappush(self._expiries, (known.heartbeat.fresh_until + 1, key))

    def _compose(self, known: _KnownPod) -> RuntimePod:
        pod = _available(known.observation.pod, known.stale)
        load = self._claims.load(pod.namespace, pod.name, pod.uid)
        return replace(pod, usage=load.usage, targets=load.targets)

    def _enter(self, key: PodKey) -> None:
        known = self._pods[key]
        known.value = self._compose(known)
        self._publish(key[0], known.value.runtime, key[1], known.value)

    def _recompose(self, key: PodKey) -> None:
        known = self._pods.get(key)
        if known is None:
            return
        value = self._compose(known)
        if value != known.value:
            known.value = value
            self._publish(key[0], value.runtime, key[1], value)

    def _forget_pod(self, key: PodKey) -> None:
        known = self._pods.pop(key)
        pod = known.observation.pod
        if self._names.get((pod.namespace, pod.uid)) == pod.name:
            del self._names[pod.namespace, pod.uid]
        self._publish(key[0], pod.runtime, key[1], None)

    def _publish(self, namespace: str, runtime: str, name: str, value: RuntimePod | None) -> None:
        known = self._namespace(namespace)
        known.pods[runtime] = self._pods_of(known, runtime).replacing(name, value)
        known.version += 1
        self._changes.pod_changed(namespace, runtime)


def newer_than_list(version: str, listed: str) -> bool:
    """Whether an object was seen in a version that the list does not cover yet."""
    return bool(listed) and bool(version) and newer(version, listed)


def _available(pod: RuntimePod, stale: bool) -> RuntimePod:
    if stale and pod.unavailable is None:
        return replace(pod, unavailable=Unavailability.HEARTBEAT_STALE)
    return pod
