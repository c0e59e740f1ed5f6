"""The built-in resources, in the order in which discovery lists them."""

from __future__ import annotations

from collections.abc import Mapping

from kruntimes_core.lab.apiserver.builtin import columns, definitions
from kruntimes_core.lab.apiserver.builtin.event_columns import EVENT
from kruntimes_core.lab.apiserver.builtin.events import EventStrategy, NewEventStrategy, field_readers
from kruntimes_core.lab.apiserver.builtin.leases import LeaseStrategy
from kruntimes_core.lab.apiserver.builtin.namespaces import NamespaceStrategy
from kruntimes_core.lab.apiserver.builtin.pod_columns import POD
from kruntimes_core.lab.apiserver.builtin.pods import PodStrategy
from kruntimes_core.lab.apiserver.builtin.typed import read_schemas
from kruntimes_core.lab.apiserver.resources import Resource
from kruntimes_core.lab.apiserver.selectors.fields import METADATA, at
from kruntimes_core.lab.apiserver.validation.schema import Node

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
            EVENT,
            short_names=("ev",),
            fields=field_readers("involvedObject"),
        ),
        Resource(
            *("", "v1", "namespaces", "namespace", "Namespace"),
            NamespaceStrategy("namespaces", schemas["Namespace"]),
            columns.NAMESPACE,
            namespaced=False,
            has_status=True,
            short_names=("ns",),
            fields=_NAMESPACE_FIELDS,
            verbs=("create", "delete", "get", "list", "patch", "update", "watch"),
        ),
        Resource(
            *("", "v1", "pods", "pod", "Pod"),
            PodStrategy("pods", schemas["Pod"]),
            POD,
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
            EVENT,
            short_names=("ev",),
            fields=field_readers("regarding"),
        ),
        Resource(
            *("apiextensions.k8s.io", "v1", "customresourcedefinitions", "customresourcedefinition"),
            "CustomResourceDefinition",
            definitions.DefinitionStrategy(definitions.TABLE),
            columns.DEFINITION,
            namespaced=False,
            has_status=True,
            short_names=("crd", "crds"),
            categories=("api-extensions",),
            verbs=("create", "get", "list", "patch", "update", "watch"),
        ),
        Resource(
            *("coordination.k8s.io", "v1", "leases", "lease", "Lease"),
            LeaseStrategy("leases.coordination.k8s.io", schemas["Lease"]),
            columns.LEASE,
        ),
    )
