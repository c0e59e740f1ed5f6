"""What a Run asks for, apart from its status: read once, and taken over while only its status changes.

A Run is seen four times or more in its life, and mostly because its status moved.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kruntimes_core.model.decode.fields import is_whole, members, texts
from kruntimes_core.model.decode.parts import Parts
from kruntimes_core.model.run import InvalidInput, Request, Run, RunObservation


class Asked(NamedTuple):
    """All that an observation says of `metadata` and `spec`, but for version and deletion."""

    run: Run
    generation: int | None
    backoff_seconds: float
    cancel_requested: bool
    invalid: InvalidInput | None
    held: Request


def asked_before(fields: Mapping[str, object], parts: Parts, before: RunObservation) -> Asked | None:
    """What the Run asked for in another version, if that is still all of it; None to read it.

    An API server counts the generation up with whatever changes outside of `metadata` and `status`, so
    an equal one of the same UID stands for an equal `spec` (Kubernetes API conventions, Metadata).
    Labels, annotations and the attempt may change within a generation: they are compared.
    """
    if before.generation is None or before.invalid is not None:
        return None
    run, metadata = before.run, members(fields.get("metadata"))
    status = fields.get("status")
    same = (
        generation_of(metadata) == before.generation
        and run.uid != ""
        and metadata.get("uid") == run.uid
        and metadata.get("name") == run.name
        and metadata.get("namespace") == run.namespace
        and (status is None or isinstance(status, dict))
        and attempt_of(members(status)) == run.attempt
        and _same_texts(metadata, run, parts)
    )
    if not same:
        return None
    return Asked(run, before.generation, before.backoff_seconds, before.cancel_requested, None, before.held)


def _same_texts(metadata: Mapping[str, object], run: Run, parts: Parts) -> bool:
    labels, annotations = metadata.get("labels"), metadata.get("annotations")
    if not (is_whole(labels, run.labels) and parts.labels(labels) is run.labels):
        return False
    if annotations is None:
        return not run.annotations
    readable = texts(annotations)
    return is_whole(annotations, readable) and parts.annotations(readable) is run.annotations


def generation_of(metadata: Mapping[str, object]) -> int | None:
    """`metadata.generation`; None where it is no positive integer."""
    value = metadata.get("generation")
    return value if type(value) is int and value >= 1 else None


def attempt_of(status: Mapping[str, object]) -> int:
    """`status.attempt`, 1-based; 1 where it is no positive integer."""
    value = status.get("attempt")
    return value if type(value) is int and value >= 1 else 1
