"""What a host says of each Run: a log line for a decision, and how long it queued for a bind."""

from __future__ import annotations

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.observability.metrics import Metrics
from kruntimes_core.engine.api_calls import (
    Applied,
    ReadAnswer,
    Request,
    Write,
    WriteAnswer,
    WriteKind,
)
from kruntimes_core.engine.decisions import Decision
from kruntimes_core.engine.engine import Engine


class DecisionLines:
    """One log line for each decision."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def decided(self, decision: Decision) -> None:
        """Say it; see `Journal.listeners`."""
        pod = decision.pod.name if decision.pod is not None else None
        self._log.debug(
            "decided",
            run=f"{decision.run.namespace}/{decision.run.name}",
            outcome=decision.outcome,
            reason=decision.reason,
            pod=pod,
            text=decision.message or None,
            error=decision.error,
        )


class QueueTimes:
    """Measures the time from when a Run was first seen Pending until its bind was applied."""

    def __init__(self, engine: Engine, metrics: Metrics, clock: Clock) -> None:
        self._engine = engine
        self._metrics = metrics
        self._clock = clock

    def answered(self, request: Request, answer: WriteAnswer | ReadAnswer) -> None:
        """A request was answered; see `ApiDispatcher`."""
        bound = isinstance(request, Write) and request.kind is WriteKind.BIND and isinstance(answer, Applied)
        if bound:
            entry = self._engine.find(request.namespace, request.name)
            if entry is not None and entry.run.uid == request.uid:
                self._metrics.queued(self._clock.now().ticks - entry.pending_since)
