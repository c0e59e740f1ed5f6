"""Runtimes and PersistentWorkspaces that are created."""

from __future__ import annotations

from typing import Any

from contrast.cases import OF_THE_WHOLE, REMOVED, Create
from contrast.creations import NOT_TAKEN, TAKEN
from contrast.statuses import STORES
from realcluster.client import RUNTIMES, WORKSPACES, Object


def _workspace(title: str, at: str | None = None, filled: Object | None = None, **fields: object) -> Create:
    spec = {key: value for key, value in {"runtime": "python", **fields}.items() if value is not REMOVED}
    return Create(title=f"workspace: {title}", spec=spec, at=at, filled=filled or {}, resource=WORKSPACES)


def _runtime(title: str, at: str | None = None, filled: Object | None = None, **fields: object) -> Create:
    whole = {"template": template(_CONTAINER), **fields}
    spec = {key: value for key, value in whole.items() if value is not REMOVED}
    return Create(title=f"runtime: {title}", spec=spec, at=at, filled=filled or {}, resource=RUNTIMES)


def template(*containers: Object, **fields: Any) -> Object:
    """A Pod template with these containers, and more fields of the Pod's spec."""
    return {"metadata": {"labels": {"tier": "warm"}}, "spec": {"containers": list(containers), **fields}}


def _with_image(image: object) -> Object:
    return template({"name": "runtime", "image": image})


_CONTAINER: Object = {"name": "runtime", "image": "example.invalid/runtime:1"}
_SIDECAR: Object = {"name": "logs", "image": "l" * 3000}
_DEFAULTS = {"mode": "RuntimePodLocal", "cleanupPolicy": "DeleteAfterTTL", "ttlSecondsAfterUnused": REMOVED}
_CONTAINERS = "spec.template.spec.containers"

OF_WORKSPACES = [
    _workspace("runtime alone", filled=_DEFAULTS),
    _workspace("everything", mode="RuntimePodLocal", cleanupPolicy="Retain", ttlSecondsAfterUnused=0),
    _workspace("kept for the longest time", ttlSecondsAfterUnused=2**31 - 1),
    Create(title="workspace: no spec", spec=None, resource=WORKSPACES),
    _workspace("no runtime", "spec.runtime", runtime=REMOVED),
    _workspace("empty runtime", "spec.runtime", runtime=""),
    _workspace("runtime of 64 characters", "spec.runtime", runtime="r" * 64),
    _workspace("another mode", "spec.mode", mode="Shared"),
    _workspace("another policy", "spec.cleanupPolicy", cleanupPolicy="Delete"),
    _workspace("unused for less than no time", "spec.ttlSecondsAfterUnused", ttlSecondsAfterUnused=-1),
    _workspace("kept for a longer time", OF_THE_WHOLE, ttlSecondsAfterUnused=2**31),
]

OF_RUNTIMES = [
    _runtime("template alone", filled={"replicas": 1, "port": 9091, "daemonImage": REMOVED}),
    _runtime("most Pods", replicas=2**31 - 1),
    _runtime("port that no socket has", port=2**31 - 1),
    _runtime("lowest port", port=1),
    _runtime("daemon's image of 2,048 characters", daemonImage="d" * 2048),
    _runtime("field that nobody knows", network={"policy": [1, None, {"deep": True}]}),
    Create(title="runtime: no spec", spec=None, resource=RUNTIMES),
    _runtime("no Pods", "spec.replicas", replicas=0),
    _runtime("more Pods than there are numbers", OF_THE_WHOLE, replicas=2**31),
    _runtime("no port", "spec.port", port=0),
    _runtime("port by its name", "spec.port", port="http"),
    _runtime("daemon's image of 2,049 characters", "spec.daemonImage", daemonImage="d" * 2049),
    _runtime("empty capacity", capacity={}),
    *(
        _runtime(f"capacity of {value!r}", capacity={"resources": {"example.com/gpu": value}})
        for value in TAKEN
    ),
    *(
        _runtime(
            f"capacity of {value!r}", "spec.capacity.resources.gpu", capacity={"resources": {"gpu": value}}
        )
        for value in NOT_TAKEN
    ),
    _runtime("workspace without a source", workspace={}),
    _runtime("workspace on a node", workspace={"emptyDir": {"sizeLimit": "1Gi", "future": True}}),
    _runtime("workspace of a kind that nobody knows", workspace={"cloud": {"id": 7}}),
    _runtime(
        "workspace of two sources", "spec.workspace", workspace={"emptyDir": {}, "hostPath": {"path": "/w"}}
    ),
    *(
        _runtime(title, None if at is None else f"spec.artifactStore{at}", artifactStore=store)
        for title, at, store in STORES
    ),
]

OF_TEMPLATES = [
    _runtime("a sidecar after it, with an image of any length", template=template(_CONTAINER, _SIDECAR)),
    _runtime("a sidecar without an image", template=template(_CONTAINER, {"name": "logs"})),
    _runtime("image of one character", template=_with_image("i")),
    _runtime("image of 2,048 characters", template=_with_image("i" * 2048)),
    _runtime(
        "template with fields that nobody knows",
        template={
            **template({**_CONTAINER, "future": {"a": [1]}}, hostNetwork=True, future="x"),
            "future": 1,
        },
    ),
    _runtime("template without metadata", template={"spec": {"containers": [_CONTAINER]}}),
    _runtime(
        "template as Go writes it", template={**template(_CONTAINER), "metadata": {"creationTimestamp": None}}
    ),
    _runtime("Pods that restart", template=template(_CONTAINER, restartPolicy="Always")),
    _runtime("empty list of ephemeral containers", template=template(_CONTAINER, ephemeralContainers=[])),
    _runtime("account of 253 characters", template=template(_CONTAINER, serviceAccountName="a" * 253)),
    _runtime("account with dots", template=template(_CONTAINER, serviceAccountName="runs.team-a")),
    _runtime("no template", "spec.template", template=REMOVED),
    _runtime("template without a spec", "spec.template.spec", template={}),
    _runtime("no list of containers", _CONTAINERS, template={"spec": {}}),
    _runtime("no container", _CONTAINERS, template=template()),
    _runtime("container without a name", f"{_CONTAINERS}[0].name", template=template({"image": "i"})),
    _runtime(
        "a sidecar before it", _CONTAINERS, template=template({"name": "logs", "image": "l"}, _CONTAINER)
    ),
    _runtime("no image", _CONTAINERS, template=template({"name": "runtime"})),
    _runtime("empty image", _CONTAINERS, template=_with_image("")),
    _runtime("image of 2,049 characters", _CONTAINERS, template=_with_image("i" * 2049)),
    _runtime("image that is a number", f"{_CONTAINERS}[0].image", template=_with_image(1)),
    *(
        _runtime(
            f"{at} {value!r:.20}", f"spec.template.spec.{at}", template=template(_CONTAINER, **{at: value})
        )
        for at, value in (
            ("restartPolicy", "Never"),
            ("restartPolicy", "OnFailure"),
            ("restartPolicy", ""),
            ("ephemeralContainers", [{"name": "debug"}]),
            ("serviceAccountName", "a" * 254),
            ("serviceAccountName", "Runs"),
            ("serviceAccountName", ""),
            ("serviceAccountName", "runs."),
        )
    ),
]

OTHER_CREATIONS: list[Create] = [*OF_WORKSPACES, *OF_RUNTIMES, *OF_TEMPLATES]
