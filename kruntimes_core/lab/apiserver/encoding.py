"""JSON as bytes: what comes in and what goes out. Each stored object is written once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pydantic_core

from kruntimes_core.lab.apiserver.history import Stored
from kruntimes_core.lab.apiserver.objects import Object, without
from kruntimes_core.lab.apiserver.resources import Resource


def encode(value: Any) -> bytes:
    """A value as compact JSON."""
    return pydantic_core.to_json(value)


def decode(body: bytes) -> Any:
    """The value of a JSON text. Raises `ValueError`."""
    return pydantic_core.from_json(body, allow_inf_nan=False)


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
