"""Deleting: at once, or after grace and finalizers; and what controllers do after it."""

from __future__ import annotations

from datetime import datetime, timedelta

from kruntimes_core.lab.apiserver.errors import (
    conflict,
    details_of,
    forbidden_request,
    method_not_allowed,
    success,
)
from kruntimes_core.lab.apiserver.kinds.builtin import IMMORTAL
from kruntimes_core.lab.apiserver.kinds.strategy import Resource
from kruntimes_core.lab.apiserver.objects import Object, key_of, metadata_of, with_metadata
from kruntimes_core.lab.apiserver.registry import Registry
from kruntimes_core.lab.apiserver.requests import Answer, DeleteOptions, ListOptions
from kruntimes_core.lab.apiserver.watch_cache import Page
from kruntimes_core.model.times import format_time, parse_time

_POLICY_FINALIZERS = {"Foreground": "foregroundDeletion", "Orphan": "orphan"}


def _check_preconditions(resource: Resource, obj: Object, options: DeleteOptions) -> None:
    """That the object is the one that is meant. Raises `ApiError` (409)."""
    metadata = metadata_of(obj)
    for field, wanted in (("uid", options.uid), ("resourceVersion", options.resource_version)):
        if wanted is not None and wanted != metadata.get(field):
            why = f"the precondition {field} is {wanted}, and that of the object {metadata.get(field)}"
            raise conflict(resource.group, resource.kind, metadata["name"], why)


def _with_mark(resource: Resource, obj: Object, options: DeleteOptions, now: datetime) -> Object:
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


def is_over(obj: Object) -> bool:
    """Whether a marked object has neither grace nor finalizers left."""
    metadata = metadata_of(obj)
    return (
        "deletionTimestamp" in metadata
        and not metadata.get("deletionGracePeriodSeconds")
        and not metadata.get("finalizers")
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
    return _with_finalizer(obj, _POLICY_FINALIZERS.get(options.propagation_policy))


def _with_finalizer(obj: Object, wanted: str | None) -> Object:
    """With this finalizer of a policy and no other. None: as the garbage collector, for which they wait."""
    standing = metadata_of(obj).get("finalizers", [])
    kept = [name for name in standing if name not in _POLICY_FINALIZERS.values() or name == wanted]
    if wanted is not None and wanted not in kept:
        kept.append(wanted)
    return obj if kept == standing else with_metadata(obj, finalizers=kept or None)


class Deleter(Registry):
    """A registry with the verbs that delete objects."""

    def delete(
        self, resource: Resource, namespace: str | None, name: str, options: DeleteOptions | None = None
    ) -> Answer:
        """Delete an object, at once or when its grace and finalizers are over.

        Answers with the object while it stands (for Pods and Namespaces always), else with a Status.
        Raises `ApiError`: 403, 404, 409 (preconditions), 405.
        """
        options = options or DeleteOptions()
        if "delete" not in resource.verbs:
            raise method_not_allowed()
        obj = self.stored(resource, namespace, name).object
        if resource.plural == "namespaces":
            return Answer(self._delete_namespace(resource, obj, options))
        _check_preconditions(resource, obj, options)
        after = self._marked(resource, obj, options)
        if not is_over(after):
            return Answer(resource.strategy.from_storage(after))
        gone = self.remove(resource, after)
        if resource.strategy.returns_deleted:
            return Answer(resource.strategy.from_storage(gone.object))
        uid = metadata_of(gone.object).get("uid")
        return Answer(success(details_of(resource.group, resource.plural, name, uid=uid)))

    def delete_collection(
        self,
        resource: Resource,
        namespace: str | None,
        selected: ListOptions,
        options: DeleteOptions | None = None,
    ) -> Page:
        """Delete every object of a selection; returns them as they were. Raises `ApiError`."""
        if "deletecollection" not in resource.verbs:
            raise method_not_allowed()
        found = self.page(resource, namespace, selected)
        for stored in found.items:
            self.delete(resource, *key_of(stored.object), options)
        return found

    def _marked(self, resource: Resource, obj: Object, options: DeleteOptions) -> Object:
        """The object with the mark of its deletion, kept where it does not go in the same step."""
        after = _with_mark(resource, obj, options, self.now())
        if self._controllers:
            after = _with_finalizer(after, None)
        # A kind with grace is marked first even if it goes at once: watches see both steps.
        graceful = resource.strategy.grace_seconds(obj, options.grace_period_seconds) is not None
        if (graceful or not is_over(after)) and after != obj:
            return self.accept(resource, "", obj, after).object
        return after

    def _delete_namespace(self, resource: Resource, obj: Object, options: DeleteOptions) -> Object:
        name = metadata_of(obj)["name"]
        if name in IMMORTAL:
            raise forbidden_request("", "namespaces", name, "this namespace may not be deleted")
        _check_preconditions(resource, obj, options)
        if "deletionTimestamp" in metadata_of(obj):
            return obj
        ending = _with_mark(resource, obj, DeleteOptions(), self.now())
        ending = with_metadata(ending, deletionGracePeriodSeconds=None)
        ending = {**ending, "status": {**obj.get("status", {}), "phase": "Terminating"}}
        after = self.accept(resource, "", obj, ending).object
        if self._controllers:
            self._empty(name)
            self.remove(resource, after)
        return after

    def _empty(self, namespace: str) -> None:
        tables = {one.strategy.table: one for one in self.resources if one.namespaced}
        for resource in tables.values():
            for stored in self.page(resource, namespace, ListOptions()).items:
                self.remove(resource, stored.object)
