"""What holds in every history, looked at on each accepted write: nothing oversold, nothing bound twice.

What breaks is written down, not refused: a real API server would take the write too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from kruntimes_core.lab.apiserver.objects import Object, metadata_of
from kruntimes_core.lab.apiserver.requests import Write
from kruntimes_core.lab.apiserver.server import ApiServer
from kruntimes_core.model.decode import Decoder
from kruntimes_core.model.run import RunObservation


class Invariants:
    """By the server's truth: usage <= capacity for each Pod UID, one bind an attempt, Pod alive.

    `broken` has one line for each promise that was broken; `binds` counts the accepted binds.
    """

    def __init__(self, server: ApiServer, *, pods_may_go: bool = False) -> None:
        """pods_may_go: a bind may come while or after its Pod goes; nothing can hold that one back."""
        self._server = server
        self._pods_may_go = pods_may_go
        self._decoder = Decoder()
        self._held: dict[str, tuple[str, Mapping[str, int]]] = {}
        self._usage: dict[str, Counter[str]] = {}
        self._attempts: Counter[tuple[str, int]] = Counter()
        self.broken: list[str] = []
        self.binds = 0
        for run in server.list(server.resources.named("runs")):
            self._account(self._decoder.run(run))
        server.observers.append(self.observe)

    def check(self) -> None:
        """Raises `AssertionError` with all that was broken."""
        if self.broken:
            raise AssertionError("; ".join(self.broken))

    def usage(self, pod_uid: str) -> Mapping[str, int]:
        """What the active Runs of a Pod hold."""
        return +self._usage.get(pod_uid, Counter())

    def observe(self, write: Write) -> None:
        """Look at one accepted write."""
        if write.plural != "runs":
            return
        if write.after is None:
            self._release(str(metadata_of(write.before or {}).get("uid")))
            return
        run = self._decoder.run(write.after)
        self._account(run)
        if run.active and run.assigned_pod_uid != _pod_uid(write.before):
            self._bound(run)

    def _account(self, run: RunObservation) -> None:
        self._release(run.run.uid)
        if run.active and run.assigned_pod_uid is not None:
            self._held[run.run.uid] = (run.assigned_pod_uid, run.held)
            self._usage.setdefault(run.assigned_pod_uid, Counter()).update(run.held)

    def _release(self, uid: str) -> None:
        pod_uid, held = self._held.pop(uid, ("", {}))
        if pod_uid:
            self._usage[pod_uid].subtract(held)

    def _bound(self, run: RunObservation) -> None:
        self.binds += 1
        attempt = (run.run.uid, run.run.attempt)
        self._attempts[attempt] += 1
        if self._attempts[attempt] > 1:
            self.broken.append(f"run {run.run.name} was bound twice in attempt {run.run.attempt}")
        pods = self._server.table(self._server.resources.named("pods"))
        found = pods.get((run.run.namespace, run.assigned_pod or ""))
        alive = found is not None and "deletionTimestamp" not in metadata_of(found.object)
        pod = self._decoder.pod(found.object) if found is not None and alive else None
        if pod is None or pod.pod.uid != run.assigned_pod_uid:
            if not self._pods_may_go:
                self.broken.append(f"run {run.run.name} was bound to {run.assigned_pod_uid}, which is gone")
            return
        usage = self.usage(pod.pod.uid)
        over = {name: held for name, held in usage.items() if held > pod.pod.capacity.get(name, 0)}
        if over:
            self.broken.append(f"pod {pod.pod.name} holds {over} of {dict(pod.pod.capacity)}")


def _pod_uid(run: Object | None) -> object:
    status = (run or {}).get("status")
    return status.get("assignedPodUID") if isinstance(status, dict) else None
