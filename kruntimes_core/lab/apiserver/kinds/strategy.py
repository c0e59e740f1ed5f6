"""The kinds that are served, and their strategies: what differs between them when an object is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kruntimes_core.lab.apiserver.errors import FieldError
from kruntimes_core.lab.apiserver.metadata import (
    NameProblems,
    problems_of_changed,
    problems_of_new,
    problems_of_subdomain,
)
from kruntimes_core.lab.apiserver.objects import Object, metadata_of
from kruntimes_core.lab.apiserver.selectors import METADATA, Readers
from kruntimes_core.lab.apiserver.table_printers import PrinterColumn


@dataclass(frozen=True, slots=True)
class Decoded:
    """An object as the server understands it, and the fields that it does not know."""

    object: Object
    unknown: tuple[str, ...] = ()


class Strategy:
    """How objects of one kind are read, prepared, validated, kept and deleted."""

    table: str
    """The table of the store that keeps them."""
    creates_on_update = False
    """Whether a PUT of a name that is not there creates it."""
    updates_unconditionally = False
    """Whether a PUT may come without a resourceVersion."""
    returns_deleted = False
    """Whether a deletion answers with the object instead of a Status."""
    zero_fields: Object = {}  # noqa: RUF012 - objects are never changed
    """What Go writes beside the metadata of an empty object, as in a bookmark."""
    name_problems: NameProblems = staticmethod(problems_of_subdomain)

    def __init__(self, table: str) -> None:
        self.table = table

    def decode(self, obj: Object, old: Object | None) -> Decoded:
        """Read an object that a client sent, with defaults. old: what it replaces, as stored.

        Raises `Misshapen` when a field has a type that cannot be read at all.
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

    def prepare_finalize(self, obj: Object, old: Object) -> Object:
        """What a PUT of the subresource `finalize` may change, where there is one."""
        return obj

    def problems_of_new(self, obj: Object) -> Iterable[FieldError]:
        """What is wrong with an object that is to be created."""
        yield from problems_of_new(metadata_of(obj), self.name_problems)
        yield from self.problems(obj, None)

    def problems_of_update(self, obj: Object, old: Object) -> Iterable[FieldError]:
        """What is wrong with a change of the object itself."""
        yield from problems_of_changed(metadata_of(obj), metadata_of(old))
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

    def is_held(self, obj: Object) -> bool:
        """Whether something beside grace and the finalizers of its metadata holds a deleted object."""
        return False

    def grace_seconds(self, obj: Object, wanted: int | None) -> int | None:
        """How long a deletion waits for its end, None when this kind knows no grace."""
        return None


def next_generation(obj: Object, old: Object, changed: bool) -> Object:
    """The object with its generation: one more when what it asks for changed."""
    generation = metadata_of(old).get("generation", 0) + (1 if changed else 0)
    return {**obj, "metadata": {**metadata_of(obj), "generation": generation}} if generation else obj


MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind in one version: its names, how it is kept and judged, and what a table of it shows."""

    group: str
    version: str
    plural: str
    singular: str
    kind: str
    strategy: Strategy
    columns: tuple[PrinterColumn, ...]
    namespaced: bool = True
    has_status: bool = False
    has_finalize: bool = False
    """Whether a PUT of its subresource `finalize` sets the finalizers of its spec."""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = (
        "create",
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "update",
        "watch",
    )
    fields: Readers = field(default_factory=lambda: METADATA)
    """What field selectors may name."""
    typed: bool = True
    """Whether the kind is a Go type of the API server, not a custom resource."""
    schema: Mapping[str, Any] | None = None
    """The `openAPIV3Schema` of a custom resource."""

    @property
    def api_version(self) -> str:
        """Group and version, as objects say them."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def subresources(self) -> Mapping[str, tuple[str, ...]]:
        """The verbs of each subresource."""
        found = {"finalize": ("update",)} if self.has_finalize else {}
        return {**found, "status": ("get", "patch", "update")} if self.has_status else found

    @property
    def patch_types(self) -> tuple[str, ...]:
        """The forms of patches that are taken."""
        return (JSON_PATCH, MERGE, STRATEGIC) if self.typed else (JSON_PATCH, MERGE)

    @property
    def path(self) -> str:
        """The path of its group and version, without a slash in front."""
        return f"apis/{self.api_version}" if self.group else f"api/{self.version}"


Name = tuple[str, str, str]
"""(group, version, plural)."""


class Resources:
    """All resources that are served, by their names."""

    def __init__(self, resources: Iterable[Resource]) -> None:
        self._by_name: dict[Name, Resource] = {}
        for resource in resources:
            self.add(resource)

    def add(self, resource: Resource) -> None:
        """Serve one more, or serve it in place of the one of the same name."""
        self._by_name[resource.group, resource.version, resource.plural] = resource

    def find(self, group: str, version: str, plural: str) -> Resource | None:
        """The resource of this path, None when there is none."""
        return self._by_name.get((group, version, plural))

    def named(self, plural: str, group: str | None = None) -> Resource:
        """The resource of this plural; without a group the first that was added.

        Raises `KeyError` when there is none.
        """
        for resource in self:
            if resource.plural == plural and group in (None, resource.group):
                return resource
        raise KeyError(f"no resource {plural!r} is served")

    def __iter__(self) -> Iterator[Resource]:
        return iter(tuple(self._by_name.values()))
