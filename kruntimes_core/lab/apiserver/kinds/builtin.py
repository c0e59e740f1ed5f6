"""The built-in kinds: Namespaces and Leases, and all of them in the order in which discovery lists them.

A Namespace is Active until it is deleted, then Terminating until it is empty. A PUT may create a Lease, as
leader election does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kruntimes_core.lab.apiserver.errors import FieldError, forbidden_request, invalid
from kruntimes_core.lab.apiserver.kinds.custom_resources import DEFINITIONS_TABLE, DefinitionStrategy
from kruntimes_core.lab.apiserver.kinds.events import EventStrategy, NewEventStrategy, field_readers
from kruntimes_core.lab.apiserver.kinds.pods import PodStrategy
from kruntimes_core.lab.apiserver.kinds.strategy import Decoded, Resource
from kruntimes_core.lab.apiserver.kinds.typed import TypedStrategy, read_schemas
from kruntimes_core.lab.apiserver.metadata import NameProblems, problems_of_label
from kruntimes_core.lab.apiserver.objects import Object, metadata_of, status_of, without
from kruntimes_core.lab.apiserver.schema import Node
from kruntimes_core.lab.apiserver.selectors import METADATA, at
from kruntimes_core.lab.apiserver.table_printers import (
    EVENT_COLUMNS,
    LEASE_COLUMNS,
    NAMESPACE_COLUMNS,
    POD_COLUMNS,
    custom_columns,
)

IMMORTAL = ("default", "kube-system", "kube-public")
"""Namespaces that cannot be deleted."""


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

    def prepare_finalize(self, obj: Object, old: Object) -> Object:
        """With the standing status."""
        return {**obj, "status": old["status"]}

    def is_held(self, obj: Object) -> bool:
        """By the finalizers of its spec, which wait for what is in it."""
        return bool(obj["spec"].get("finalizers"))


def is_terminating(namespace: Object) -> bool:
    """Whether a namespace has been deleted, and takes nothing new."""
    return status_of(namespace).get("phase") == "Terminating"


def check_takes(namespace: Object, resource: Resource, name: str) -> None:
    """That a namespace takes a new object. Raises `ApiError` (403) while it ends."""
    if not is_terminating(namespace):
        return
    ending = f"namespace {metadata_of(namespace)['name']} is being terminated"
    cause = {"reason": "NamespaceTerminating", "message": ending, "field": "metadata.namespace"}
    raise forbidden_request(resource.group, resource.plural, name, ending, [cause])


def _with_label(obj: Object) -> Object:
    metadata = metadata_of(obj)
    name = metadata.get("name")
    if not name:
        return obj
    labels = {**metadata.get("labels", {}), "kubernetes.io/metadata.name": name}
    return {**obj, "metadata": {**metadata, "labels": labels}}


_COORDINATED = ("strategy", "preferredHolder")


class LeaseStrategy(TypedStrategy):
    """Leases of `coordination.k8s.io/v1`."""

    creates_on_update = True
    zero_fields: Object = {"spec": {}}  # noqa: RUF012

    def prepare_create(self, obj: Object) -> Object:
        """Without what belongs to coordinated leader election, which is off by default."""
        return {**obj, "spec": without(obj["spec"], *_COORDINATED)}

    def prepare_update(self, obj: Object, old: Object) -> Object:
        """The same for an update."""
        return self.prepare_create(obj)

    def problems(self, obj: Object, old: Object | None) -> Iterator[FieldError]:
        """Durations and counts that cannot be."""
        spec = obj["spec"]
        duration = spec.get("leaseDurationSeconds")
        if duration is not None and duration <= 0:
            yield invalid("spec.leaseDurationSeconds", duration, "must be greater than 0")
        transitions = spec.get("leaseTransitions")
        if transitions is not None and transitions < 0:
            yield invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0")


_POD_FIELDS = {
    **METADATA,
    "spec.nodeName": at("spec", "nodeName"),
    "spec.restartPolicy": at("spec", "restartPolicy"),
    "spec.schedulerName": at("spec", "schedulerName"),
    "spec.serviceAccountName": at("spec", "serviceAccountName"),
    "status.phase": at("status", "phase"),
    "status.podIP": at("status", "podIP"),
    "status.nominatedNodeName": at("status", "nominatedNodeName"),
}
_NAMESPACE_FIELDS = {"metadata.name": METADATA["metadata.name"], "status.phase": at("status", "phase")}


def builtin_resources() -> tuple[Resource, ...]:
    """Pods, Namespaces, Leases, Events of both groups and CustomResourceDefinitions."""
    schemas = read_schemas()
    return (*_core(schemas), *_groups(schemas))


def _core(schemas: Mapping[str, Node]) -> tuple[Resource, ...]:
    return (
        Resource(
            *("", "v1", "events", "event", "Event"),
            EventStrategy("events", schemas["Event"]),
            EVENT_COLUMNS,
            short_names=("ev",),
            fields=field_readers("involvedObject"),
        ),
        Resource(
            *("", "v1", "namespaces", "namespace", "Namespace"),
            NamespaceStrategy("namespaces", schemas["Namespace"]),
            NAMESPACE_COLUMNS,
            namespaced=False,
            has_status=True,
            has_finalize=True,
            short_names=("ns",),
            fields=_NAMESPACE_FIELDS,
            verbs=("create", "delete", "get", "list", "patch", "update", "watch"),
        ),
        Resource(
            *("", "v1", "pods", "pod", "Pod"),
            PodStrategy("pods", schemas["Pod"]),
            POD_COLUMNS,
            has_status=True,
            short_names=("po",),
            categories=("all",),
            fields=_POD_FIELDS,
        ),
    )


def _groups(schemas: Mapping[str, Node]) -> tuple[Resource, ...]:
    return (
        Resource(
            *("events.k8s.io", "v1", "events", "event", "Event"),
            NewEventStrategy("events", schemas["NewEvent"]),
            EVENT_COLUMNS,
            short_names=("ev",),
            fields=field_readers("regarding"),
        ),
        Resource(
            *("apiextensions.k8s.io", "v1", "customresourcedefinitions", "customresourcedefinition"),
            "CustomResourceDefinition",
            DefinitionStrategy(DEFINITIONS_TABLE),
            custom_columns(()),
            namespaced=False,
            has_status=True,
            short_names=("crd", "crds"),
            categories=("api-extensions",),
            verbs=("create", "get", "list", "patch", "update", "watch"),
        ),
        Resource(
            *("coordination.k8s.io", "v1", "leases", "lease", "Lease"),
            LeaseStrategy("leases.coordination.k8s.io", schemas["Lease"]),
            LEASE_COLUMNS,
        ),
    )
