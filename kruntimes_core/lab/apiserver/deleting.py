"""Deleting objects: the verbs around the rules of `deletion`, and what controllers do after them."""

from __future__ import annotations

from kruntimes_core.lab.apiserver import deletion
from kruntimes_core.lab.apiserver.builtin.namespaces import IMMORTAL
from kruntimes_core.lab.apiserver.contents import Contents
from kruntimes_core.lab.apiserver.lists import Page
from kruntimes_core.lab.apiserver.objects import Object, key_of, metadata_of, with_metadata
from kruntimes_core.lab.apiserver.requests import Answer, DeleteOptions, ListOptions
from kruntimes_core.lab.apiserver.resources import Resource
from kruntimes_core.lab.apiserver.status import details_of, forbidden, method_not_allowed, success


class Deleter:
    """The deleting half of an `ApiServer`; controllers: as it says there."""

    def __init__(self, contents: Contents, *, controllers: bool) -> None:
        self._contents = contents
        self._controllers = controllers

    def delete(self, resource: Resource, namespace: str | None, name: str, options: DeleteOptions) -> Answer:
        """Delete one object; see `ApiServer.delete`."""
        if "delete" not in resource.verbs:
            raise method_not_allowed()
        obj = self._contents.stored(resource, namespace, name).object
        if resource.plural == "namespaces":
            return Answer(self._delete_namespace(resource, obj, options))
        deletion.check_preconditions(resource, obj, options)
        after = self._marked(resource, obj, options)
        if not deletion.is_over(after):
            return Answer(resource.strategy.from_storage(after))
        gone = self._contents.remove(resource, after)
        if resource.strategy.returns_deleted:
            return Answer(resource.strategy.from_storage(gone.object))
        uid = metadata_of(gone.object).get("uid")
        return Answer(success(details_of(resource.group, resource.plural, name, uid=uid)))

    def delete_collection(
        self, resource: Resource, namespace: str | None, selected: ListOptions, options: DeleteOptions
    ) -> Page:
        """Delete a selection; see `ApiServer.delete_collection`."""
        if "deletecollection" not in resource.verbs:
            raise method_not_allowed()
        found = self._contents.page(resource, namespace, selected)
        for stored in found.items:
            self.delete(resource, *key_of(stored.object), options)
        return found

    def _marked(self, resource: Resource, obj: Object, options: DeleteOptions) -> Object:
        """The object with the mark of its deletion, kept where it does not go in the same step."""
        after = deletion.marked(resource, obj, options, self._contents.now())
        if self._controllers:
            after = deletion.without_policy(after)
        # A kind with grace is marked first even if it goes at once: watches see both steps.
        graceful = resource.strategy.grace_seconds(obj, options.grace_period_seconds) is not None
        if (graceful or not deletion.is_over(after)) and after != obj:
            return self._contents.accept(resource, "", obj, after).object
        return after

    def _delete_namespace(self, resource: Resource, obj: Object, options: DeleteOptions) -> Object:
        name = metadata_of(obj)["name"]
        if name in IMMORTAL:
            raise forbidden("", "namespaces", name, "this namespace may not be deleted")
        deletion.check_preconditions(resource, obj, options)
        if "deletionTimestamp" in metadata_of(obj):
            return obj
        ending = deletion.marked(resource, obj, DeleteOptions(), self._contents.now())
        ending = with_metadata(ending, deletionGracePeriodSeconds=None)
        ending = {**ending, "status": {**obj.get("status", {}), "phase": "Terminating"}}
        after = self._contents.accept(resource, "", obj, ending).object
        if self._controllers:
            self._empty(name)
            self._contents.remove(resource, after)
        return after

    def _empty(self, namespace: str) -> None:
        tables = {one.strategy.table: one for one in self._contents.resources if one.namespaced}
        for resource in tables.values():
            for stored in self._contents.page(resource, namespace, ListOptions()).items:
                self._contents.remove(resource, stored.object)
