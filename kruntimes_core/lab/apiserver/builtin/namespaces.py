"""Namespaces: Active until they are deleted, then Terminating until they are empty."""

from __future__ import annotations

from kruntimes_core.lab.apiserver.builtin.typed import TypedStrategy
from kruntimes_core.lab.apiserver.meta_rules import NameProblems
from kruntimes_core.lab.apiserver.names import problems_of_label
from kruntimes_core.lab.apiserver.objects import Object, metadata_of, without
from kruntimes_core.lab.apiserver.resources import Resource
from kruntimes_core.lab.apiserver.status import ApiError, forbidden
from kruntimes_core.lab.apiserver.strategy import Decoded

IMMORTAL = ("default", "kube-system", "kube-public")
"""Namespaces that nobody may delete."""


class NamespaceStrategy(TypedStrategy):
    """Namespaces."""

    updates_unconditionally = True
    returns_deleted = True
    zero_fields: Object = {"spec": {}, "status": {}}  # noqa: RUF012
    name_problems: NameProblems = staticmethod(problems_of_label)

    def decode(self, obj: Object, old: Object | None) -> Decoded:
        """With the label that carries the name."""
        decoded = super().decode(obj, old)
        return Decoded(_with_label(decoded.object), decoded.unknown)

    def prepare_create(self, obj: Object) -> Object:
        """Active, to be finished by the namespace controller."""
        finalizers = [*obj["spec"].get("finalizers", ())]
        if "kubernetes" not in finalizers:
            finalizers.append("kubernetes")
        # Once more, because a name may have been made only now.
        return {**_with_label(obj), "spec": {"finalizers": finalizers}, "status": {"phase": "Active"}}

    def prepare_update(self, obj: Object, old: Object) -> Object:
        """With the standing finalizers and status."""
        return {**obj, "spec": old["spec"], "status": old["status"]}

    def prepare_status(self, obj: Object, old: Object) -> Object:
        """With the standing spec."""
        return {**without(obj, "spec"), "spec": old["spec"]}


def check_takes(namespace: Object, resource: Resource, name: str) -> None:
    """That a namespace takes a new object. Raises `ApiError` (403) while it ends."""
    if namespace.get("status", {}).get("phase") == "Terminating":
        raise _terminating(resource, metadata_of(namespace)["name"], name)


def _terminating(resource: Resource, namespace: str, name: str) -> ApiError:
    why = f"unable to create new content in namespace {namespace} because it is being terminated"
    error = forbidden(resource.group, resource.plural, name, why)
    cause = {
        "reason": "NamespaceTerminating",
        "message": f"namespace {namespace} is being terminated",
        "field": "metadata.namespace",
    }
    error.details = {**(error.details or {}), "causes": [cause]}
    return error


def _with_label(obj: Object) -> Object:
    metadata = metadata_of(obj)
    name = metadata.get("name")
    if not name:
        return obj
    labels = {**metadata.get("labels", {}), "kubernetes.io/metadata.name": name}
    return {**obj, "metadata": {**metadata, "labels": labels}}
