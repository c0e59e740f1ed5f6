"""What is wrong with an object's metadata, for every kind alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kruntimes_core.lab.apiserver.field_errors import FieldError, forbidden, invalid, required, too_long
from kruntimes_core.lab.apiserver.go_text import quote
from kruntimes_core.lab.apiserver.names import problems_of_key, problems_of_value

NameProblems = Callable[[str], Iterator[str]]
_MAX_ANNOTATIONS_BYTES = 256 * 1024
_IMMUTABLE = ("name", "namespace", "uid", "deletionTimestamp", "deletionGracePeriodSeconds")
_OWNER_FIELDS = ("apiVersion", "kind", "name", "uid")


def of_new(metadata: Mapping[str, Any], name_problems: NameProblems) -> Iterator[FieldError]:
    """What is wrong with the metadata of an object that is to be created."""
    base = metadata.get("generateName", "")
    # A dash at the end is what most bases have; it never stays the last character.
    masked = base[:-1] + "a" if len(base) > 1 and base.endswith("-") else base
    if base:
        yield from (invalid("metadata.generateName", base, problem) for problem in name_problems(masked))
    name = metadata.get("name", "")
    if not name:
        yield required("metadata.name", "name or generateName is required")
    else:
        yield from (invalid("metadata.name", name, problem) for problem in name_problems(name))
    yield from _of_any(metadata)
    for finalizer in metadata.get("finalizers", ()):
        yield from (invalid("metadata.finalizers", finalizer, text) for text in problems_of_key(finalizer))


def of_changed(metadata: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[FieldError]:
    """What is wrong with the metadata of an update, as often as the checks of the real server find it."""
    yield from _of_any(metadata)
    yield from [*_of_change(metadata, old)] * 2


def _of_change(metadata: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[FieldError]:
    if "deletionTimestamp" in old:
        added = sorted(set(metadata.get("finalizers", ())) - set(old.get("finalizers", ())))
        if added:
            listed = "[]string{" + ", ".join(map(quote, added)) + "}"
            problem = "no new finalizers can be added if the object is being deleted, found new finalizers "
            yield forbidden("metadata.finalizers", problem + listed)
    for field in _IMMUTABLE:
        if metadata.get(field) != old.get(field):
            yield invalid(f"metadata.{field}", metadata.get(field), "field is immutable")
    yield from _of_any(metadata)


def _of_any(metadata: Mapping[str, Any]) -> Iterator[FieldError]:
    for key, value in metadata.get("labels", {}).items():
        yield from (invalid("metadata.labels", key, problem) for problem in problems_of_key(key))
        yield from (invalid("metadata.labels", value, problem) for problem in problems_of_value(value))
    yield from _of_annotations(metadata.get("annotations", {}))
    for place, owner in enumerate(metadata.get("ownerReferences", ())):
        for field in _OWNER_FIELDS:
            if not isinstance(owner, dict) or not owner.get(field):
                yield required(f"metadata.ownerReferences[{place}].{field}", "must not be empty")


def _of_annotations(annotations: Mapping[str, str]) -> Iterator[FieldError]:
    size = 0
    for key, value in annotations.items():
        problems = problems_of_key(key.lower())
        yield from (invalid("metadata.annotations", key, problem) for problem in problems)
        size += len(key.encode()) + len(value.encode())
    if size > _MAX_ANNOTATIONS_BYTES:
        yield too_long("metadata.annotations", _MAX_ANNOTATIONS_BYTES)
