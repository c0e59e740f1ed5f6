"""`python -m badscheduler FAULT --kubeconfig FILE --namespace NAME`: binds what is Pending, and errs.

It knows no room: it gives Runs to the Pods in turn. FAULT is one of `FAULTS`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path

from realcluster.client import PODS, RUNS, Client, Object

_WATCH_SECONDS = 300


class BadScheduler:
    """One namespace, one Run after the other."""

    def __init__(self, client: Client, namespace: str) -> None:
        self._client = client
        self._namespace = namespace
        self._numbers = count()
        self._hopeless: list[str] = []
        items = client.list(PODS, namespace).body["items"]
        self._pods = [(pod["metadata"]["name"], pod["metadata"]["uid"]) for pod in items]

    def run(self, place: Callable[[BadScheduler, str], None]) -> None:
        """Place every Run that is there or comes."""
        seen = set()
        for event in self._client.watch(RUNS, self._namespace, seconds=_WATCH_SECONDS):
            run = event["object"]
            name, phase = run["metadata"]["name"], run.get("status", {}).get("phase", "Pending")
            if event["type"] == "ADDED" and phase == "Pending" and name not in seen:
                seen.add(name)
                place(self, name)

    def honestly(self, name: str) -> None:
        """To the next Pod."""
        self.bind(name, *self._pods[next(self._numbers) % len(self._pods)])

    def off_by_one(self, name: str) -> None:
        """To the Pod after the next one, whose Runtime that may be."""
        self.bind(name, *self._pods[(next(self._numbers) + 1) % len(self._pods)])

    def on_one(self, name: str) -> None:
        """To the first Pod, whatever there is on it."""
        self.bind(name, *self._pods[0])

    def twice(self, name: str) -> None:
        """To a Pod, and then to another one."""
        self.honestly(name)
        self.honestly(name)

    def on_a_ghost(self, name: str) -> None:
        """To a Pod that is not there any more."""
        self.bind(name, self._pods[0][0], "00000000-0000-4000-8000-000000000000")

    def without_change(self, name: str) -> None:
        """To the next Pod, with a second write that moves a time alone."""
        self.honestly(name)
        self._write(name, conditions=[_scheduled("2026-01-02T03:04:05Z")])

    def and_fail(self, name: str) -> None:
        """To the next Pod, and to its end."""
        self.honestly(name)
        self._write(name, phase="Failed")

    def without_end(self, name: str) -> None:
        """To the next Pod; those that fit nowhere hear of it each time."""
        if name.startswith("hopeless"):
            self._hopeless.append(name)
            return
        self.honestly(name)
        for waiting in self._hopeless:
            self._write(waiting, phase="Pending", message=f"waiting for a Pod, while {name} is placed")

    def for_ever(self, name: str) -> None:
        """To the next Pod, with a finalizer, so that it cannot be deleted."""
        self.honestly(name)
        held = {"metadata": {"finalizers": ["example.com/held"]}}
        self._client.patch(RUNS, name, held, self._namespace)

    def none(self, name: str) -> None:
        """Nowhere."""

    def bind(self, name: str, pod: str, uid: str) -> None:
        self._write(
            name,
            phase="Scheduled",
            assignedPod=pod,
            assignedPodUID=uid,
            conditions=[_scheduled("2026-01-01T00:00:00Z")],
        )

    def _write(self, name: str, **status: object) -> None:
        self._client.patch(RUNS, name, {"status": status}, self._namespace, "status")


FAULTS: Mapping[str, Callable[[BadScheduler, str], None]] = {
    "nothing": BadScheduler.honestly,
    "overcommitted": BadScheduler.on_one,
    "boundTwice": BadScheduler.twice,
    "otherRuntime": BadScheduler.off_by_one,
    "podNotAlive": BadScheduler.on_a_ghost,
    "emptyWrite": BadScheduler.without_change,
    "runLost": BadScheduler.and_fail,
    "chatty": BadScheduler.without_end,
    "finalizer": BadScheduler.for_ever,
    "idle": BadScheduler.none,
}


def _scheduled(since: str) -> Object:
    return {
        "type": "Scheduled",
        "status": "True",
        "reason": "Assigned",
        "message": "assigned",
        "lastTransitionTime": since,
    }


def _client(kubeconfig: Path) -> Client:
    """Of a kubeconfig as tests and benches write it: in JSON."""
    config = json.loads(kubeconfig.read_text())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    authority = cluster.get("certificate-authority")
    ca_file = Path(authority) if authority is not None else None
    return Client(cluster["server"], token=user.get("token"), ca_file=ca_file, timeout_seconds=_WATCH_SECONDS)


def main() -> None:
    """Place Runs until somebody ends it."""
    fault, _, kubeconfig, _, namespace = sys.argv[1:]
    BadScheduler(_client(Path(kubeconfig)), namespace).run(FAULTS[fault])


if __name__ == "__main__":
    main()
