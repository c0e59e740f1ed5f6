"""Runtimes and PersistentWorkspaces that are created."""

from __future__ import annotations

from contrast.cases import REMOVED, Create
from realcluster.client import RUNTIMES, WORKSPACES, Object


def _workspace(title: str, at: str | None = None, filled: Object | None = None, **fields: object) -> Create:
    spec = {key: value for key, value in {"runtime": "python", **fields}.items() if value is not REMOVED}
    return Create(title=f"workspace: {title}", spec=spec, at=at, filled=filled or {}, resource=WORKSPACES)


def _runtime(title: str, at: str | None = None, **fields: object) -> Create:
    return Create(title=f"runtime: {title}", spec=dict(fields), at=at, resource=RUNTIMES)


def _template(*names: str) -> Object:
    containers = [{"name": name, "image": "example.invalid/runtime:1"} for name in names]
    return {"metadata": {"labels": {"tier": "warm"}}, "spec": {"containers": containers, "hostNetwork": True}}


_DEFAULTS = {"mode": "RuntimePodLocal", "cleanupPolicy": "DeleteAfterTTL", "ttlSecondsAfterUnused": REMOVED}
_CONTAINERS = "spec.template.spec.containers"

OTHER_CREATIONS: list[Create] = [
    _workspace("runtime alone", filled=_DEFAULTS),
    _workspace("everything", mode="RuntimePodLocal", cleanupPolicy="Retain", ttlSecondsAfterUnused=0),
    _workspace("no runtime", "spec.runtime", runtime=REMOVED),
    _workspace("empty runtime", "spec.runtime", runtime=""),
    _workspace("runtime of 64 characters", "spec.runtime", runtime="r" * 64),
    _workspace("another mode", "spec.mode", mode="Shared"),
    _workspace("another policy", "spec.cleanupPolicy", cleanupPolicy="Delete"),
    _workspace("unused for less than no time", "spec.ttlSecondsAfterUnused", ttlSecondsAfterUnused=-1),
    _runtime("a container", replicas=0, template=_template("runtime")),
    _runtime("a sidecar after it", replicas=3, template=_template("runtime", "logs")),
    _runtime("a sidecar before it", _CONTAINERS, template=_template("logs", "runtime")),
    _runtime("no container", _CONTAINERS, template=_template()),
    _runtime("no template", "spec.template", replicas=1),
    _runtime("fewer than no Pods", "spec.replicas", replicas=-1, template=_template("runtime")),
]
