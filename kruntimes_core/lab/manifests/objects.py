"""From documents to single objects: lists are taken apart, what the scheduler never reads is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from kruntimes_core.lab.manifests.lines import Place, name_place
from kruntimes_core.model.errors import InputError

GROUP = "kruntimes.io"
VERSION = "v1alpha1"
RUN, POD, WORKSPACE = "Run", "Pod", "PersistentWorkspace"
_WORDS = {list: "a list", str: "a text", bool: "a truth value", type(None): "null"}


@dataclass(frozen=True, slots=True)
class Manifest:
    """One object: a Run, a Pod or a PersistentWorkspace, or one that nobody here asks for."""

    kind: str
    content: dict[str, Any] = field(repr=False)
    place: Place


def manifests_in(content: object, place: Place, skipped: Counter[str]) -> Iterator[Manifest]:
    """The objects of one document that count, in their order; the others are added to `skipped`.

    Raises: `InputError` with file and line for what is no Kubernetes object, and for another version
    of our API.
    """
    for manifest in _objects(content, place):
        reason = _other(manifest)
        if reason is None:
            yield manifest
        else:
            skipped[reason] += 1


def _objects(content: object, place: Place, version: str = "", kind: str = "") -> Iterator[Manifest]:
    """The object itself, or the items of a list; `version` and `kind` are what a list says of its items."""
    if not isinstance(content, dict):
        found = _WORDS.get(type(content), "a number")
        raise InputError(f"{name_place(place)}: expected an object with apiVersion and kind, found {found}")
    version = _text(content, "apiVersion", version, place)
    kind = _text(content, "kind", kind, place)
    content |= {"apiVersion": version, "kind": kind}
    if not kind.endswith("List") or "items" not in content:
        yield Manifest(kind, content, place)
        return
    items, kind = content["items"] or [], kind.removesuffix("List")
    if not isinstance(items, list):
        raise InputError(f"{name_place(place.at('items'))}: the items of a list must be a list")
    for position, item in enumerate(items):
        yield from _objects(item, place.at("items", position), version if kind else "", kind)


def _text(content: dict[str, Any], key: str, implied: str, place: Place) -> str:
    value = content.get(key) or implied
    if not isinstance(value, str) or not value:
        raise InputError(f"{name_place(place)}: an object without {key}: every Kubernetes object names it")
    return value


def _other(manifest: Manifest) -> str | None:
    """How an object that does not count is counted, or None for one that does."""
    group, _, version = manifest.content["apiVersion"].rpartition("/")
    kind = manifest.kind
    if (group, version, kind) == ("", "v1", POD):
        return None
    if group != GROUP or kind not in (RUN, WORKSPACE):
        return kind if kind not in (RUN, POD, WORKSPACE) else f"{kind} of {manifest.content['apiVersion']}"
    if version != VERSION:
        where = name_place(manifest.place.at("apiVersion"))
        raise InputError(f"{where}: {kind} of {group}/{version}: only {GROUP}/{VERSION} is understood")
    return None
