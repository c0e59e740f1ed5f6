"""The kinds that are served, and under which paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kruntimes_core.lab.apiserver.columns import Column
from kruntimes_core.lab.apiserver.selectors.fields import METADATA, Readers
from kruntimes_core.lab.apiserver.strategy import Strategy

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
    columns: tuple[Column, ...]
    namespaced: bool = True
    has_status: bool = False
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
    """What field selectors may ask for."""
    typed: bool = True
    """Whether the kind is a Go type of the API server, not a custom resource."""
    schema: Mapping[str, Any] | None = None
    """The `openAPIV3Schema` of a custom resource."""

    @property
    def api_version(self) -> str:
        """Group and version, as objects say them."""
        return f"{self.group}/{self.version}" if self.group else self.version

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
