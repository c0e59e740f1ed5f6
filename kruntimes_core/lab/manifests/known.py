"""The objects that were read so far: one that stands twice in the input counts once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kruntimes_core.lab.offline_plan.field_lines import Place, name_places
from kruntimes_core.lab.offline_plan.manifests import Identity
from kruntimes_core.model.messages import InputError
from kruntimes_core.model.pod import PodObservation
from kruntimes_core.model.run import RunObservation
from kruntimes_core.model.workspace import WorkspaceObservation

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
