"""How long ago something was, as kubectl writes it: `5s`, `3m20s`, `2d4h`, `1y30d`.

The columns of server-side tables: of custom resources by their printer columns.

The columns of the smaller built-in kinds, as `kubectl get` shows them; Pods and Events have their own.

The columns of Pods, as `kubectl get pods` shows them.

The columns of Events, as `kubectl get events` shows them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kruntimes_core.lab.apiserver.objects import Object, metadata_of, spec_of, status_of
from kruntimes_core.model.times import parse_time

_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86400, 365 * 86400
_STEPS = (
    # (below, unit, its sign, the smaller unit shown beside it or none, its sign)
    (2 * _MINUTE, 1, "s", 0, ""),
    (10 * _MINUTE, _MINUTE, "m", 1, "s"),
    (3 * _HOUR, _MINUTE, "m", 0, ""),
    (8 * _HOUR, _HOUR, "h", _MINUTE, "m"),
    (2 * _DAY, _HOUR, "h", 0, ""),
    (8 * _DAY, _DAY, "d", _HOUR, "h"),
    (2 * _YEAR, _DAY, "d", 0, ""),
    (8 * _YEAR, _YEAR, "y", _DAY, "d"),
)


def age(text: object, now: datetime) -> str:
    """The age of an RFC 3339 time at `now`; `<unknown>` when there is none."""
    moment = parse_time(text)
    return "<unknown>" if moment is None else duration((now - moment).total_seconds())


def duration(exact_seconds: float) -> str:
    """A span, rounded down, in at most two units."""
    if exact_seconds < -1:
        return "<invalid>"
    seconds = max(0, int(exact_seconds))
    for below, unit, sign, smaller, smaller_sign in _STEPS:
        if seconds < below:
            rest = seconds % unit // smaller if smaller else 0
            return f"{seconds // unit}{sign}" + (f"{rest}{smaller_sign}" if rest else "")
    return f"{seconds // _YEAR}y"


NAME_WORDS = (
    "Name must be unique within a namespace. Is required when creating resources, although some resources "
    "may allow a client to request the generation of an appropriate name automatically. Name is primarily "
    "intended for creation idempotence and configuration definition. Cannot be updated. More info: "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names"
)
AGE_WORDS = (
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not "
    "guaranteed to be set in happens-before order across separate operations. Clients may not set this "
    "value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null "
    "for lists. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"
)

Cell = Callable[[Object, datetime], Any]
_STEP = re.compile(r"\.([^.\[\]]+)|\[([0-9]+)\]|\['([^']+)'\]")


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column: its head, and how an object (and the time now) makes a cell of it."""

    name: str
    cell: Cell
    type: str = "string"
    format: str = ""
    description: str = ""
    priority: int = 0

    def as_object(self) -> Object:
        """The head as a TableColumnDefinition."""
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": self.description,
            "priority": self.priority,
        }


def name_column(priority: int = 0) -> TableColumn:
    """The column of the name."""
    return TableColumn("Name", _name, "string", "name", NAME_WORDS, priority)


def _name(obj: Object, _: datetime) -> Any:
    return metadata_of(obj).get("name", "")


def age_column() -> TableColumn:
    """The column of the age, as built-in kinds have it."""
    return TableColumn("Age", lambda obj, now: age(created(obj), now), description=AGE_WORDS)


def created(obj: Object) -> object:
    """The creationTimestamp."""
    return metadata_of(obj).get("creationTimestamp")


def custom_columns(entries: Iterable[Mapping[str, Any]]) -> tuple[TableColumn, ...]:
    """The columns of a custom resource, from `additionalPrinterColumns`."""
    return (name_column(), *map(_custom, entries)) if entries else (name_column(), _default_age())


def _default_age() -> TableColumn:
    return _custom({"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"})


def _custom(entry: Mapping[str, Any]) -> TableColumn:
    path = entry["jsonPath"]
    words = entry.get("description") or f"Custom resource definition column (in JSONPath format): {path}"
    steps = [first or third or int(second) for first, second, third in _STEP.findall(path)]
    shown = _SHOWN[entry["type"]]
    return TableColumn(
        entry["name"],
        lambda obj, now: shown(_at(obj, steps), now),
        entry["type"],
        entry.get("format", ""),
        words,
        entry.get("priority", 0),
    )


def _at(obj: Any, steps: list[str | int]) -> Any:
    for step in steps:
        if isinstance(step, int):
            obj = obj[step] if isinstance(obj, list) and step < len(obj) else None
        else:
            obj = obj.get(step) if isinstance(obj, dict) else None
    return obj


def _text(value: Any, _: datetime) -> str | None:
    if value is None:
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)


def _date(value: Any, now: datetime) -> str | None:
    if not isinstance(value, str):
        return None
    return age(value, now) if parse_time(value) is not None else "<invalid>"


def _number(value: Any, _: datetime) -> Any:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


_SHOWN: Mapping[str, Callable[[Any, datetime], Any]] = {
    "string": _text,
    "date": _date,
    "integer": lambda value, now: None if (number := _number(value, now)) is None else int(number),
    "number": _number,
    "boolean": lambda value, _: value if isinstance(value, bool) else None,
}


NAMESPACE_COLUMNS = (
    name_column(),
    TableColumn(
        "Status", lambda obj, _: status_of(obj).get("phase"), description="The status of the namespace"
    ),
    age_column(),
)

LEASE_COLUMNS = (
    name_column(),
    TableColumn(
        "Holder",
        lambda obj, _: spec_of(obj).get("holderIdentity", ""),
        description="holderIdentity contains the identity of the holder of a current lease. If Coordinated "
        "Leader Election is used, the holder identity must be equal to the elected "
        "LeaseCandidate.metadata.name field.",
    ),
    age_column(),
)

DEFINITION_COLUMNS = (
    name_column(),
    TableColumn("Scope", lambda obj, _: spec_of(obj).get("scope"), description="Cluster/Namespaced"),
    TableColumn(
        "Versions",
        lambda obj, _: ",".join(
            version["name"] + ("(storage)" if version.get("storage") else "")
            for version in spec_of(obj).get("versions", ())
        ),
        description="Served versions",
    ),
    TableColumn("Created At", lambda obj, _: created(obj), "date", description=AGE_WORDS),
    TableColumn("Group", lambda obj, _: spec_of(obj).get("group"), description="API group", priority=1),
    TableColumn(
        "Kind",
        lambda obj, _: spec_of(obj).get("names", {}).get("kind"),
        description="CustomResource kind",
        priority=1,
    ),
    TableColumn(
        "ShortNames",
        lambda obj, _: ",".join(spec_of(obj).get("names", {}).get("shortNames", ())),
        description="Short names",
        priority=1,
    ),
    TableColumn("Established", lambda obj, _: True, "boolean", description="Established status", priority=1),
)


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


POD_COLUMNS = (
    name_column(),
    TableColumn(
        "Ready", _ready, description="The aggregate readiness state of this pod for accepting traffic."
    ),
    TableColumn("Status", _phase, description="The aggregate status of the containers in this pod."),
    TableColumn(
        "Restarts",
        _restarts,
        description="The number of times the containers in this pod have been restarted and when the last "
        "container in this pod has restarted.",
    ),
    age_column(),
    TableColumn(
        "IP",
        _address,
        description="podIP address allocated to the pod. Routable at least within the cluster. Empty if not "
        "yet allocated.",
        priority=1,
    ),
    TableColumn(
        "Node",
        lambda obj, _: spec_of(obj).get("nodeName") or _NONE,
        description="NodeName indicates in which node this pod is scheduled. If empty, this pod is a "
        "candidate for scheduling by the scheduler defined in schedulerName. Once this field is "
        "set, the kubelet for this node becomes responsible for the lifecycle of this pod. This "
        "field should not be used to express a desire for the pod to be scheduled on a specific "
        "node. https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#nodename",
        priority=1,
    ),
    TableColumn(
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
    TableColumn(
        "Readiness Gates",
        _gates,
        description="If specified, all readiness gates will be evaluated for pod readiness. A pod is ready "
        "when all its containers are ready AND all conditions specified in the readiness gates "
        'have status equal to "True" More info: https://git.k8s.io/enhancements/keps/sig-'
        "network/580-pod-readiness-gates",
        priority=1,
    ),
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


EVENT_COLUMNS = (
    TableColumn(
        "Last Seen",
        _last_seen,
        description="The time at which the most recent occurrence of this event was recorded.",
    ),
    TableColumn(
        "Type",
        lambda event, _: event.get("type", ""),
        description="Type of this event (Normal, Warning), new types could be added in the future",
    ),
    TableColumn(
        "Reason",
        lambda event, _: event.get("reason", ""),
        description="This should be a short, machine understandable string that gives the reason for the "
        "transition into the object's current status.",
    ),
    TableColumn("Object", _object, description="The object that this event is about."),
    TableColumn(
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
    TableColumn(
        "Source",
        _source,
        description="The component reporting this event. Should be a short machine understandable string.",
        priority=1,
    ),
    TableColumn(
        "Message",
        lambda event, _: event.get("message", "").strip(),
        description="A human-readable description of the status of this operation.",
    ),
    TableColumn(
        "First Seen",
        _first_seen,
        description="The time at which the event was first recorded. (Time of server receipt is in "
        "TypeMeta.)",
        priority=1,
    ),
    TableColumn(
        "Count",
        _count,
        description="The number of times this event has occurred.",
        priority=1,
    ),
    name_column(priority=1),
)
"""Cells are made of the stored (core/v1) form, whichever group asks."""
