"""From the manifests that `-f` names to the objects that a plan starts from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from kruntimes_core.lab.offline_plan.dump_time import DumpTime, ObjectTimes
from kruntimes_core.lab.offline_plan.field_lines import Place, name_places, steps
from kruntimes_core.lab.offline_plan.manifests import POD, RUN, Identity, Manifest, identify, manifests_in
from kruntimes_core.lab.offline_plan.planner import PlanInput
from kruntimes_core.lab.offline_plan.sources import DUMP_COMMAND, Source
from kruntimes_core.model.decode import Decoder
from kruntimes_core.model.messages import InputError
from kruntimes_core.model.pod import RUNTIME_LABEL, PodObservation
from kruntimes_core.model.run import RunObservation
from kruntimes_core.model.workspace import WorkspaceObservation
from kruntimes_core.model.yaml_files import load_documents

Observation = RunObservation | PodObservation | WorkspaceObservation


@dataclass(frozen=True, slots=True)
class Known:
    """One object: who it is, what the scheduler sees of it, and where it stands."""

    identity: Identity
    observation: Observation
    place: Place

    def is_same_as(self, other: Known) -> bool:
        """Whether both are one version of one object, or say the same to the scheduler."""
        return self._version == other._version or self.observation == other.observation

    @property
    def _version(self) -> object:
        version = self.observation.version
        # What a file leaves out tells nothing: such an object equals only itself.
        return self if self.identity.invented or not version else (self.identity.uid, version)


class KnownObjects:
    """Every object by its name, and by its uid."""

    def __init__(self) -> None:
        self._by_name: dict[tuple[str, str, str], Known] = {}
        self._by_uid: dict[tuple[str, str, str], Known] = {}

    def __len__(self) -> int:
        return len(self._by_name)

    def __iter__(self) -> Iterator[Known]:
        return iter(self._by_name.values())

    def add(self, new: Known) -> bool:
        """Whether `new` was not known. Raises: `InputError` when it contradicts what is known."""
        who = new.identity
        known = self._by_name.setdefault((who.kind, who.namespace, who.name), new)
        if known is not new:
            if not known.is_same_as(new):
                raise _contradiction(f"{who} is given twice, and differs: leave one of them out", known, new)
            return False
        namesake = self._by_uid.setdefault((who.kind, who.namespace, who.uid), new)
        if namesake is not new:
            problem = f"{who} has the uid of {namesake.identity}: give each object a uid of its own, or none"
            raise _contradiction(problem, namesake, new)
        return True


def _contradiction(problem: str, known: Known, new: Known) -> InputError:
    names = name_places([known.place, new.place])
    return InputError(f"{names[new.place]}: {problem} (the other: {names[known.place]})")


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

    world: PlanInput
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
        self._times = ObjectTimes()
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
                self._times.note(manifest.content)
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
        world = PlanInput(
            runs=self._of(RunObservation),
            pods=pods,
            workspaces=self._of(WorkspaceObservation),
            time=DumpTime(
                max((pod.probed_at for pod in pods if pod.probed_at), default=None), self._times.newest
            ),
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
        if isinstance(observation, RunObservation) and observation.invalid and observation.invalid.unreadable:
            field = manifest.place.at(*steps(manifest.content, observation.invalid.path))
            self._unreadable.append((observation, field))

    def _skip(self, manifest: Manifest, reason: str) -> None:
        self._skipped[reason] += 1
        metadata = manifest.content.get("metadata")
        namespace = metadata.get("namespace") if isinstance(metadata, dict) else None
        if namespace and isinstance(namespace, str):
            self._namespaces.add(namespace)

    def _decoded(self, manifest: Manifest) -> Observation | None:
        """What the scheduler sees of an object; None for a Pod that is no Runtime Pod."""
        if manifest.kind == RUN:
            return self._decoder.run(manifest.content)
        if manifest.kind == POD:
            return self._decoder.pod(manifest.content)
        return self._decoder.workspace(manifest.content)
