"""Updates of a Run's spec: what is fixed once it was created, and the two fields that are not."""

from __future__ import annotations

from contrast.cases import FUNCTION, Update, run_spec
from realcluster.client import Object

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
]
