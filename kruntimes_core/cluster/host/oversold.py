"""Pods that hold more than they have: no history of ours leads there but one, and that one is counted.

Nobody can fence off a write of a former leader that a network held back for longer than the Lease
(semantics, Leading). Whoever follows the Runs sees what came of it.
"""

from __future__ import annotations

from collections.abc import Callable

from kruntimes_core.cluster.observing.log import Log
from kruntimes_core.engine import events
from kruntimes_core.engine.engine import Engine
from kruntimes_core.model.pod import RuntimePod
from kruntimes_core.model.run import Run, RunObservation


class Oversold:
    """Counts how often a Pod was seen to become oversold, by whomever."""

    def __init__(self, engine: Engine, log: Log) -> None:
        self._engine = engine
        self._log = log
        self._uids: set[str] = set()
        self.count = 0
        self.listeners: list[Callable[[RuntimePod, Run], None]] = []
        """Told of such a Pod, each time that it begins, and of the Run with which it was seen."""

    def after(self, event: events.Event) -> None:
        """Look at what an event told, after the engine has taken it in."""
        if isinstance(event, events.RunObserved):
            self._look(event.observation)
        elif isinstance(event, events.RunsListed):
            for observation in event.observations:
                self._look(observation)
        elif isinstance(event, events.PodGone):
            self._uids.discard(event.uid)

    def _look(self, seen: RunObservation) -> None:
        if not seen.active or seen.assigned_pod is None:
            return
        pod = self._engine.state.pods.get(seen.run.namespace, seen.assigned_pod)
        if pod is None or pod.uid != seen.assigned_pod_uid:
            return
        over = [name for name in seen.held if pod.usage.get(name, 0) > pod.capacity.get(name, 0)]
        if not over:
            self._uids.discard(pod.uid)
        elif pod.uid not in self._uids:
            self._uids.add(pod.uid)
            self.count += 1
            self._log.warning(
                "a pod holds more than it has", pod=f"{pod.namespace}/{pod.name}", resources=", ".join(over)
            )
            for hear in self.listeners:
                hear(pod, seen.run)
