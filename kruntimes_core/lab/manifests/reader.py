"""From the manifests that `-f` names to the world that a plan starts from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from kruntimes_core.lab.manifests.identity import identify
from kruntimes_core.lab.manifests.known import Known, KnownObjects, Observation
from kruntimes_core.lab.manifests.lines import Place, name_places
from kruntimes_core.lab.manifests.objects import POD, RUN, Manifest, manifests_in
from kruntimes_core.lab.manifests.paths import steps
from kruntimes_core.lab.manifests.sources import DUMP_COMMAND, Source
from kruntimes_core.lab.world import World
from kruntimes_core.model.decode import Decoder
from kruntimes_core.model.messages import InputError
from kruntimes_core.model.pod import RUNTIME_LABEL, PodObservation
from kruntimes_core.model.run import RunObservation
from kruntimes_core.model.times import parse_time
from kruntimes_core.model.workspace import WorkspaceObservation
from kruntimes_core.model.yaml_files import load_documents

_OTHER_PEOPLES_POD = f"{POD} without the label {RUNTIME_LABEL}"

T = TypeVar("T", bound=Observation)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A Run with a field that could not be read at all, and `FILE:LINE` of that field."""

    observation: RunObservation
    where: str

    def __str__(self) -> str:
        run, invalid = self.observation.run, self.observation.invalid
        return f"{self.where}: Run {run.namespace}/{run.name}: {invalid.message if invalid else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The world, what could not be read in it, and how many objects of which kinds do not count."""

    world: World
    unreadable: tuple[Unreadable, ...]
    skipped: Counter[str]
    namespaces: frozenset[str]
    """Those that any object is in, also one that does not count."""


class Reader:
    """Reads sources one after the other. Nothing of the raw objects is kept."""

    def __init__(self, decoder: Decoder, namespace: str = "default") -> None:
        """namespace: of the objects that name none."""
        self._decoder = decoder
        self._namespace = namespace
        self._known = KnownObjects()
        self._unreadable: list[tuple[RunObservation, Place]] = []
        self._newest_creation: datetime | None = None
        self._skipped: Counter[str] = Counter()
        self._namespaces: set[str] = set()
        self._documents = 0

    def read(self, source: Source) -> Iterator[int]:
        """Read the objects of `source`; yields how many count so far, after each of them.

        Raises: `InputError` with file and line, for what cannot be read and for contradictions.
        """
        for number, (line, content) in enumerate(load_documents(source.content, source.name)):
            if content is None:
                continue
            self._documents += 1
            for manifest in manifests_in(content, Place(source, number, line)):
                if manifest.other is None:
                    self._add(manifest)
                else:
                    self._skip(manifest, manifest.other)
                yield len(self._known)

    def reading(self) -> Reading:
        """What was read. Raises: `InputError` when no source held anything."""
        if not self._documents:
            raise InputError(f"the input is empty: give what {DUMP_COMMAND} prints")
        pods = self._of(PodObservation)
        world = World(
            runs=self._of(RunObservation),
            pods=pods,
            workspaces=self._of(WorkspaceObservation),
            newest_probe=max((pod.probed_at for pod in pods if pod.probed_at), default=None),
            newest_creation=self._newest_creation,
            invented_uids=frozenset(known.identity.uid for known in self._known if known.identity.invented),
        )
        names = name_places(place for _, place in self._unreadable)
        unreadable = tuple(Unreadable(observation, names[place]) for observation, place in self._unreadable)
        return Reading(
            world=world,
            unreadable=unreadable,
            skipped=self._skipped,
            namespaces=frozenset(self._namespaces),
        )

    def _of(self, kind: type[T]) -> tuple[T, ...]:
        return tuple(known.observation for known in self._known if isinstance(known.observation, kind))

    def _add(self, manifest: Manifest) -> None:
        identity = identify(manifest, self._namespace)
        observation = self._decoded(manifest)
        if observation is None:
            self._skip(manifest, _OTHER_PEOPLES_POD)
            return
        self._namespaces.add(identity.namespace)
        if not self._known.add(Known(identity, observation, manifest.place)):
            return
        self._note_creation(manifest)
        if isinstance(observation, RunObservation) and observation.invalid and observation.invalid.unreadable:
            field = manifest.place.at(*steps(manifest.content, observation.invalid.path))
            self._unreadable.append((observation, field))

    def _skip(self, manifest: Manifest, reason: str) -> None:
        self._skipped[reason] += 1
        metadata = manifest.content.get("metadata")
        namespace = metadata.get("namespace") if isinstance(metadata, dict) else None
        if namespace and isinstance(namespace, str):
            self._namespaces.add(namespace)

    def _note_creation(self, manifest: Manifest) -> None:
        created = parse_time(manifest.content["metadata"].get("creationTimestamp"))
        if created and (self._newest_creation is None or created > self._newest_creation):
            self._newest_creation = created

    def _decoded(self, manifest: Manifest) -> Observation | None:
        """What the scheduler sees of an object; None for a Pod that is no Runtime Pod."""
        if manifest.kind == RUN:
            return self._decoder.run(manifest.content)
        if manifest.kind == POD:
            return self._decoder.pod(manifest.content)
        return self._decoder.workspace(manifest.content)
