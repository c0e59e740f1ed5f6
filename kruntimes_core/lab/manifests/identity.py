"""Who an object is: its namespace, name and uid, with what hand-written files leave out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kruntimes_core.lab.offline_plan.field_lines import name_place
from kruntimes_core.lab.offline_plan.manifests import Manifest
from kruntimes_core.model.messages import InputError


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
        raise _error(manifest, "metadata", "is missing or no mapping")
    name = _text(manifest, metadata, "name")
    if not name:
        raise _error(manifest, "metadata.name", "is missing: give the object a name")
    metadata["namespace"] = _text(manifest, metadata, "namespace") or namespace
    uid = _text(manifest, metadata, "uid")
    metadata["uid"] = uid or f"name:{metadata['namespace']}/{name}"
    return Identity(manifest.kind, metadata["namespace"], name, metadata["uid"], invented=not uid)


def _text(manifest: Manifest, metadata: dict[str, Any], key: str) -> str:
    value = metadata.get(key)
    if value is not None and not isinstance(value, str):
        raise _error(manifest, f"metadata.{key}", f"must be text, not {value!r}: put it in quotes")
    return value or ""


def _error(manifest: Manifest, path: str, problem: str) -> InputError:
    where = name_place(manifest.place.at(*path.split(".")))
    return InputError(f"{where}: {manifest.kind}: {path} {problem}")
