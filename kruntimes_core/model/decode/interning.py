"""Interning: equal parts of different objects become one object.

A hundred thousand Runs carry a few hundred label sets, requests and affinities. One object for each
keeps memory small, comparing cheap (`is` comes first) and remembered matches shared. Unused values go
away by themselves; tables of texts that users wrote are bounded.
"""

from __future__ import annotations

import marshal
import sys
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

from kruntimes_core.model.decode.fields import texts
from kruntimes_core.model.frozen import FrozenMap
from kruntimes_core.model.selectors import LabelSet

A = TypeVar("A")
V = TypeVar("V")
M = TypeVar("M")

_REMEMBERED_TEXTS = 4_096
_LONGEST_TEXT = 4_096
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_MAX_ANNOTATION_BYTES = 4_096
_MAX_UTF8 = 4  # bytes that a character can take


def interned(text: str) -> str:
    """The one object for a text that many objects repeat: a namespace, a Runtime, a Pod's name."""
    return sys.intern(text) if type(text) is str else text


class InternedMaps(Generic[V, M]):
    """Immutable maps, one object for equal contents, held only while a Run or Pod holds it.

    Items stand in the order of their keys, so that iteration does not depend on which of several
    equal maps was decoded first. The empty map is held for good.
    """

    def __init__(self, build: Callable[[Mapping[str, V]], M]) -> None:
        self._build = build
        # A key says all that the map says, and does not refer to the map, which would keep it alive.
        self._maps: WeakValueDictionary[Hashable, M] = WeakValueDictionary()
        self._empty = build({})

    def of(self, items: Mapping[str, V]) -> M:
        """The map with these items, whose types are known to be right."""
        if not items:
            return self._empty
        key = frozenset(items.items())
        known = self._maps.get(key)
        if known is None:
            known = self._maps[key] = self._build(dict(sorted(items.items())))
        return known

    def find(self, items: Mapping[str, object]) -> M | None:
        """The map with these items if there is one, for items of unchecked types.

        Only fit for maps of strings, which are equal to nothing else.
        """
        try:
            return self._maps.get(frozenset(items.items())) if items else self._empty
        except TypeError:  # a value that is not a string, and cannot be hashed
            return None


class CompileCache(Generic[A, V]):
    """What was compiled from a JSON value, remembered by the text of that value.

    The text is marshal's, version 2: the same for the same value, `1`, `1.0` and `true` apart, and
    five times faster than JSON's. Values of very long texts are compiled each time.
    """

    def __init__(self, compile_value: Callable[[A], V]) -> None:
        self._compile = compile_value
        self._known: dict[bytes, V] = {}

    def of(self, value: A) -> V:
        """What `value` compiles to."""
        try:
            text = self._text(value)
        except ValueError:  # nested too deeply, or not out of plain JSON types
            return self._compile(value)
        known = self._known.get(text)
        return self._remember(text, self._compile(value)) if known is None else known

    @staticmethod
    def _text(value: Any) -> bytes:
        return marshal.dumps(value, 2)

    def _remember(self, text: bytes, compiled: V) -> V:
        if len(text) <= _LONGEST_TEXT:
            if len(self._known) >= _REMEMBERED_TEXTS:
                self._known.clear()
            self._known[text] = compiled
        return compiled


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
    return _within_bound(annotations)


def _within_bound(annotations: Mapping[str, str]) -> dict[str, str]:
    kept = {}
    room = _MAX_ANNOTATION_BYTES
    for key in sorted(annotations):
        room -= _size(key) + _size(annotations[key])
        if room < 0:
            break
        kept[key] = annotations[key]
    return kept


def _size(text: str) -> int:
    if len(text) > _MAX_ANNOTATION_BYTES:
        return len(text)
    return len(text.encode("utf-8", "surrogatepass"))
