"""What differs from kind to kind when an object is written; the base is what most kinds do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kruntimes_core.lab.apiserver import meta_rules
from kruntimes_core.lab.apiserver.field_errors import FieldError
from kruntimes_core.lab.apiserver.names import problems_of_subdomain
from kruntimes_core.lab.apiserver.objects import Object, metadata_of


@dataclass(frozen=True, slots=True)
class Decoded:
    """An object as the server understands it, and the fields that it does not know."""

    object: Object
    unknown: tuple[str, ...] = ()


class Strategy:
    """How objects of one kind are read, prepared, judged, kept and deleted."""

    table: str
    """The table of the store that keeps them."""
    creates_on_update = False
    """Whether a PUT of a name that is not there creates it."""
    updates_unconditionally = False
    """Whether a PUT may come without a resourceVersion."""
    returns_deleted = False
    """Whether a deletion answers with the object instead of a Status."""
    zero_fields: Object = {}  # noqa: RUF012 - nobody changes an object
    """What Go writes beside the metadata of an empty object, as in a bookmark."""
    name_problems: meta_rules.NameProblems = staticmethod(problems_of_subdomain)

    def __init__(self, table: str) -> None:
        self.table = table

    def decode(self, obj: Object, old: Object | None) -> Decoded:
        """Read an object that a client sent, with defaults. old: what it replaces, as stored.

        Raises `meta.Misshapen` when a field has a type that cannot be read at all.
        """
        raise NotImplementedError

    def from_storage(self, obj: Object) -> Object:
        """A kept object as this resource shows it."""
        return obj

    def to_storage(self, obj: Object) -> Object:
        """An object of this resource as it is kept."""
        return obj

    def prepare_create(self, obj: Object) -> Object:
        """What a new object begins with: without what creation cannot set."""
        return obj

    def prepare_update(self, obj: Object, old: Object) -> Object:
        """What a PUT or PATCH of the object itself may change."""
        return obj

    def prepare_status(self, obj: Object, old: Object) -> Object:
        """What a PUT or PATCH of the status may change."""
        return obj

    def problems_of_new(self, obj: Object) -> Iterable[FieldError]:
        """What is wrong with an object that is to be created."""
        yield from meta_rules.of_new(metadata_of(obj), self.name_problems)
        yield from self.problems(obj, None)

    def problems_of_update(self, obj: Object, old: Object) -> Iterable[FieldError]:
        """What is wrong with a change of the object itself."""
        yield from meta_rules.of_changed(metadata_of(obj), metadata_of(old))
        yield from self.problems(obj, old)

    def problems_of_status(self, obj: Object, old: Object) -> Iterable[FieldError]:
        """What is wrong with a change of the status."""
        return self.problems_of_update(obj, old)

    def problems(self, obj: Object, old: Object | None) -> Iterator[FieldError]:
        """What is wrong beside the metadata; old: None for a new object."""
        return iter(())

    def warnings(self, obj: Object, old: Object | None) -> tuple[str, ...]:
        """What a client is told though it is accepted; old: None for a new object."""
        return ()

    def row_conditions(self, obj: Object) -> list[Object]:
        """What the row of a table says beside its cells."""
        return []

    def grace_seconds(self, obj: Object, wanted: int | None) -> int | None:
        """How long a deletion waits for its end, None when this kind knows no grace."""
        return None


def next_generation(obj: Object, old: Object, changed: bool) -> Object:
    """The object with its generation: one more when what it asks for changed."""
    generation = metadata_of(old).get("generation", 0) + (1 if changed else 0)
    return {**obj, "metadata": {**metadata_of(obj), "generation": generation}} if generation else obj
