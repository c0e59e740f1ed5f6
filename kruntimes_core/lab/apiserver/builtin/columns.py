"""The columns of the tables of built-in kinds, as `kubectl get` shows them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from kruntimes_core.lab.apiserver.ages import age
from kruntimes_core.lab.apiserver.columns import AGE_WORDS, Column, age_column, created, name_column
from kruntimes_core.lab.apiserver.objects import Object, metadata_of

_NONE = "<none>"


def _status(obj: Object) -> Object:
    status = obj.get("status")
    return status if isinstance(status, dict) else {}


def _spec(obj: Object) -> Object:
    spec = obj.get("spec")
    return spec if isinstance(spec, dict) else {}


def _containers(obj: Object) -> list[Any]:
    return [entry for entry in _status(obj).get("containerStatuses", ()) if isinstance(entry, dict)]


def _ready(obj: Object, _: datetime) -> str:
    running = [one for one in _containers(obj) if one.get("ready") and "running" in one.get("state", {})]
    return f"{len(running)}/{len(_spec(obj).get('containers') or ())}"


def _phase(obj: Object, _: datetime) -> str:
    status = _status(obj)
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
    gates = [gate.get("conditionType") for gate in _spec(obj).get("readinessGates", ())]
    true = {one.get("type") for one in _status(obj).get("conditions", ()) if one.get("status") == "True"}
    return f"{sum(gate in true for gate in gates)}/{len(gates)}" if gates else _NONE


def _address(obj: Object, _: datetime) -> str:
    addresses = _status(obj).get("podIPs")
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
        lambda obj, _: _spec(obj).get("nodeName") or _NONE,
        description="NodeName indicates in which node this pod is scheduled. If empty, this pod is a "
        "candidate for scheduling by the scheduler defined in schedulerName. Once this field is "
        "set, the kubelet for this node becomes responsible for the lifecycle of this pod. This "
        "field should not be used to express a desire for the pod to be scheduled on a specific "
        "node. https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#nodename",
        priority=1,
    ),
    Column(
        "Nominated Node",
        lambda obj, _: _status(obj).get("nominatedNodeName") or _NONE,
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

NAMESPACE = (
    name_column(),
    Column("Status", lambda obj, _: _status(obj).get("phase"), description="The status of the namespace"),
    age_column(),
)

LEASE = (
    name_column(),
    Column(
        "Holder",
        lambda obj, _: _spec(obj).get("holderIdentity", ""),
        description="holderIdentity contains the identity of the holder of a current lease. If Coordinated "
        "Leader Election is used, the holder identity must be equal to the elected "
        "LeaseCandidate.metadata.name field.",
    ),
    age_column(),
)

DEFINITION = (
    name_column(),
    Column("Scope", lambda obj, _: _spec(obj).get("scope"), description="Cluster/Namespaced"),
    Column(
        "Versions",
        lambda obj, _: ",".join(
            version["name"] + ("(storage)" if version.get("storage") else "")
            for version in _spec(obj).get("versions", ())
        ),
        description="Served versions",
    ),
    Column("Created At", lambda obj, _: created(obj), "date", description=AGE_WORDS),
    Column("Group", lambda obj, _: _spec(obj).get("group"), description="API group", priority=1),
    Column(
        "Kind",
        lambda obj, _: _spec(obj).get("names", {}).get("kind"),
        description="CustomResource kind",
        priority=1,
    ),
    Column(
        "ShortNames",
        lambda obj, _: ",".join(_spec(obj).get("names", {}).get("shortNames", ())),
        description="Short names",
        priority=1,
    ),
    Column("Established", lambda obj, _: True, "boolean", description="Established status", priority=1),
)


def _first_seen(event: Object, now: datetime) -> str:
    return age(event.get("firstTimestamp") or event.get("eventTime"), now)


def _last_seen(event: Object, now: datetime) -> str:
    series = event.get("series")
    if series:
        return age(series.get("lastObservedTime"), now)
    last = event.get("lastTimestamp")
    return age(last, now) if last else _first_seen(event, now)


def _count(event: Object, _: datetime) -> int:
    series = event.get("series")
    return series.get("count", 0) if series else event.get("count") or 1


def _object(event: Object, _: datetime) -> str:
    about = event.get("involvedObject", {})
    kind = about.get("kind", "").lower()
    return f"{kind}/{about['name']}" if about.get("name") else kind


def _source(event: Object, _: datetime) -> str:
    source = event.get("source", {})
    component = source.get("component") or event.get("reportingComponent", "")
    instance = source.get("host") or event.get("reportingInstance", "")
    return f"{component}, {instance}" if instance else component


EVENT = (
    Column(
        "Last Seen",
        _last_seen,
        description="The time at which the most recent occurrence of this event was recorded.",
    ),
    Column(
        "Type",
        lambda event, _: event.get("type", ""),
        description="Type of this event (Normal, Warning), new types could be added in the future",
    ),
    Column(
        "Reason",
        lambda event, _: event.get("reason", ""),
        description="This should be a short, machine understandable string that gives the reason for the "
        "transition into the object's current status.",
    ),
    Column("Object", _object, description="The object that this event is about."),
    Column(
        "Subobject",
        lambda event, _: event.get("involvedObject", {}).get("fieldPath", ""),
        description="If referring to a piece of an object instead of an entire object, this string should "
        "contain a valid JSON/Go field access statement, such as "
        "desiredState.manifest.containers[2]. For example, if the object reference is to a "
        'container within a pod, this would take on a value like: "spec.containers{name}" (where '
        '"name" refers to the name of the container that triggered the event) or if no container '
        'name is specified "spec.containers[2]" (container with index 2 in this pod). This syntax'
        " is chosen only to have some well-defined way of referencing a part of an object.",
        priority=1,
    ),
    Column(
        "Source",
        _source,
        description="The component reporting this event. Should be a short machine understandable string.",
        priority=1,
    ),
    Column(
        "Message",
        lambda event, _: event.get("message", "").strip(),
        description="A human-readable description of the status of this operation.",
    ),
    Column(
        "First Seen",
        _first_seen,
        description="The time at which the event was first recorded. (Time of server receipt is in "
        "TypeMeta.)",
        priority=1,
    ),
    Column(
        "Count",
        _count,
        description="The number of times this event has occurred.",
        priority=1,
    ),
    name_column(priority=1),
)
"""Cells are made of the stored (core/v1) form, whichever group asks."""
