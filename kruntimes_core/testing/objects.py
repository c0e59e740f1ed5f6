"""API objects as JSON would have them, valid under the CRDs, for tests that decode or apply them.

Every function returns a new dict that the caller may change; what is not given gets a valid default
or is left out, as a client would leave it out. They raise `TypeError` or `ValueError` for what an API server
would never hold. Fields that are to be broken go into `metadata`, `spec` and `status`, which nothing checks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from operator import index
from typing import Any

from kruntimes_core.model.times import format_time
from kruntimes_core.model.validation import check_text, check_texts, mapping, members_of, refuse, whole
from kruntimes_core.testing.builders import NAMESPACE, NOW, RUNTIME

API_VERSION = "kruntimes.io/v1alpha1"
TOPOLOGY_KEY = "kruntimes.io/runtime-pod"
CAPACITY_PREFIX = "kruntimes.io/capacity."
_CONDITION_STATUSES = ("True", "False", "Unknown")

Object = dict[str, Any]


def time_text(time: datetime) -> str:
    """A time as the API writes it: UTC, whole seconds, `Z`. Raises `ValueError` for a time without a zone."""
    return format_time(time)


def _metadata(
    name: str, namespace: str, uid: str | None, version: str, labels: Mapping[str, str] | None
) -> Object:
    metadata: Object = {
        "name": name,
        "namespace": namespace,
        "uid": f"uid-{name}" if uid is None else uid,
        "resourceVersion": version,
        "creationTimestamp": time_text(NOW),
    }
    if labels is not None:
        check_texts("labels", mapping("labels", labels))
        metadata["labels"] = dict(labels)
    return metadata


def condition_object(
    kind: str, status: bool | str = True, *, reason: str = "Test", message: str = "", since: datetime = NOW
) -> Object:
    """One metav1.Condition of type `kind`; `status` is a bool, or `Unknown`."""
    if type(status) is not bool and status not in _CONDITION_STATUSES:
        refuse("the status of a condition", status, "True, False or 'Unknown'")
    return {
        "type": kind,
        "status": str(status),
        "reason": reason,
        "message": message,
        "lastTransitionTime": time_text(since),
    }


def term_object(labels: Mapping[str, str] | None = None, *, expressions: Iterable[Object] = ()) -> Object:
    """One affinity term: `matchLabels`, and `matchExpressions` of {key, operator, values}."""
    selector: Object = {}
    if labels:
        check_texts("matchLabels", mapping("matchLabels", labels))
        selector["matchLabels"] = dict(labels)
    if listed := list(members_of("the expressions", expressions, dict)):
        selector["matchExpressions"] = listed
    return {"labelSelector": selector, "topologyKey": TOPOLOGY_KEY}


def affinity_object(
    *,
    required: Iterable[Object] = (),
    required_anti: Iterable[Object] = (),
    preferred: Iterable[tuple[int, Object]] = (),
    preferred_anti: Iterable[tuple[int, Object]] = (),
) -> Object:
    """`spec.affinity` from terms (see `term_object`); the preferred ones come as (weight, term)."""
    affinity: Object = {}
    for key, terms, weighted in (
        ("runAffinity", required, preferred),
        ("runAntiAffinity", required_anti, preferred_anti),
    ):
        rules: Object = {}
        if listed := list(members_of("the terms", terms, dict)):
            rules["requiredDuringSchedulingIgnoredDuringExecution"] = listed
        if preferences := [_preference(weight, term) for weight, term in weighted]:
            rules["preferredDuringSchedulingIgnoredDuringExecution"] = preferences
        if rules:
            affinity[key] = rules
    return affinity


def _preference(weight: int, term: Object) -> Object:
    if not isinstance(term, dict):
        refuse("a preferred term", term, "(weight, term), the term as term_object makes it")
    return {"weight": whole("the weight of a term", weight), "runAffinityTerm": term}


def run_object(
    name: str = "run",
    *,
    namespace: str = NAMESPACE,
    uid: str | None = None,
    version: str = "1",
    labels: Mapping[str, str] | None = None,
    runtime: str = RUNTIME,
    requests: Mapping[str, Any] | None = None,
    affinity: Object | None = None,
    workspace: str | None = None,
    pod: str | None = None,
    pod_uid: str | None = None,
    phase: str | None = None,
    spec: Mapping[str, Any] | None = None,
    status: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Object:
    """A Run that executes an inline task: Pending, or Running on `pod` when one is named.

    requests: whole numbers by their values, all else as it is, so that a test can break it. pod_uid:
    `uid-<pod>` unless given. phase: overrides Pending or Running. metadata, spec, status:
    further fields, or other values of those above.
    """
    run_spec: Object = {
        "runtime": runtime,
        "mode": {"task": {"entrypoint": "main"}},
        "source": {"inline": "print('done')"},
    }
    if requests is not None:
        run_spec["resources"] = {"requests": {key: _number(value) for key, value in requests.items()}}
    if affinity is not None:
        run_spec["affinity"] = affinity
    if workspace is not None:
        run_spec["workspace"] = {"name": workspace}
    run_status: Object = {"phase": phase or ("Pending" if pod is None else "Running")}
    if pod is not None:
        run_status |= {"assignedPod": pod, "assignedPodUID": f"uid-{pod}" if pod_uid is None else pod_uid}
    return {
        "apiVersion": API_VERSION,
        "kind": "Run",
        "metadata": _metadata(name, namespace, uid, version, labels) | dict(metadata or {}),
        "spec": run_spec | dict(spec or {}),
        "status": run_status | dict(status or {}),
    }


def _number(amount: object) -> object:
    """What JSON has for an amount of a class of its own; other values stay as they are."""
    return amount if isinstance(amount, bool) or not hasattr(amount, "__index__") else index(amount)


def pod_object(
    name: str = "py-0",
    *,
    namespace: str = NAMESPACE,
    uid: str | None = None,
    version: str = "1",
    labels: Mapping[str, str] | None = None,
    runtime: str = RUNTIME,
    capacity: Mapping[str, str | int] | None = None,
    phase: str = "Running",
    ready: bool = True,
    runtimed_ready: bool = True,
    probed_at: datetime = NOW,
    node: str = "node-1",
    metadata: Mapping[str, Any] | None = None,
) -> Object:
    """A core/v1 Pod of a Runtime, available at `probed_at` and for the staleness limit after it.

    capacity: resource name to quantity (a text, or a whole number), advertised as annotations; none unless
    given.
    """
    annotations = {
        CAPACITY_PREFIX + resource: _quantity(resource, amount)
        for resource, amount in mapping("capacity", capacity).items()
    }
    heartbeat = condition_object("kruntimes.io/RuntimedReady", runtimed_ready, reason="Serving")
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": _metadata(name, namespace, uid, version, {"runtime": runtime, **(labels or {})})
        | {"annotations": annotations}
        | dict(metadata or {}),
        "spec": {"nodeName": node, "containers": [{"name": "runtime", "image": "example.invalid/runtime:1"}]},
        "status": {
            "phase": phase,
            "conditions": [
                condition_object("Ready", ready, reason="ContainersReady"),
                heartbeat | {"lastProbeTime": time_text(probed_at)},
            ],
        },
    }


def _quantity(resource: object, amount: object) -> str:
    check_text("a resource of the capacity", resource)
    return amount if isinstance(amount, str) else str(whole(f"the capacity of {resource}", amount))


def workspace_object(
    name: str = "ws",
    *,
    namespace: str = NAMESPACE,
    uid: str | None = None,
    version: str = "1",
    runtime: str = RUNTIME,
    phase: str = "Bound",
    bound_pod: str | None = "py-0",
    metadata: Mapping[str, Any] | None = None,
) -> Object:
    """A PersistentWorkspace, bound to the Pod `py-0` unless said otherwise."""
    status: Object = {"phase": phase}
    if bound_pod is not None:
        status["boundPod"] = bound_pod
    return {
        "apiVersion": API_VERSION,
        "kind": "PersistentWorkspace",
        "metadata": _metadata(name, namespace, uid, version, None) | dict(metadata or {}),
        "spec": {"runtime": runtime, "mode": "RuntimePodLocal"},
        "status": status,
    }
