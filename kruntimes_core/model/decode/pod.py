"""One Pod object, decoded: whether it is a Runtime Pod, and what it can take by its own word."""

from __future__ import annotations

from collections.abc import Mapping

from kruntimes_core.model.decode.fields import condition, is_whole, marked_for_deletion, members, text, texts
from kruntimes_core.model.decode.interning import shared
from kruntimes_core.model.decode.parts import Parts
from kruntimes_core.model.pod import PodObservation, RuntimePod, Unavailability
from kruntimes_core.model.selectors import LabelSet
from kruntimes_core.model.times import parse_time

RUNTIME_LABEL = "runtime"
_RUNTIMED_READY = "kruntimes.io/RuntimedReady"


def decode_pod(obj: Mapping[str, object], parts: Parts) -> PodObservation | None:
    """One version of a Pod; None for a Pod without the label `runtime`: somebody else's.

    `unavailable` is what the object alone says; the age of the heartbeat is judged elsewhere. A Pod
    whose identity, labels or annotations are of wrong types is not ready: what it says cannot be trusted.
    """
    fields = members(obj)
    metadata = members(fields.get("metadata"))
    runtime = text(members(metadata.get("labels")).get(RUNTIME_LABEL))
    if not runtime:
        return None
    annotations = texts(metadata.get("annotations"))
    labels = parts.labels(metadata.get("labels"))
    status = members(fields.get("status"))
    runtimed = condition(status.get("conditions"), _RUNTIMED_READY)
    probed_at = parse_time(runtimed.get("lastProbeTime"))
    trusted = _is_trusted(metadata, labels, annotations)
    pod = RuntimePod(
        namespace=shared(text(metadata.get("namespace"))),
        name=shared(text(metadata.get("name"))),
        uid=shared(text(metadata.get("uid"))),
        runtime=shared(runtime),
        node=shared(text(members(fields.get("spec")).get("nodeName"))) or None,
        labels=labels,
        annotations=parts.annotations(annotations),
        capacity=parts.capacity(annotations),
        usage=parts.no_usage,
        targets=parts.no_targets,
        unavailable=_unavailable(metadata, status, trusted, probed_at is not None and _is_true(runtimed)),
    )
    return PodObservation(pod=pod, version=text(metadata.get("resourceVersion")), probed_at=probed_at)


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
