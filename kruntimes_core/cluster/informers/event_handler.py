"""Resource event handlers: objects of the API become events of the engine, for one resource each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from kruntimes_core.cluster.client.resources import PODS, RUNS, WORKSPACES, ApiResource
from kruntimes_core.engine import events
from kruntimes_core.model.decode import Decoder
from kruntimes_core.model.run import RunObservation

Object = Mapping[str, Any]
KnownRun = Callable[[str, str], RunObservation | None]
"""What is known of the Run of a namespace and name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceEventHandler:
    """Decodes the objects of one resource, and hands on an event for each change of them at once."""

    resource: ApiResource
    namespace: str | None
    """The namespace that is followed, or None for all."""
    decode: Callable[[Object], Any]
    """The observation of an object; None for an object that does not concern the scheduler."""
    observe: Callable[[Any], Any]
    """The event for an observation."""
    gone: Callable[..., Any]
    """The event for namespace, name, uid and version of an object that is gone."""
    listed: Callable[..., Any]
    """The event for observations, version and namespace of a whole list."""
    handle: Callable[[Any], None]
    """Takes each event."""
    reached: Callable[[str], None] = lambda version: None
    """Called with the version of each bookmark: the watch has shown all up to it."""
    behind: Callable[[], bool] = lambda: False
    """Whether more must be known than the watch has shown until its end, so that a list is needed."""

    @property
    def title(self) -> str:
        """What is followed, for people: `pods in team-a`."""
        where = f" in {self.namespace}" if self.namespace is not None else ""
        return f"{self.resource.title}{where}"

    def on_update(self, obj: Object) -> None:
        """An object was added or modified."""
        observation = self.decode(obj)
        if observation is None:
            self.on_delete(obj)
        else:
            self.handle(self.observe(observation))

    def on_delete(self, obj: Object) -> None:
        """An object was deleted, or does not concern the scheduler any more."""
        metadata = obj.get("metadata")
        fields = metadata if isinstance(metadata, Mapping) else {}
        names = {"namespace": "namespace", "name": "name", "uid": "uid", "version": "resourceVersion"}
        self.handle(self.gone(**{ours: str(fields.get(theirs) or "") for ours, theirs in names.items()}))

    def on_replace(self, observations: tuple[Any, ...], version: str) -> None:
        """All objects were listed: any other object is gone."""
        self.handle(self.listed(observations=observations, version=version, namespace=self.namespace))


def resource_event_handlers(
    decoder: Decoder,
    namespaces: Sequence[str] | None,
    handle: Callable[[events.Event], None],
    known_run: KnownRun = lambda namespace, name: None,
    reached: Callable[[ApiResource, str | None, str], None] = lambda resource, namespace, version: None,
    behind: Callable[[ApiResource, str | None], bool] = lambda resource, namespace: False,
) -> list[ResourceEventHandler]:
    """What a scheduler follows: Pods, workspaces and Runs, in each of `namespaces` or, for None, in all.

    known_run: saves decoding again what has not changed since. reached: called for each bookmark, with the
    resource and the namespace of the watch. behind: whether that watch does not show enough.
    """
    return [
        ResourceEventHandler(
            resource=resource,
            namespace=namespace,
            decode=decode,
            observe=observe,
            gone=gone,
            listed=listed,
            handle=handle,
            reached=partial(reached, resource, namespace),
            behind=partial(behind, resource, namespace),
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
            (RUNS, _run_decoder(decoder, known_run), events.RunObserved, events.RunGone, events.RunsListed),
        )
    ]


def _run_decoder(decoder: Decoder, known_run: KnownRun) -> Callable[[Object], RunObservation]:
    """Decodes each Run beside what is known of it."""

    def decode(obj: Object) -> RunObservation:
        metadata = obj.get("metadata")
        if isinstance(metadata, dict):
            namespace, name = metadata.get("namespace"), metadata.get("name")
            if isinstance(namespace, str) and isinstance(name, str):
                return decoder.run(obj, known_run(namespace, name))
        return decoder.run(obj)

    return decode
