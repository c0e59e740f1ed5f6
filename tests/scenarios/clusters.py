"""Small crowded clusters, as JSON objects: few names and labels, so that everything meets everything.

All choices come from one `Random`: a plain one gives dense clusters by the thousand, one of hypothesis'
gives those that shrink.
"""

from __future__ import annotations

from random import Random
from typing import Any

from kruntimes_core.testing import affinity_object, pod_object, run_object, term_object, workspace_object

Object = dict[str, Any]

NAMESPACES = (*["team-a"] * 7, "team-b")
RUNTIMES = (*["py"] * 7, "js")
PODS = ("p0", "p1", "p2", "p3")
CREATED = ("2026-01-02T03:04:01Z", "2026-01-02T03:04:02Z", None)
# Against the time of the plan, 2026-01-02T03:04:05Z, and a limit of 15 s.
PROBES = (
    "2026-01-02T03:03:50Z",
    "2026-01-02T03:03:49Z",
    "2026-01-02T03:04:05Z",
    "2026-01-02T04:00:00Z",
    None,
)
STOPPED = ("2026-01-02T03:04:00Z", "2026-01-02T03:03:55Z", "2026-01-02T03:09:00Z", None)
RESOURCES = ("runs", "cpu", "cpu", "a.b/gpu")

SMALL = ("0", "1", "1", "2", "1000m", "1e0", ".002k", 1, 2.0)
ODD = ("500m", "-1", "1K", "", None, True, "9223372036854775807", "9223372036854775808", "0.5", "1Ki")
ROOM = ("1", "2", "3", "4", "5")
ODD_ROOM = ("0", "-3", "abc", "2500m", "999m", "1E", "16E")
BROKEN_TERMS = (
    term_object(expressions=[{"key": "app", "operator": "in", "values": ["a"]}]),
    term_object(expressions=[{"key": "app", "operator": "In", "values": []}]),
    term_object(expressions=[{"key": "app", "operator": "Exists", "values": ["a"]}]),
    term_object({"app": "x" * 64}),
    term_object({"app": "a b"}),
    term_object({"app": "a"}) | {"topologyKey": "kubernetes.io/hostname"},
)


class Clusters:
    """Draws clusters. `oddity` is how often something is not as it should be, from 0 to 1."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._one_of = random.choice
        self._oddity = 0.0

    def cluster(self) -> list[Object]:
        """Up to four Pods, ten Runs and two workspaces in two namespaces, in any order."""
        self._oddity = self._one_of((0.0, 0.0, 0.08))
        objects = [self._pod(name) for name in PODS[: self._one_of((1, 2, 3, 3, 4))]]
        objects += [self._run(number) for number in range(self._random.randint(4, 10))]
        objects += [self._workspace(name) for name in ("w0", "w1")]
        self._random.shuffle(objects)
        return objects

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def _odd(self) -> bool:
        return self._chance(self._oddity)

    # Pods and workspaces

    def _pod(self, name: str) -> Object:
        namespace = self._one_of(NAMESPACES)
        pod = pod_object(
            name,
            namespace=namespace,
            uid=f"{namespace}-{name}-{self._one_of(('new', 'new', 'old'))}",
            runtime=self._one_of(RUNTIMES),
            capacity={
                resource: self._one_of(ODD_ROOM if self._odd() else ROOM)
                for resource in RESOURCES
                if self._chance(0.7)
            },
            phase="Pending" if self._odd() else "Running",
            ready=not self._odd(),
            runtimed_ready=not self._odd(),
        )
        if self._odd():
            pod["status"]["conditions"][1]["lastProbeTime"] = self._one_of(PROBES)
        if self._odd():
            pod["metadata"]["deletionTimestamp"] = CREATED[0]
        if self._odd():
            pod["status"] = {"phase": "Running", "conditions": None}
        return pod

    def _workspace(self, name: str) -> Object:
        return workspace_object(
            name,
            namespace=self._one_of(NAMESPACES),
            runtime=self._one_of(RUNTIMES),
            phase=self._one_of(("Bound", "Bound", "Bound", "Pending", "Lost", "Released", "")),
            bound_pod=self._one_of((*PODS, *PODS, None)),
        )

    # Runs

    def _run(self, number: int) -> Object:
        namespace = self._one_of(NAMESPACES)
        run = run_object(
            f"r{number}",
            namespace=namespace,
            labels=None if self._chance(0.2) else self._labels(),
            runtime="none" if self._odd() else self._one_of(RUNTIMES),
            requests=self._requests() if self._chance(0.4) else None,
            affinity=self._affinity() if self._chance(0.6) else None,
        )
        run["metadata"]["creationTimestamp"] = self._one_of(CREATED)
        if self._chance(0.1):
            run["spec"]["workspace"] = {"name": self._one_of(("w0", "w1", "w2"))}
        if self._chance(0.25):
            run["status"] = self._active(namespace)
        self._spoil(run)
        return run

    def _labels(self) -> dict[str, str]:
        return {key: self._one_of(("a", "b", "")) for key in ("app", "tier") if self._chance(0.6)}

    def _requests(self) -> dict[str, Any]:
        return {
            resource: self._one_of(ODD if self._odd() else SMALL)
            for resource in RESOURCES
            if self._chance(0.4)
        }

    def _active(self, namespace: str) -> Object:
        pod = self._one_of(PODS)
        phase = "Hibernated" if self._odd() else self._one_of(("Scheduled", "Running", "Ready"))
        status: Object = {"phase": phase, "assignedPod": pod}
        generation = self._one_of((None, "", "old", "new", "new", "new"))
        if generation is not None:
            status["assignedPodUID"] = generation and f"{namespace}-{pod}-{generation}"
        return status

    def _spoil(self, run: Object) -> None:
        """Now and then: an odd status, a cancel, a deletion, a retry, labels and fields of no sense."""
        if self._odd():
            run["status"] = self._one_of(({}, {"phase": ""}, {"phase": "Succeeded"}, None))
        if self._odd():
            run["spec"]["cancelRequested"] = True
        if self._odd():
            run["metadata"]["deletionTimestamp"] = CREATED[0]
        if self._odd():
            run["metadata"]["labels"] = {"app": 5, "tier": "a"}
        if self._odd():
            run["spec"]["workspace"] = {"name": "w0", "kind": "PersistentVolumeClaim"}
        if self._odd() and run["status"] == {"phase": "Pending"}:
            run["status"] |= self._retried()
            run["spec"]["retryPolicy"] = {"backoff": self._one_of(("2s", "10s", "45s", "nonsense", "-1s"))}

    def _retried(self) -> Object:
        stopped = {"type": "Running", "status": "False", "lastTransitionTime": self._one_of(STOPPED)}
        return {"attempt": self._one_of((1, 2, 3, 9)), "conditions": [stopped]}

    # Affinity

    def _affinity(self) -> Object:
        return affinity_object(
            required=self._terms(self._one_of((0, 0, 1, 1, 2))),
            required_anti=self._terms(self._one_of((0, 0, 0, 1))),
            preferred=self._weighted(self._one_of((0, 0, 1, 2))),
            preferred_anti=self._weighted(self._one_of((0, 0, 1, 2))),
        )

    def _weighted(self, number: int) -> list[tuple[int, Object]]:
        return [(self._one_of((1, 7, 50, 100)), self._term()) for _ in range(number)]

    def _terms(self, number: int) -> list[Object]:
        return [self._one_of(BROKEN_TERMS) if self._odd() else self._term() for _ in range(number)]

    def _term(self) -> Object:
        if self._chance(0.6):
            return term_object({self._one_of(("app", "tier")): self._one_of(("a", "b"))})
        return term_object(expressions=[self._expression() for _ in range(self._random.randint(1, 2))])

    def _expression(self) -> Object:
        key = self._one_of(("app", "app", "tier", "zone"))
        if self._chance(0.5):
            return {"key": key, "operator": self._one_of(("Exists", "DoesNotExist"))}
        values = [self._one_of(("a", "b", "")) for _ in range(self._random.randint(1, 2))]
        return {"key": key, "operator": self._one_of(("In", "NotIn")), "values": values}
