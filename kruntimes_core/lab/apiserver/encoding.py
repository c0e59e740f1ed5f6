"""JSON and YAML as bytes, and the forms in which clients get objects: whole, metadata, or rows of a table.

The JSON of each stored object is written once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any

import pydantic_core
import yaml

from kruntimes_core.lab.apiserver.errors import ApiError, not_acceptable
from kruntimes_core.lab.apiserver.kinds.strategy import Resource
from kruntimes_core.lab.apiserver.objects import Object, metadata_of, version_of, without
from kruntimes_core.lab.apiserver.storage import Stored
from kruntimes_core.lab.apiserver.watch_cache import Event, Page

try:
    from yaml import CSafeDumper as BaseDumper
except ImportError:  # pragma: no cover - depends on how PyYAML was built
    from yaml import SafeDumper as BaseDumper  # type: ignore[assignment]


def encode(value: Any) -> bytes:
    """A value as compact JSON."""
    return pydantic_core.to_json(value)


def decode(body: bytes) -> Any:
    """The value of a JSON text. Raises `ValueError`."""
    return pydantic_core.from_json(body, allow_inf_nan=False)


# Text that other readers of YAML, Go's among them, take for a number or a truth value where PyYAML does not.
_MISREAD = re.compile(r"[-+]?\.?[0-9][0-9_.]*([eE][-+]?[0-9]+)?|0[xob][0-9a-fA-F_]+|[yYnN]")


class _Dumper(BaseDumper):
    """PyYAML's safe dumper; text stays text for every reader, and nothing becomes an alias."""

    def ignore_aliases(self, data: Any) -> bool:
        """A value that occurs twice is written twice."""
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    quoted = '"' if _MISREAD.fullmatch(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=quoted)


_Dumper.add_representer(str, _text)


def encode_yaml(value: Any) -> bytes:
    """A value as YAML, keys in the order of the alphabet, as a kube-apiserver writes it."""
    text: str = yaml.dump(value, Dumper=_Dumper, allow_unicode=True)
    return text.encode()


def encode_stored(resource: Resource, stored: Stored) -> bytes:
    """A stored object as this resource shows it."""
    return _remembered(stored, resource.api_version, lambda: resource.strategy.from_storage(stored.object))


def encode_item(resource: Resource, stored: Stored) -> bytes:
    """A stored object as an item of a list: a Go type leaves its kind to the list."""
    if not resource.typed:
        return encode_stored(resource, stored)
    shown = resource.strategy.from_storage
    name = f"{resource.api_version} item"
    return _remembered(stored, name, lambda: without(shown(stored.object), "kind", "apiVersion"))


def encode_list(kind: str, api_version: str, metadata: Object, items: Iterable[bytes]) -> bytes:
    """A list of what is encoded already."""
    head = encode({"kind": kind, "apiVersion": api_version, "metadata": metadata})
    return b'%b,"items":[%b]}' % (head[:-1], b",".join(items))


def encode_event(kind: str, obj: bytes) -> bytes:
    """One line of a watch."""
    return b'{"type":"%b","object":%b}\n' % (kind.encode(), obj)


def _remembered(stored: Stored, name: str, make: Any) -> bytes:
    found = stored.encoded.get(name)
    if found is None:
        found = stored.encoded[name] = encode(make())
    return found


META = "meta.k8s.io/v1"


class Form(Enum):
    """How objects are shown."""

    OBJECT = "Object"
    TABLE = "Table"
    METADATA = "PartialObjectMetadata"
    METADATA_LIST = "PartialObjectMetadataList"


@dataclass(frozen=True, slots=True)
class Renderer:
    """Renders for one request. include: what a row of a table says of its object."""

    resource: Resource
    form: Form
    now: Callable[[], datetime]
    include: str = "Metadata"

    def one(self, stored: Stored) -> bytes:
        """One object. Raises `ApiError` (500) for the form of a list."""
        if self.form is Form.OBJECT:
            return encode_stored(self.resource, stored)
        if self.form is Form.METADATA_LIST:
            raise ApiError(500, "", "a single object has no list of metadata")
        return encode(self._metadata(stored.object) if self.form is Form.METADATA else self._table_of(stored))

    def page(self, page: Page) -> bytes:
        """A list or a page of one. Raises `ApiError` (406) for the form of a single object."""
        metadata = self._list_metadata(page)
        if self.form is Form.METADATA:
            raise not_acceptable("a list has no PartialObjectMetadata: accept a PartialObjectMetadataList")
        if self.form is Form.TABLE:
            rows = [self._row(stored) for stored in page.items]
            return encode(self._table(metadata, rows, heads=True))
        if self.form is Form.METADATA_LIST:
            items = [encode(self._metadata(stored.object)) for stored in page.items]
            return encode_list("PartialObjectMetadataList", META, metadata, items)
        if not self.resource.typed:
            metadata.setdefault("continue", "")
        items = [encode_item(self.resource, stored) for stored in page.items]
        return encode_list(f"{self.resource.kind}List", self.resource.api_version, metadata, items)

    def event(self, event: Event, *, first: bool) -> bytes:
        """One line of a watch; first: whether it is the first, which carries the heads of a table."""
        if self.form is not Form.TABLE:
            return encode_event(event.type, self.one(event.stored))
        metadata = {"resourceVersion": version_of(event.stored.object)}
        table = self._table(metadata, [self._row(event.stored)], heads=first)
        return encode_event(event.type, encode(table))

    def bookmark(self, version: int, *, initial_end: bool = False) -> bytes:
        """The line that says how far a watch is; initial_end: that all that was there has been told."""
        metadata: Object = {"resourceVersion": str(version)}
        if initial_end:
            metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
        bare = {"kind": self.resource.kind, "apiVersion": self.resource.api_version, "metadata": metadata}
        bare |= self.resource.strategy.zero_fields
        if self.form is Form.METADATA:
            bare = self._metadata(bare)
        elif self.form is Form.TABLE:
            # A row of nothing: clients pass over it.
            bare = self._table(metadata, [self._row(Stored(bare, version))], heads=False)
        return encode_event("BOOKMARK", encode(bare))

    def _list_metadata(self, page: Page) -> Object:
        metadata: Object = {"resourceVersion": str(page.version)}
        if page.continue_token:
            metadata["continue"] = page.continue_token
        if page.remaining:
            metadata["remainingItemCount"] = page.remaining
        return metadata

    def _metadata(self, obj: Object) -> Object:
        return {"kind": Form.METADATA.value, "apiVersion": META, "metadata": metadata_of(obj)}

    def _table_of(self, stored: Stored) -> Object:
        return self._table({"resourceVersion": str(stored.version)}, [self._row(stored)], heads=True)

    def _table(self, metadata: Object, rows: Sequence[Object], *, heads: bool) -> Object:
        shown = [column.as_object() for column in self.resource.columns] if heads else None
        return {
            "kind": "Table",
            "apiVersion": META,
            "metadata": metadata,
            "columnDefinitions": shown,
            "rows": rows,
        }

    def _row(self, stored: Stored) -> Object:
        now = self.now()
        cells = [column.cell(stored.object, now) for column in self.resource.columns]
        obj: Object | None = None
        if self.include == "Object":
            obj = self.resource.strategy.from_storage(stored.object)
        elif self.include != "None":
            obj = self._metadata(stored.object)
        conditions = self.resource.strategy.row_conditions(stored.object)
        return {"cells": cells, **({"conditions": conditions} if conditions else {}), "object": obj}
