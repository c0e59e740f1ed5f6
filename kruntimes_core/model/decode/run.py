"""One Run object, decoded: fields of any type, and never an exception.

Source, environment, outputs and managed fields are not looked at, so nothing of them is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from kruntimes_core.model.decode.asked import Asked, asked_before, attempt_of, generation_of
from kruntimes_core.model.decode.fields import condition, marked_for_deletion, members, text, texts
from kruntimes_core.model.decode.interning import shared
from kruntimes_core.model.decode.parts import Parts, Related, Requested
from kruntimes_core.model.decode.run_problems import object_problem, workspace_or_problem
from kruntimes_core.model.run import Phase, Run, RunObservation
from kruntimes_core.model.times import parse_duration, parse_time

_PHASES = {phase.value: phase for phase in Phase}
_DEFAULT_BACKOFF_SECONDS = 1.0


def decode_run(
    obj: Mapping[str, object], parts: Parts, before: RunObservation | None = None
) -> RunObservation:
    """One version of a Run. What is wrong with it is its `invalid`: the first problem in the order
    InvalidObject, InvalidResources, InvalidAffinity, InvalidWorkspace.

    before: another version of what bears its name, if one is known. While only its status changed, all
    that stands elsewhere is taken from there.
    """
    fields = members(obj)
    asked = asked_before(fields, parts, before) if before is not None else None
    if asked is None:
        asked = _asked(fields, parts)
    metadata, status = members(fields.get("metadata")), members(fields.get("status"))
    phase, conditions = _phase(status.get("phase")), status.get("conditions")
    return RunObservation(
        run=asked.run,
        version=text(metadata.get("resourceVersion")),
        generation=asked.generation,
        phase=phase,
        assigned_pod=shared(text(status.get("assignedPod"))) or None,
        assigned_pod_uid=shared(text(status.get("assignedPodUID"))) or None,
        message=shared(text(status.get("message"))),
        conditions=tuple(conditions) if phase is Phase.PENDING and isinstance(conditions, list) else (),
        stopped_at=_stopped_at(conditions),
        backoff_seconds=asked.backoff_seconds,
        cancel_requested=asked.cancel_requested,
        deleting=marked_for_deletion(metadata),
        invalid=asked.invalid,
        held=asked.held,
    )


def _asked(fields: Mapping[str, object], parts: Parts) -> Asked:
    spec = members(fields.get("spec"))
    requested, related = parts.requested(spec.get("resources")), parts.related(spec.get("affinity"))
    workspace, bad_workspace = workspace_or_problem(spec.get("workspace"))
    run = _run(fields, parts, requested, related, workspace)
    return Asked(
        run=run,
        generation=generation_of(members(fields.get("metadata"))),
        backoff_seconds=_backoff_seconds(members(spec.get("retryPolicy")).get("backoff")),
        cancel_requested=spec.get("cancelRequested") is True,
        invalid=object_problem(fields, run) or requested.invalid or related.invalid or bad_workspace,
        held=requested.held,
    )


def _run(
    fields: Mapping[str, object], parts: Parts, requested: Requested, related: Related, workspace: str | None
) -> Run:
    metadata = members(fields.get("metadata"))
    return Run(
        namespace=shared(text(metadata.get("namespace"))),
        name=text(metadata.get("name")),
        uid=text(metadata.get("uid")),
        runtime=shared(text(members(fields.get("spec")).get("runtime"))),
        labels=parts.labels(metadata.get("labels")),
        annotations=parts.annotations(texts(metadata.get("annotations"))),
        created=parse_time(metadata.get("creationTimestamp")),
        request=requested.request,
        affinity=related.affinity,
        workspace=workspace,
        attempt=attempt_of(members(fields.get("status"))),
    )


def _phase(value: object) -> Phase:
    if value is None or value == "":
        return Phase.PENDING
    return _PHASES.get(text(value), Phase.UNKNOWN)


def _stopped_at(conditions: object) -> datetime | None:
    running = condition(conditions, "Running")
    return parse_time(running.get("lastTransitionTime")) if running.get("status") == "False" else None


def _backoff_seconds(value: object) -> float:
    seconds = parse_duration(value)
    return seconds if seconds is not None and seconds > 0 else _DEFAULT_BACKOFF_SECONDS
