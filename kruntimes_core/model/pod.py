"""Runtime Pods: what they advertise and hold, whether they can take Runs, and their decoding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from fractions import Fraction

from kruntimes_core.model.fields import condition, is_whole, marked_for_deletion, members, text, texts
from kruntimes_core.model.frozen import CompileCache, FrozenMap, InternedMaps, interned
from kruntimes_core.model.metadata import SharedMetadata
from kruntimes_core.model.quantity import capacity_amount
from kruntimes_core.model.run import Request
from kruntimes_core.model.selectors import LabelSet
from kruntimes_core.model.targets import Targets
from kruntimes_core.model.times import parse_time
from kruntimes_core.model.validation import amounts, check_optional_text, check_text, member

RUNTIME_LABEL = "runtime"
"""The label of a Pod that names its Runtime, and so makes it a Runtime Pod."""


class Capacity(FrozenMap[str, int | Fraction]):
    """What a Pod advertises: resource name to an exact positive amount (an int when whole)."""

    __slots__ = ()

    def __init__(self, items: Mapping[str, int | Fraction] | None = None) -> None:
        """Raises: `TypeError`, `ValueError` for a value that is not an exact amount, such as a text or a
        float.
        """
        super().__init__(items)
        self._items = amounts("Capacity", self._items, exact=True)


class Unavailability(StrEnum):
    """Why a Runtime Pod cannot take Runs now."""

    TERMINATING = "PodTerminating"
    NOT_RUNNING = "PodNotRunning"
    NOT_READY = "PodNotReady"
    RUNTIMED_NOT_READY = "RuntimedNotReady"
    HEARTBEAT_STALE = "HeartbeatStale"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimePod:
    """One warm Runtime Pod with what it holds. `usage` and `targets` include assumed Runs."""

    namespace: str
    name: str
    uid: str
    runtime: str
    node: str | None = None
    labels: LabelSet = field(default_factory=LabelSet)
    annotations: FrozenMap[str, str] = field(default_factory=FrozenMap)
    capacity: Capacity = field(default_factory=lambda: Capacity({"runs": 2}))
    usage: FrozenMap[str, int] = field(default_factory=FrozenMap)
    targets: Targets = field(default_factory=Targets)
    unavailable: Unavailability | None = None
    """Why the Pod is not available, or None."""

    def __post_init__(self) -> None:
        """Take plain mappings for all maps. Raises: `TypeError`, `ValueError`."""
        # The host makes a new value for each change of a Pod, and gives it the right types: this check is
        # cheap.
        made_by_host = (
            (type(self.namespace), type(self.name), type(self.uid), type(self.runtime)) == _FOUR_TEXTS
            and (self.node is None or type(self.node) is str)
            and (type(self.labels), type(self.annotations), type(self.capacity)) == _MAP_TYPES
            and (type(self.usage), type(self.targets)) == _HELD_TYPES
            and (self.unavailable is None or type(self.unavailable) is Unavailability)
            and all(type(amount) is int and amount >= 0 for amount in self.usage.values())
        )
        if not made_by_host:
            self._convert()

    def _convert(self) -> None:
        for name in ("namespace", "name", "uid", "runtime"):
            check_text(f"RuntimePod.{name}", getattr(self, name))
        check_optional_text("RuntimePod.node", self.node)
        for name, kind in _MAPS:
            value = getattr(self, name)
            if type(value) is not kind:
                object.__setattr__(self, name, kind(value))
        object.__setattr__(self, "usage", FrozenMap(amounts("RuntimePod.usage", self.usage, least=0)))
        if self.unavailable is not None:
            why = member("RuntimePod.unavailable", self.unavailable, Unavailability)
            object.__setattr__(self, "unavailable", why)

    @property
    def available(self) -> bool:
        """Running, ready, with a fresh heartbeat, and not being deleted."""
        return self.unavailable is None

    def fits(self, request: Request) -> bool:
        """Whether usage + request <= capacity for every requested resource (exact)."""
        return shortage(self, request) is None


@dataclass(frozen=True, slots=True, kw_only=True)
class PodObservation:
    """One version of a Pod object: the Pod without usage, and the time of its heartbeat.

    `pod.unavailable` does not depend on the age of the heartbeat: the engine, which knows the time, judges
    that. So a new heartbeat (`probed_at`) does not make a new `RuntimePod`.
    """

    pod: RuntimePod
    version: str = ""
    probed_at: datetime | None = None
    """lastProbeTime of the condition `kruntimes.io/RuntimedReady`; None makes the Pod unavailable."""


def shortage(pod: RuntimePod, request: Request) -> str | None:
    """A text for the record about the first requested resource for which `pod` has no room, with figures.

    None if the request fits.
    """
    for resource, amount in request.items():
        used, limit = pod.usage.get(resource, 0), pod.capacity.get(resource)
        if limit is None:
            return f"{resource} is not advertised"
        if used + amount > limit:
            return f"{resource}: {used} in use + {amount} requested > {limit}"
    return None


_FOUR_TEXTS = (str, str, str, str)
_MAP_TYPES = (LabelSet, FrozenMap, Capacity)
_HELD_TYPES = (FrozenMap, Targets)
_MAPS = tuple(
    zip(("labels", "annotations", "capacity", "usage", "targets"), (*_MAP_TYPES, *_HELD_TYPES), strict=True)
)
_RUNTIMED_READY = "kruntimes.io/RuntimedReady"
_CAPACITY_PREFIX = "kruntimes.io/capacity."
_RUNS = "runs"
_DEFAULT_RUNS = 2

# The capacity annotations of a Pod: pairs of a resource name (slashes allowed) and an unparsed quantity.
_Advertised = tuple[tuple[str, str], ...]


class PodDecoder:
    """Decodes Pods. Pods that advertise the same share one `Capacity`."""

    def __init__(self, metadata: SharedMetadata) -> None:
        self._metadata = metadata
        self._maps: InternedMaps[int | Fraction, Capacity] = InternedMaps(Capacity)
        self._capacities = CompileCache(self._capacity)
        self._no_usage: FrozenMap[str, int] = FrozenMap()
        self._no_targets = Targets()

    def decode(self, obj: Mapping[str, object]) -> PodObservation | None:
        """One version of a Pod; None for a Pod without the label `runtime`, which is not a Runtime Pod.

        `unavailable` does not depend on the age of the heartbeat, which the engine judges. A Pod whose
        identity, labels or annotations have wrong types counts as not ready, because it cannot be trusted.
        """
        fields = members(obj)
        metadata = members(fields.get("metadata"))
        runtime = text(members(metadata.get("labels")).get(RUNTIME_LABEL))
        if not runtime:
            return None
        annotations = texts(metadata.get("annotations"))
        labels = self._metadata.labels(metadata.get("labels"))
        status = members(fields.get("status"))
        runtimed = condition(status.get("conditions"), _RUNTIMED_READY)
        probed_at = parse_time(runtimed.get("lastProbeTime"))
        trusted = _is_trusted(metadata, labels, annotations)
        pod = RuntimePod(
            namespace=interned(text(metadata.get("namespace"))),
            name=interned(text(metadata.get("name"))),
            uid=interned(text(metadata.get("uid"))),
            runtime=interned(runtime),
            node=interned(text(members(fields.get("spec")).get("nodeName"))) or None,
            labels=labels,
            annotations=self._metadata.annotations(annotations),
            capacity=self._capacities.of(_advertised(annotations)),
            usage=self._no_usage,
            targets=self._no_targets,
            unavailable=_unavailable(metadata, status, trusted, probed_at is not None and _is_true(runtimed)),
        )
        return PodObservation(pod=pod, version=text(metadata.get("resourceVersion")), probed_at=probed_at)

    def _capacity(self, advertised: _Advertised) -> Capacity:
        """Keep positive amounts only; `runs` is 2 if it is not among them (API contract, Resources)."""
        amounts = {resource: capacity_amount(quantity) for resource, quantity in advertised}
        capacity = {resource: amount for resource, amount in amounts.items() if amount is not None}
        capacity.setdefault(_RUNS, _DEFAULT_RUNS)
        return self._maps.of(capacity)


def _advertised(annotations: Mapping[str, str]) -> _Advertised:
    length = len(_CAPACITY_PREFIX)
    return tuple(
        (key[length:], value)
        for key, value in annotations.items()
        if key.startswith(_CAPACITY_PREFIX) and len(key) > length
    )


def _unavailable(
    metadata: Mapping[str, object], status: Mapping[str, object], trusted: bool, runtimed_ready: bool
) -> Unavailability | None:
    if marked_for_deletion(metadata):
        return Unavailability.TERMINATING
    if status.get("phase") != "Running":
        return Unavailability.NOT_RUNNING
    if not trusted or not _is_true(condition(status.get("conditions"), "Ready")):
        return Unavailability.NOT_READY
    return None if runtimed_ready else Unavailability.RUNTIMED_NOT_READY


def _is_trusted(metadata: Mapping[str, object], labels: LabelSet, annotations: Mapping[str, str]) -> bool:
    """Whether identity, labels and annotations have the right types."""
    named = text(metadata.get("namespace")) and text(metadata.get("name"))
    return (
        bool(named)
        and isinstance(metadata.get("uid"), str | None)
        and is_whole(metadata.get("labels"), labels)
        and is_whole(metadata.get("annotations"), annotations)
    )


def _is_true(found: Mapping[str, object]) -> bool:
    return found.get("status") == "True"
