"""Pods that hold more than they advertise are counted, and named in the log.

No fence stops a write of a former leader that a network held back for longer than the Lease (semantics,
Leading), and the owner of a Pod may lower what it advertises. The watches show what came of it.
"""

from __future__ import annotations

from collections.abc import Callable

from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.engine import events
from kruntimes_core.engine.cache import PodKey
from kruntimes_core.engine.engine import Engine
from kruntimes_core.model.pod import RuntimePod
from kruntimes_core.model.run import Run, RunObservation


class OversoldPods:
    """Counts how often a Pod was seen to become oversold.

    An event costs a look at the Pods that it names, and no more.
    """

    def __init__(
        self, engine: Engine, log: Log, begins: Callable[[RuntimePod, Run | None], None] | None = None
    ) -> None:
        """begins: called when a Pod becomes oversold, with the Run with which that was seen, if any."""
        self._engine = engine
        self._log = log
        self._call_back = begins
        self._uids: dict[PodKey, str] = {}
        """The Pods that are oversold, as far as was seen."""
        self.count = 0

    def after(self, event: events.Event) -> None:
        """Look at the Pods of an event, after the engine has taken it in."""
        match event:
            case events.RunObserved(observation):
                self._look_where(observation)
            case events.PodObserved(observation):
                self._look(observation.pod.namespace, observation.pod.name)
            case events.RunsListed():
                for seen in event.observations:
                    self._look_where(seen)
            case events.PodsListed():
                self._pods_listed(event)
            case events.PodGone():
                self._look(event.namespace, event.name)

    def _pods_listed(self, event: events.PodsListed) -> None:
        listed = {(each.pod.namespace, each.pod.name) for each in event.observations}
        for namespace, name in listed.union(self._uids):
            self._look(namespace, name)

    def _look_where(self, seen: RunObservation) -> None:
        """Look at the Pod of a Run. Where one has ended, that can only end what was seen before."""
        if seen.assigned_pod is None:
            return
        namespace = seen.run.namespace
        if seen.active:
            self._look(namespace, seen.assigned_pod, seen)
        elif (namespace, seen.assigned_pod) in self._uids:
            self._look(namespace, seen.assigned_pod)

    def _look(self, namespace: str, name: str, seen: RunObservation | None = None) -> None:
        pod = self._engine.cache.pods.get(namespace, name)
        if seen is not None and (pod is None or seen.assigned_pod_uid not in (None, pod.uid)):
            return
        over = self._over(pod) if pod is not None else []
        if pod is None or not over:
            self._uids.pop((namespace, name), None)
        elif self._uids.get((namespace, name)) != pod.uid:
            self._uids[namespace, name] = pod.uid
            self._begins(pod, over, seen.run if seen is not None else None)

    def _over(self, pod: RuntimePod) -> list[str]:
        """The resources of which observed Runs hold more than the Pod has. Assumed ones do not count."""
        over = [name for name, used in pod.usage.items() if used > pod.capacity.get(name, 0)]
        if not over:
            return over
        assumed = self._engine.assumed(pod.namespace, pod.uid)
        return [name for name in over if pod.usage[name] - assumed[name] > pod.capacity.get(name, 0)]

    def _begins(self, pod: RuntimePod, over: list[str], run: Run | None) -> None:
        self.count += 1
        self._log.warning(
            "a pod holds more than it has", pod=f"{pod.namespace}/{pod.name}", resources=", ".join(over)
        )
        if self._call_back is not None:
            self._call_back(pod, run)
