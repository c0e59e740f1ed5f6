"""The simulation as a pure state machine: objects come in, requests go out, time is an argument."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import partial
from itertools import count

from kruntimes_core.cluster.client.resources import PODS, RUNS, WORKSPACES, ApiResource
from kruntimes_core.engine.clock import SECOND, Now
from kruntimes_core.lab.runtimes.behaviour import Behaviour
from kruntimes_core.lab.runtimes.controllers import (
    pod_stage,
    pod_step,
    runtime_stage,
    runtime_step,
    workspace_stage,
    workspace_step,
)
from kruntimes_core.lab.runtimes.objects import (
    FOLLOWED,
    RUNTIMES,
    KnownObject,
    NextRequest,
    Object,
    ObjectIndex,
    ObjectRef,
    WriteRequest,
    lean,
    ref_of,
    runtime_of,
)
from kruntimes_core.lab.runtimes.runtimed import run_stage, run_step
from kruntimes_core.model.metadata import older

_BACKOFF = 1 * SECOND


Stage = Callable[[Object], Hashable]
"""Where an object stands; its step's time counts from when that was first seen."""
Step = Callable[[KnownObject, ObjectIndex], NextRequest | None]
"""What an object does next; None when only a change brings something."""


class RuntimeSimulation:
    """Has at most one request under way for each object, and nothing before all lists are in."""

    def __init__(self, behaviour: Behaviour) -> None:
        self._rules: dict[str, tuple[Stage, Step]] = {
            RUNTIMES.plural: (runtime_stage, runtime_step),
            PODS.plural: (pod_stage, partial(pod_step, behaviour)),
            RUNS.plural: (run_stage, partial(run_step, behaviour)),
            WORKSPACES.plural: (workspace_stage, workspace_step),
        }
        self._world = ObjectIndex()
        self._unlisted = {resource.plural for resource in FOLLOWED}
        self._steps: dict[ObjectRef, NextRequest] = {}
        self._queue: list[tuple[int, int, ObjectRef, NextRequest]] = []
        self._numbers = count()
        self._under_way: set[ObjectRef] = set()
        self._not_before: dict[ObjectRef, int] = {}

    # What comes in

    def observe(self, resource: ApiResource, obj: Object, now: Now) -> None:
        """An object as it stands; an older version than the one that is known changes nothing."""
        ref = ref_of(resource, obj)
        known = self._world.find(ref)
        version = obj["metadata"]["resourceVersion"]
        if known is not None and older(version, known.object["metadata"]["resourceVersion"]):
            return
        stage_of, _ = self._rules[resource.plural]
        stage = stage_of(obj)
        moved = known is None or known.stage != stage
        since = now.ticks if known is None or moved else known.since
        self._world.put(ref, KnownObject(lean(resource, obj), stage, since))
        self._reconsider(ref)
        if moved:
            self._reconsider_all(self._dependants(resource, obj))

    def gone(self, resource: ApiResource, namespace: str, name: str) -> None:
        """An object is there no more."""
        ref = ObjectRef(resource.plural, namespace, name)
        last = self._world.remove(ref)
        self._not_before.pop(ref, None)
        self._reconsider(ref)
        if last is not None:
            self._reconsider_all(self._dependants(resource, last.object))

    def listed(self, resource: ApiResource, objects: Iterable[Object], now: Now) -> None:
        """All objects of a resource: what is known and not among them is gone."""
        self._unlisted.discard(resource.plural)
        present = set()
        for obj in objects:
            present.add(ref_of(resource, obj))
            self.observe(resource, obj, now)
        for ref in self._world.refs(resource):
            if ref not in present:
                self.gone(resource, ref.namespace, ref.name)

    # What goes out

    def take(self, now: Now) -> tuple[ObjectRef, WriteRequest] | None:
        """The next request that is due, after which `settled` or `failed` is; None when nothing is due."""
        if self._unlisted:
            return None
        while self._queue and self._queue[0][0] <= now.ticks:
            _, _, ref, step = heapq.heappop(self._queue)
            if self._steps.get(ref) is step and ref not in self._under_way:
                del self._steps[ref]
                self._under_way.add(ref)
                return ref, step.make(now.wall)
        return None

    @property
    def wake_at(self) -> int | None:
        """When the next request may be due, in ticks."""
        return self._queue[0][0] if self._queue and not self._unlisted else None

    def settled(self, ref: ObjectRef) -> None:
        """A request was answered, and what it led to was observed."""
        self._under_way.discard(ref)
        self._not_before.pop(ref, None)
        self._reconsider(ref)

    def failed(self, ref: ObjectRef, now: Now) -> None:
        """A request changed nothing: try again a little later."""
        self._under_way.discard(ref)
        self._not_before[ref] = now.ticks + _BACKOFF
        self._reconsider(ref)

    # Inside

    def _reconsider(self, ref: ObjectRef) -> None:
        """Find the object's next step."""
        seen, (_, next_step) = self._world.find(ref), self._rules[ref.plural]
        step = None if seen is None else next_step(seen, self._world)
        if step is None:
            self._steps.pop(ref, None)
            return
        self._steps[ref] = step
        if ref not in self._under_way:
            at = max(step.at, self._not_before.get(ref, step.at))
            heapq.heappush(self._queue, (at, next(self._numbers), ref, step))

    def _reconsider_all(self, refs: Iterable[ObjectRef]) -> None:
        for ref in list(refs):
            self._reconsider(ref)

    def _dependants(self, resource: ApiResource, obj: Object) -> Iterator[ObjectRef]:
        """The objects whose next step may be another after this one moved on."""
        metadata = obj["metadata"]
        namespace = metadata["namespace"]
        if resource is PODS:
            yield ObjectRef(RUNTIMES.plural, namespace, runtime_of(obj))
            yield from (ref for ref, _ in self._world.objects(WORKSPACES, namespace))
            yield from (
                ref
                for ref, run in self._world.objects(RUNS, namespace)
                if run.get("status", {}).get("assignedPod") == metadata["name"]
            )
        elif resource is RUNTIMES:
            yield from (ref for ref, _ in self._world.objects(PODS, namespace))
