"""From documents to single objects: lists are taken apart, and what the scheduler never reads is counted.

Hand-written files leave out namespaces and UIDs: both are filled in here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from kruntimes_core.lab.offline_plan.field_lines import Place, name_place
from kruntimes_core.lab.offline_plan.sources import DUMP_COMMAND
from kruntimes_core.model.messages import InputError

GROUP = "kruntimes.io"
VERSION = "v1alpha1"
RUN, POD, WORKSPACE = "Run", "Pod", "PersistentWorkspace"
_WORDS = {list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
_WHAT_TO_WRITE = {
    list: "make it the items of a List (apiVersion: v1, kind: List, items: ...)",
    type(None): "remove it",
}
_WHAT_TO_GIVE = f"give manifests, as {DUMP_COMMAND} prints them"


@dataclass(frozen=True, slots=True)
class Manifest:
    """One object: a Run, a Pod or a PersistentWorkspace, or one that nobody here asks for.

    other: how one that does not count is counted; None for one that does.
    """

    kind: str
    content: dict[str, Any] = field(repr=False)
    place: Place
    other: str | None = None


def manifests_in(content: object, place: Place) -> Iterator[Manifest]:
    """The objects of one document, in their order.

    Raises: `InputError` with file and line for what is no Kubernetes object, and for another version
    of our API.
    """
    for kind, item, where in _objects(content, place):
        yield Manifest(kind, item, where, _other(kind, item["apiVersion"], where))


def _objects(
    content: object, place: Place, version: str = "", kind: str = ""
) -> Iterator[tuple[str, dict[str, Any], Place]]:
    """The object itself, or the items of a list; `version` and `kind` are what a list says of its items."""
    if not isinstance(content, dict):
        found = _WORDS.get(type(content), "a number")
        advice = _WHAT_TO_WRITE.get(type(content), _WHAT_TO_GIVE)
        problem = f"expected an object with apiVersion and kind, found {found}: {advice}"
        raise InputError(f"{name_place(place)}: {problem}")
    _check_answer(content, place)
    version = _header_text(content, "apiVersion", version, place)
    kind = _header_text(content, "kind", kind, place)
    content |= {"apiVersion": version, "kind": kind}
    if not kind.endswith("List") or "items" not in content:
        yield kind, content, place
        return
    _check_complete(content, kind, place)
    items, kind = content["items"] or [], kind.removesuffix("List")
    if not isinstance(items, list):
        where = name_place(place.at("items"))
        raise InputError(f"{where}: the items of a list must be a list: write a dash before each")
    for position, item in enumerate(items):
        yield from _objects(item, place.at("items", position), version if kind else "", kind)


def _check_answer(content: dict[str, Any], place: Place) -> None:
    """Raises: `InputError` for an answer of an API server that is something else than objects.

    Without it, an error in the place of a list would count as an input without Runs.
    """
    version, kind = content.get("apiVersion"), content.get("kind")
    if version == "v1" and kind == "Status":
        said = content.get("message") or content.get("reason") or content.get("status") or "no message"
        problem = f"a Status of an API server, not objects: {said}"
        raise InputError(f"{name_place(place)}: {problem}: correct the request that printed it")
    if isinstance(version, str) and version.startswith("meta.k8s.io/"):
        problem = f"a {kind} has no whole objects: {_WHAT_TO_GIVE}"
        raise InputError(f"{name_place(place)}: {problem}")
    if kind is None and isinstance(content.get("object"), dict) and "type" in content:
        problem = f"an event of a watch tells one change, not all objects: {_WHAT_TO_GIVE}"
        raise InputError(f"{name_place(place)}: {problem}")


def _check_complete(content: dict[str, Any], kind: str, place: Place) -> None:
    """Raises: `InputError` for one page of a list: a plan without the others would be another plan."""
    metadata = content.get("metadata")
    if isinstance(metadata, dict) and metadata.get("continue"):
        where = name_place(place.at("metadata", "continue"))
        problem = f"the {kind} is one page, and more follow: ask without a limit"
        raise InputError(f"{where}: {problem}")


def _header_text(content: dict[str, Any], key: str, implied: str, place: Place) -> str:
    value = content.get(key) or implied
    if not isinstance(value, str) or not value:
        raise InputError(f"{name_place(place)}: an object without {key}: every Kubernetes object names it")
    return value


def _other(kind: str, api_version: str, place: Place) -> str | None:
    """How an object that does not count is counted, or None for one that does."""
    group, _, version = api_version.rpartition("/")
    if (group, version, kind) == ("", "v1", POD):
        return None
    if group != GROUP or kind not in (RUN, WORKSPACE):
        return kind if kind not in (RUN, POD, WORKSPACE) else f"{kind} of {api_version}"
    if version != VERSION:
        where = name_place(place.at("apiVersion"))
        raise InputError(f"{where}: {kind} of {group}/{version}: only {GROUP}/{VERSION} is understood")
    return None


@dataclass(frozen=True, slots=True)
class Identity:
    """Kind, namespace, name and uid of an object; `invented` when the file names no uid."""

    kind: str
    namespace: str
    name: str
    uid: str
    invented: bool

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


def identify(manifest: Manifest, namespace: str) -> Identity:
    """Check and complete `metadata` in place, and say who the object is.

    namespace: for an object that names none. A missing uid becomes `name:<namespace>/<name>`, the
    same at each reading. Raises: `InputError` with file and line for metadata that is none.
    """
    metadata = manifest.content.get("metadata")
    if not isinstance(metadata, dict):
        raise _metadata_error(manifest, "metadata", "is missing or no mapping")
    name = _text(manifest, metadata, "name")
    if not name:
        raise _metadata_error(manifest, "metadata.name", "is missing: give the object a name")
    metadata["namespace"] = _text(manifest, metadata, "namespace") or namespace
    uid = _text(manifest, metadata, "uid")
    metadata["uid"] = uid or f"name:{metadata['namespace']}/{name}"
    return Identity(manifest.kind, metadata["namespace"], name, metadata["uid"], invented=not uid)


def _text(manifest: Manifest, metadata: dict[str, Any], key: str) -> str:
    value = metadata.get(key)
    if value is not None and not isinstance(value, str):
        raise _metadata_error(manifest, f"metadata.{key}", f"must be text, not {value!r}: put it in quotes")
    return value or ""


def _metadata_error(manifest: Manifest, path: str, problem: str) -> InputError:
    where = name_place(manifest.place.at(*path.split(".")))
    return InputError(f"{where}: {manifest.kind}: {path} {problem}")
