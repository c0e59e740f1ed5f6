"""What a deletion makes of an object that does not go at once: it has a grace, or finalizers."""

from __future__ import annotations

from datetime import datetime, timedelta

from kruntimes_core.lab.apiserver.errors import (
    conflict,
)
from kruntimes_core.lab.apiserver.kinds.strategy import Resource
from kruntimes_core.lab.apiserver.objects import Object, metadata_of, with_metadata
from kruntimes_core.lab.apiserver.requests import DeleteOptions
from kruntimes_core.model.times import format_time, parse_time

_POLICY_FINALIZERS = {"Foreground": "foregroundDeletion", "Orphan": "orphan"}


def check_preconditions(resource: Resource, obj: Object, options: DeleteOptions) -> None:
    """That the object is the one that is meant. Raises `ApiError` (409)."""
    metadata = metadata_of(obj)
    for field, wanted in (("uid", options.uid), ("resourceVersion", options.resource_version)):
        if wanted is not None and wanted != metadata.get(field):
            why = f"the precondition {field} is {wanted}, and that of the object {metadata.get(field)}"
            raise conflict(resource.group, resource.kind, metadata["name"], why)


def with_mark(resource: Resource, obj: Object, options: DeleteOptions, now: datetime) -> Object:
    """The object as its deletion leaves it: it goes for good when `is_over` says so."""
    obj = _with_policy(obj, options)
    grace = resource.strategy.grace_seconds(obj, options.grace_period_seconds)
    metadata = metadata_of(obj)
    if "deletionTimestamp" not in metadata:
        return _begun(obj, grace or 0, now)
    standing = metadata.get("deletionGracePeriodSeconds", 0)
    wanted = options.grace_period_seconds
    if grace is None or not standing or wanted is None or wanted >= standing:
        return obj
    begun = parse_time(metadata["deletionTimestamp"]) or now
    ends = max(begun + timedelta(seconds=wanted - standing), now)
    return with_metadata(obj, deletionTimestamp=format_time(ends), deletionGracePeriodSeconds=wanted)


def is_over(resource: Resource, obj: Object) -> bool:
    """Whether a marked object has neither grace nor finalizers left."""
    metadata = metadata_of(obj)
    return (
        "deletionTimestamp" in metadata
        and not metadata.get("deletionGracePeriodSeconds")
        and not metadata.get("finalizers")
        and not resource.strategy.is_held(obj)
    )


def _begun(obj: Object, grace: int, now: datetime) -> Object:
    generation = metadata_of(obj).get("generation")
    return with_metadata(
        obj,
        deletionTimestamp=format_time(now + timedelta(seconds=grace)),
        deletionGracePeriodSeconds=grace,
        generation=generation + 1 if generation else None,
    )


def _with_policy(obj: Object, options: DeleteOptions) -> Object:
    """With the finalizer that the propagation policy asks for, and without that of the other."""
    if options.propagation_policy is None or "deletionTimestamp" in metadata_of(obj):
        return obj
    return with_finalizer(obj, _POLICY_FINALIZERS.get(options.propagation_policy))


def with_finalizer(obj: Object, wanted: str | None) -> Object:
    """With this finalizer of a policy and no other. None: as the garbage collector, for which they wait."""
    standing = metadata_of(obj).get("finalizers", [])
    kept = [name for name in standing if name not in _POLICY_FINALIZERS.values() or name == wanted]
    if wanted is not None and wanted not in kept:
        kept.append(wanted)
    return obj if kept == standing else with_metadata(obj, finalizers=kept or None)
