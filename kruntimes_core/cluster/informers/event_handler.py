"""ResourceEventHandler: objects of the API become events of the engine, for one resource."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kruntimes_core.cluster.client.resources import PODS, RUNS, WORKSPACES, ApiResource
from kruntimes_core.engine import events
from kruntimes_core.model.decode import Decoder
from kruntimes_core.model.run import RunObservation

Object = Mapping[str, Any]
Known = Callable[[str, str], RunObservation | None]
"""What is known of the Run of a namespace and name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceEventHandler:
    """How one resource is told to the engine."""

    resource: ApiResource
    namespace: str | None
    """The namespace that is followed, or None for all."""
    decode: Callable[[Object], Any]
    """The observation of an object; None if it does not matter here."""
    observe: Callable[[Any], events.Event]
    gone: Callable[..., events.Event]
    listed: Callable[..., events.Event]

    @property
    def title(self) -> str:
        """What it follows, for people: `pods in team-a`."""
        where = f" in {self.namespace}" if self.namespace is not None else ""
        return f"{self.resource.title}{where}"

    def changed(self, obj: Object) -> events.Event:
        """The event for an object that was added or modified."""
        observation = self.decode(obj)
        return self.deleted(obj) if observation is None else self.observe(observation)

    def deleted(self, obj: Object) -> events.Event:
        """The event for an object that was deleted."""
        metadata = obj.get("metadata")
        fields = metadata if isinstance(metadata, Mapping) else {}
        names = {"namespace": "namespace", "name": "name", "uid": "uid", "version": "resourceVersion"}
        return self.gone(**{ours: str(fields.get(theirs) or "") for ours, theirs in names.items()})

    def whole(self, observations: Sequence[Any], version: str) -> events.Event:
        """The event for a whole list."""
        return self.listed(observations=tuple(observations), version=version, namespace=self.namespace)


def nothing_known(namespace: str, name: str) -> RunObservation | None:
    """Nothing is known of any Run."""
    return None


def resource_event_handlers(
    decoder: Decoder, namespaces: Sequence[str] | None, known: Known = nothing_known
) -> list[ResourceEventHandler]:
    """What a host follows: Pods, workspaces and Runs, in each of `namespaces` or, for None, in all.

    known: saves reading again what has not changed since.
    """
    return [
        ResourceEventHandler(
            resource=resource,
            namespace=namespace,
            decode=decode,
            observe=observe,
            gone=gone,
            listed=listed,
        )
        for namespace in (namespaces if namespaces is not None else (None,))
        for resource, decode, observe, gone, listed in (
            (PODS, decoder.pod, events.PodObserved, events.PodGone, events.PodsListed),
            (
                WORKSPACES,
                decoder.workspace,
                events.WorkspaceObserved,
                events.WorkspaceGone,
                events.WorkspacesListed,
            ),
            (RUNS, _runs_beside(decoder, known), events.RunObserved, events.RunGone, events.RunsListed),
        )
    ]


def _runs_beside(decoder: Decoder, known: Known) -> Callable[[Object], Any]:
    """Decodes Runs, each beside what is known of it."""

    def decode(obj: Object) -> RunObservation:
        metadata = obj.get("metadata")
        if isinstance(metadata, dict):
            namespace, name = metadata.get("namespace"), metadata.get("name")
            if isinstance(namespace, str) and isinstance(name, str):
                return decoder.run(obj, known(namespace, name))
        return decoder.run(obj)

    return decode
