"""A host in a crowd of Runs, and what it did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from counting.crowd import Counts, Surroundings
from kruntimes_core.engine import events
from kruntimes_core.engine.api_calls import Applied, Read, Write
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.model.run import Phase, RunObservation
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness import Host
from kruntimes_core.testing.plugins import watched


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
