"""Updates of a spec: what of a Run is fixed once it was created, what is not, and the other kinds."""

from __future__ import annotations

from contrast.cases import FUNCTION, Update, run_spec
from realcluster.client import RUNTIMES, WORKSPACES, Object, Resource

_TERM = {"labelSelector": {"matchLabels": {"cohort": "a"}}, "topologyKey": "kruntimes.io/runtime-pod"}
_AFFINITY = {"runAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_TERM]}}
_FULL = run_spec(
    env=[{"name": "A", "value": "1"}],
    resources={"requests": {"runs": 1, "memory": "2Gi"}},
    affinity=_AFFINITY,
    workspace={"name": "notebooks"},
    timeout="90s",
    retryPolicy={"maxAttempts": 3},
    ttlSecondsAfterFinished=60,
    cancelRequested=False,
)
_BARE = run_spec()
_CANCELLED = run_spec(cancelRequested=True)


def _fixed(title: str, at: str, change: Object, before: Object = _FULL) -> Update:
    return Update(title=title, before=before, change=change, at=f"spec.{at}")


def _free(title: str, change: Object, before: Object = _FULL) -> Update:
    return Update(title=title, before=before, change=change)


_GROWN = run_spec(mode={"task": {"entrypoint": "bin/start", "interpreter": "bash"}}, nice=19)
_RUNTIME = {"template": {"spec": {"containers": [{"name": "runtime", "image": "r:1"}], "hostNetwork": True}}}
_WORKSPACE = {"runtime": "python"}


def _of_others(title: str, resource: Resource, change: Object, at: str | None = None) -> Update:
    before = _RUNTIME if resource == RUNTIMES else _WORKSPACE
    return Update(title=title, before=before, change=change, at=at, resource=resource)


UPDATES: list[Update] = [
    _fixed("another runtime", "runtime", {"runtime": "node"}),
    _fixed("another entrypoint", "mode", {"mode": {"task": {"entrypoint": "bin/stop"}}}),
    _fixed("a function instead of a task", "mode", {"mode": {"task": None, **FUNCTION}}),
    _fixed("another commit", "source", {"source": {"commitSHA": "f00"}}),
    _fixed("no source any more", "source", {"source": None}),
    _fixed("another variable", "env", {"env": [{"name": "A", "value": "2"}]}),
    _fixed("a first variable", "env", {"env": [{"name": "A", "value": "2"}]}, _BARE),
    _fixed("no variables any more", "env", {"env": None}),
    _fixed("a larger request", "resources", {"resources": {"requests": {"memory": "4Gi"}}}),
    _fixed("the same amount in other words", "resources", {"resources": {"requests": {"memory": "2048Mi"}}}),
    _fixed("a number as text", "resources", {"resources": {"requests": {"runs": "1"}}}),
    _fixed("a first request", "resources", {"resources": {"requests": {"runs": 2}}}, _BARE),
    _fixed("no affinity any more", "affinity", {"affinity": None}),
    _fixed("a first affinity", "affinity", {"affinity": _AFFINITY}, _BARE),
    _fixed("another workspace", "workspace", {"workspace": {"name": "models"}}),
    _fixed("no workspace any more", "workspace", {"workspace": None}),
    _fixed("another timeout", "timeout", {"timeout": "91s"}),
    _fixed("a first timeout", "timeout", {"timeout": "91s"}, _BARE),
    _fixed("more attempts", "retryPolicy", {"retryPolicy": {"maxAttempts": 4}}),
    _fixed("a first retry policy", "retryPolicy", {"retryPolicy": {}}, _BARE),
    _fixed(
        "a cancellation taken back",
        "cancelRequested",
        {"cancelRequested": False},
        _CANCELLED,
    ),
    _fixed("a cancellation removed", "cancelRequested", {"cancelRequested": None}, _CANCELLED),
    _free("nothing", {}),
    _free("everything as it was", _FULL),
    _free("defaults spelled out", {"workspace": {"kind": "PersistentWorkspace"}}),
    _free("a longer life after the end", {"ttlSecondsAfterFinished": 3600}),
    _free("no limit of life after the end", {"ttlSecondsAfterFinished": None}),
    _free("a first limit of life after the end", {"ttlSecondsAfterFinished": 0}, _BARE),
    _free("a cancellation", {"cancelRequested": True}),
    _free("a cancellation where nothing was said", {"cancelRequested": True}, _BARE),
    _free("a cancellation once more", {"cancelRequested": True}, _CANCELLED),
    _free("no word about a cancellation any more", {"cancelRequested": None}),
    _free("a longer life where there are fields that nobody knows", {"ttlSecondsAfterFinished": 9}, _GROWN),
    _free("another value of a field that nobody knows", {"nice": 5}, _GROWN),
    _fixed("another value of a field of the task", "mode", {"mode": {"task": {"interpreter": "sh"}}}, _GROWN),
    _of_others("runtime: more Pods", RUNTIMES, {"replicas": 3}),
    _of_others("runtime: no Pods", RUNTIMES, {"replicas": 0}, "spec.replicas"),
    _of_others(
        "runtime: another port and a capacity", RUNTIMES, {"port": 1, "capacity": {"resources": {"gpu": "4"}}}
    ),
    _of_others(
        "runtime: Pods that end",
        RUNTIMES,
        {"template": {"spec": {"restartPolicy": "Never"}}},
        "spec.template.spec.restartPolicy",
    ),
    _of_others("workspace: kept for ever", WORKSPACES, {"cleanupPolicy": "Retain"}),
    _of_others("workspace: another Runtime", WORKSPACES, {"runtime": "node"}),
]
