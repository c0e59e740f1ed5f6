"""Decoding of Pods: whether one is a Runtime Pod, is ready by its own status, and what it advertises."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from kruntimes_core.model.decode.fields import condition, is_whole, marked_for_deletion, members, text, texts
from kruntimes_core.model.decode.interning import CompileCache, InternedMaps, SharedMetadata, interned
from kruntimes_core.model.frozen import FrozenMap
from kruntimes_core.model.pod import RUNTIME_LABEL, Capacity, PodObservation, RuntimePod, Unavailability
from kruntimes_core.model.quantity import capacity_amount
from kruntimes_core.model.selectors import LabelSet
from kruntimes_core.model.targets import Targets
from kruntimes_core.model.times import parse_time

_RUNTIMED_READY = "kruntimes.io/RuntimedReady"
_CAPACITY_PREFIX = "kruntimes.io/capacity."
_RUNS = "runs"
_DEFAULT_RUNS = 2

# The capacity annotations of a Pod: resource names (slashes allowed) and quantities as they are written.
_Advertised = tuple[tuple[str, str], ...]


class PodDecoder:
    """Decodes Pods; those that advertise the same share one capacity."""

    def __init__(self, metadata: SharedMetadata) -> None:
        self._metadata = metadata
        self._maps: InternedMaps[int | Fraction, Capacity] = InternedMaps(Capacity)
        self._capacities = CompileCache(self._capacity)
        self._no_usage: FrozenMap[str, int] = FrozenMap()
        self._no_targets = Targets()

    def decode(self, obj: Mapping[str, object]) -> PodObservation | None:
        """One version of a Pod; None for a Pod without the label `runtime`, which is not a Runtime Pod.

        `unavailable` is what the object alone says; the engine judges the age of the heartbeat. A Pod
        whose identity, labels or annotations are of wrong types is not ready: it cannot be trusted.
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
        """Positive amounts only, `runs` 2 where it is not among them (API contract, Resources)."""
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
    """Whether identity, labels and annotations are of the right types."""
    named = text(metadata.get("namespace")) and text(metadata.get("name"))
    return (
        bool(named)
        and isinstance(metadata.get("uid"), str | None)
        and is_whole(metadata.get("labels"), labels)
        and is_whole(metadata.get("annotations"), annotations)
    )


def _is_true(found: Mapping[str, object]) -> bool:
    return found.get("status") == "True"
