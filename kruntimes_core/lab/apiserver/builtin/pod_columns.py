"""The columns of Pods, as `kubectl get pods` shows them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from kruntimes_core.lab.apiserver.builtin.fields import spec_of, status_of
from kruntimes_core.lab.apiserver.columns import Column, age_column, name_column
from kruntimes_core.lab.apiserver.objects import Object, metadata_of

_NONE = "<none>"


def _containers(obj: Object) -> list[Any]:
    return [entry for entry in status_of(obj).get("containerStatuses", ()) if isinstance(entry, dict)]


def _ready(obj: Object, _: datetime) -> str:
    running = [one for one in _containers(obj) if one.get("ready") and "running" in one.get("state", {})]
    return f"{len(running)}/{len(spec_of(obj).get('containers') or ())}"


def _phase(obj: Object, _: datetime) -> str:
    status = status_of(obj)
    shown: str = status.get("reason") or status.get("phase", "")
    for container in reversed(_containers(obj)):
        state = container.get("state", {})
        waiting, ended = state.get("waiting", {}), state.get("terminated", {})
        shown = waiting.get("reason") or ended.get("reason") or shown
    if "deletionTimestamp" in metadata_of(obj) and status.get("phase") not in ("Succeeded", "Failed"):
        return "Terminating"
    return shown


def _restarts(obj: Object, _: datetime) -> str:
    return str(sum(container.get("restartCount", 0) for container in _containers(obj)))


def _gates(obj: Object, _: datetime) -> str:
    gates = [gate.get("conditionType") for gate in spec_of(obj).get("readinessGates", ())]
    true = {one.get("type") for one in status_of(obj).get("conditions", ()) if one.get("status") == "True"}
    return f"{sum(gate in true for gate in gates)}/{len(gates)}" if gates else _NONE


def _address(obj: Object, _: datetime) -> str:
    addresses = status_of(obj).get("podIPs")
    return addresses[0].get("ip") or _NONE if addresses else _NONE


POD = (
    name_column(),
    Column("Ready", _ready, description="The aggregate readiness state of this pod for accepting traffic."),
    Column("Status", _phase, description="The aggregate status of the containers in this pod."),
    Column(
        "Restarts",
        _restarts,
        description="The number of times the containers in this pod have been restarted and when the last "
        "container in this pod has restarted.",
    ),
    age_column(),
    Column(
        "IP",
        _address,
        description="podIP address allocated to the pod. Routable at least within the cluster. Empty if not "
        "yet allocated.",
        priority=1,
    ),
    Column(
        "Node",
        lambda obj, _: spec_of(obj).get("nodeName") or _NONE,
        description="NodeName indicates in which node this pod is scheduled. If empty, this pod is a "
        "candidate for scheduling by the scheduler defined in schedulerName. Once this field is "
        "set, the kubelet for this node becomes responsible for the lifecycle of this pod. This "
        "field should not be used to express a desire for the pod to be scheduled on a specific "
        "node. https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#nodename",
        priority=1,
    ),
    Column(
        "Nominated Node",
        lambda obj, _: status_of(obj).get("nominatedNodeName") or _NONE,
        description="nominatedNodeName is set only when this pod preempts other pods on the node, but it "
        "cannot be scheduled right away as preemption victims receive their graceful termination "
        "periods. This field does not guarantee that the pod will be scheduled on this node. "
        "Scheduler may decide to place the pod elsewhere if other nodes become available sooner. "
        "Scheduler may also decide to give the resources on this node to a higher priority pod "
        "that is created after preemption. As a result, this field may be different than "
        "PodSpec.nodeName when the pod is scheduled.",
        priority=1,
    ),
    Column(
        "Readiness Gates",
        _gates,
        description="If specified, all readiness gates will be evaluated for pod readiness. A pod is ready "
        "when all its containers are ready AND all conditions specified in the readiness gates "
        'have status equal to "True" More info: https://git.k8s.io/enhancements/keps/sig-'
        "network/580-pod-readiness-gates",
        priority=1,
    ),
)
