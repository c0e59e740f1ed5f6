"""What holds in every history, checked at the server on each accepted bind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kruntimes_core.model.pod import RuntimePod
from kruntimes_core.model.run import RunObservation


class BrokenPromiseError(AssertionError):
    """The scheduler oversold a Pod, bound a Run twice, or bound it to a Pod that is not there."""


class Invariants:
    """By the server's truth: usage <= capacity for each Pod UID, one bind an attempt, Pod alive."""

    def __init__(self) -> None:
        self.pods_may_go = False
        """Set where a bind may be on its way while its Pod goes: nothing can hold that one back."""
        self.binds: Counter[tuple[str, int]] = Counter()
        """(Run UID, attempt) -> accepted binds."""

    def bound(self, run: RunObservation, pod: RuntimePod | None, others: Iterable[RunObservation]) -> None:
        """Check one accepted bind. pod: the one of that name, None when it is gone or going.

        others: all other Runs of the namespace. Raises `BrokenPromiseError`.
        """
        attempt = (run.run.uid, run.run.attempt)
        self.binds[attempt] += 1
        if self.binds[attempt] > 1:
            raise BrokenPromiseError(f"run {run.run.name} was bound twice in attempt {run.run.attempt}")
        if pod is None or pod.uid != run.assigned_pod_uid:
            if self.pods_may_go:
                return
            raise BrokenPromiseError(f"run {run.run.name} was bound to {run.assigned_pod_uid}, which is gone")
        usage: Counter[str] = Counter(run.held)
        for other in others:
            if other.active and other.assigned_pod_uid == pod.uid:
                usage.update(other.held)
        over = {name: amount for name, amount in usage.items() if amount > pod.capacity.get(name, 0)}
        if over:
            raise BrokenPromiseError(f"pod {pod.name} holds {over} of {dict(pod.capacity)}")
