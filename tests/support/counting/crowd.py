"""A host in a crowd of Pods and Runs that it is told of directly, so that ten thousand are there at once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from kruntimes_core.engine import events
from kruntimes_core.engine.api_calls import Applied, Read, Write, WriteKind
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.model.pod import PodObservation
from kruntimes_core.model.run import Phase, RunObservation
from kruntimes_core.testing import make_pod, make_run
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness import Host
from kruntimes_core.testing.plugins import watched


@dataclass(frozen=True, slots=True)
class Counts:
    """All that was done between two moments."""

    asked: Counter[str]
    """Questions to plugins, by hook."""
    pods: frozenset[str]
    """The Pods that a filter or a scorer was asked about."""
    cycles: int
    writes: tuple[Write, ...]
    reads: int

    @property
    def kinds(self) -> Counter[WriteKind]:
        """The writes by what they are for."""
        return Counter(write.kind for write in self.writes)

    @property
    def written_bytes(self) -> int:
        """What the writes send to the API server, without headers."""
        return sum(len(json.dumps(write.body, separators=(",", ":"))) for write in self.writes)

    @property
    def nothing(self) -> bool:
        """Whether nobody was asked, nothing decided and nothing sent."""
        return not (self.asked or self.cycles or self.writes or self.reads)


class Surroundings:
    """One host, and the newest version of each object that it was told of."""

    def __init__(self, profiles: Profiles) -> None:
        self.host = Host(profiles)
        self.runs: dict[tuple[str, str], RunObservation] = {}
        self.pods: dict[tuple[str, str], PodObservation] = {}
        self._version = 1_000_000

    def make_pods(self, number: int, runs: int = 2, prefix: str = "py", **fields: Any) -> None:
        """See that many Pods, with room for `runs` each. fields: of `make_pod`."""
        for index in range(number):
            self.see_pod(f"{prefix}-{index:04}", runs, **fields)

    def see_pod(self, name: str, runs: int = 2, **fields: Any) -> None:
        """See a Pod that is new or changed, alive now."""
        capacity = {"runs": runs, **fields.pop("capacity", {})}
        pod = make_pod(name, capacity=capacity, **fields)
        seen = PodObservation(pod=pod, version=self._next(), probed_at=self.host.now.wall)
        self.pods[pod.namespace, name] = seen
        self.host.tell(events.PodObserved(seen))

    def make_runs(self, number: int, prefix: str, **fields: Any) -> None:
        """List that many more Runs, beside all that are known. fields: of `observation`."""
        for index in range(number):
            self.observation(f"{prefix}-{index:05}", **fields)
        self.list_runs()

    def see_run(self, name: str, **fields: Any) -> None:
        """See a Run that is new or changed. fields: of `observation`."""
        self.host.tell(events.RunObserved(self.observation(name, **fields)))

    def observation(
        self,
        name: str,
        pod: str | None = None,
        phase: Phase | None = None,
        message: str = "",
        **fields: Any,
    ) -> RunObservation:
        """A newer version of a Run: Pending, or Running on `pod`. fields: of `make_run`."""
        run = make_run(name, **fields)
        seen = RunObservation(
            run=run,
            version=self._next(),
            phase=phase or (Phase.PENDING if pod is None else Phase.RUNNING),
            assigned_pod=pod,
            assigned_pod_uid=None if pod is None else f"uid-{pod}",
            message=message,
            held=run.request,
        )
        self.runs[run.namespace, name] = seen
        return seen

    def end(self, name: str, namespace: str = NAMESPACE) -> None:
        """See that a Run has succeeded."""
        seen = replace(self.runs[namespace, name], phase=Phase.SUCCEEDED, version=self._next())
        self.runs[namespace, name] = seen
        self.host.tell(events.RunObserved(seen))

    def forget(self, name: str, namespace: str = NAMESPACE) -> None:
        """See that a Run was deleted."""
        gone = self.runs.pop((namespace, name)).run
        self.host.tell(events.RunGone(namespace=namespace, name=name, uid=gone.uid, version=self._next()))

    def list_runs(self) -> None:
        """List all Runs, as after a reconnect."""
        self.host.tell(events.RunsListed(observations=tuple(self.runs.values()), version=self._next()))

    def list_pods(self) -> None:
        """List all Pods."""
        self.host.tell(events.PodsListed(observations=tuple(self.pods.values()), version=self._next()))

    def beat(self) -> None:
        """See a heartbeat of every Pod."""
        for key, seen in list(self.pods.items()):
            self.pods[key] = replace(seen, version=self._next(), probed_at=self.host.now.wall)
            self.host.tell(events.PodObserved(self.pods[key]))

    def _next(self) -> str:
        self._version += 1
        return str(self._version)


class Crowd(Surroundings):
    """Every write is applied, and seen again as a watch would show it."""

    def __init__(self, profiles: Profiles) -> None:
        observed, self.calls = watched(profiles)
        super().__init__(observed)
        self.host.transport = self._apply
        self._echoes: list[RunObservation] = []

    def settle(self) -> None:
        """Decide, write, and see what was written, until nothing is left to do."""
        while self.host.step() or self._echo():
            pass

    def count(self, action: Callable[[], object] | None = None) -> Counts:
        """What an action costs, with all that follows from it; without one, what is still to be done."""
        host = self.host
        self.calls.clear()
        cycles, sent = host.cycles, len(host.requests)
        if action is not None:
            action()
        self.settle()
        requests = host.requests[sent:]
        return Counts(
            asked=self.calls.hooks,
            pods=frozenset(self._pods_asked()),
            cycles=host.cycles - cycles,
            writes=tuple(one for one in requests if isinstance(one, Write)),
            reads=sum(isinstance(one, Read) for one in requests),
        )

    def decide(self) -> Counter[str]:
        """Decide all that can be, and send nothing. How often each hook was asked."""
        self.calls.clear()
        self.host.work()
        return self.calls.hooks

    def placed(self, name: str, namespace: str = NAMESPACE) -> str | None:
        """The Pod that a Run was bound to."""
        return self.runs[namespace, name].assigned_pod

    def assumed(self, name: str, namespace: str = NAMESPACE) -> str | None:
        """The Pod that a Run is to be bound to."""
        entry = self.host.engine.find(namespace, name)
        made = entry.assumption if entry is not None else None
        return made.pod.name if made is not None else None

    # Inside

    def _pods_asked(self) -> Iterable[str]:
        return (arguments["pod"].name for _, _, arguments in self.calls if "pod" in arguments)

    def _apply(self, _: Host, write: Write) -> Applied:
        before, status = self.runs[write.namespace, write.name], write.body["status"]
        after = replace(
            before,
            version=self._next(),
            phase=Phase(status["phase"]),
            message=status.get("message", before.message) or "",
            assigned_pod=status.get("assignedPod"),
            assigned_pod_uid=status.get("assignedPodUID"),
        )
        self.runs[write.namespace, write.name] = after
        self._echoes.append(after)
        return Applied(after.version)

    def _echo(self) -> bool:
        echoes, self._echoes = self._echoes, []
        for seen in echoes:
            self.host.tell(events.RunObserved(seen))
        return bool(echoes)
