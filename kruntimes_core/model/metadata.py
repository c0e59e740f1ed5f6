"""The `metadata` of API objects: the order of their resourceVersions, their labels and their annotations."""

from __future__ import annotations

from collections.abc import Mapping

from kruntimes_core.model.fields import texts
from kruntimes_core.model.frozen import FrozenMap, InternedMaps, interned
from kruntimes_core.model.selectors import LabelSet

_LONGEST_VERSION = 40
"""Digits; more than any store counts to. To read a number of thousands of digits would take long."""
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_MAX_ANNOTATION_BYTES = 4_096
_MAX_UTF8 = 4  # bytes that a character can take


def version_number(version: str) -> int | None:
    """The version as a positive integer, or None if it is not one."""
    plain = version.isascii() and version.isdigit() and version[0] != "0" and len(version) <= _LONGEST_VERSION
    return int(version) if plain else None


def older(version: str, than: str) -> bool:
    """Whether `version` is known to be older; False when the two cannot be ordered."""
    left, right = version_number(version), version_number(than)
    return left is not None and right is not None and left < right


def newer(version: str, than: str) -> bool:
    """Whether `version` is known to be newer, or differs from one that it cannot be ordered with."""
    left, right = version_number(version), version_number(than)
    if left is None or right is None:
        return version != than
    return left > right


def newer_than_list(version: str, listed: str) -> bool:
    """Whether an object was seen in a version that a list of version `listed` does not cover yet."""
    return bool(listed) and bool(version) and newer(version, listed)


class SharedMetadata:
    """Labels and annotations, shared by all Runs and Pods that have equal ones."""

    def __init__(self) -> None:
        self._labels: InternedMaps[str, LabelSet] = InternedMaps(LabelSet)
        self._annotations: InternedMaps[str, FrozenMap[str, str]] = InternedMaps(FrozenMap)

    def labels(self, value: object) -> LabelSet:
        """The string members of `metadata.labels`."""
        known = self._labels.find(value) if isinstance(value, Mapping) else None
        if known is not None:
            return known
        return self._labels.of({interned(key): interned(entry) for key, entry in texts(value).items()})

    def annotations(self, annotations: Mapping[str, str]) -> FrozenMap[str, str]:
        """The part of the annotations that values keep."""
        return self._annotations.of(kept_annotations(annotations))


def kept_annotations(annotations: Mapping[str, str]) -> Mapping[str, str]:
    """The annotations that values keep, so that no user can fill the host's memory.

    kubectl's copy of the whole object is left out. Of the rest, whole entries are kept in the order
    of their keys, as long as all keys and values together take no more than 4 KiB of UTF-8; the
    first entry beyond that ends it.
    """
    if _LAST_APPLIED in annotations:
        annotations = {key: value for key, value in annotations.items() if key != _LAST_APPLIED}
    characters = sum(map(len, annotations)) + sum(map(len, annotations.values()))
    if characters * _MAX_UTF8 <= _MAX_ANNOTATION_BYTES:
        return annotations
    kept = {}
    room = _MAX_ANNOTATION_BYTES
    for key in sorted(annotations):
        room -= _size(key) + _size(annotations[key])
        if room < 0:
            break
        kept[key] = annotations[key]
    return kept


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
