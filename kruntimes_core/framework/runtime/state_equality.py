"""When two plugin states are the same state, so that Runs may share what was answered from it.

Equal is not enough: `1 == True` and `(1,) == (1.0,)`, but a plugin may tell them apart. A state is
shared if its type defines equality and hash by value, and equal values have equal types throughout.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta, timezone
from enum import Enum
from typing import Any

from kruntimes_core.model.frozen import FrozenMap
from kruntimes_core.model.selectors import AffinityTerm, LabelSelector, WeightedTerm

# Types whose equal values are indistinguishable. A float is not one of them: 0.0 == -0.0.
_PLAIN = (str, bytes, int, bool, type(None))
# Built-in types whose equal values can differ (zeros, ranges, time zones): compared by their repr.
_SEEN = (float, complex, range, date, datetime, time, timedelta, timezone)
# Values of this project that are compared by value, and whose parts have one type each.
_OURS = (LabelSelector, AffinityTerm, WeightedTerm)
# What an object takes, and what each further member of a tuple or a set does.
_OBJECT_BYTES = 64
_MEMBER_BYTES = 16


class StateKey:
    """A key whose hash is taken once: each decision looks it up in the result cache."""

    __slots__ = ("_hash", "_key", "size")

    def __init__(self, key: Hashable, unknown: int = _OBJECT_BYTES) -> None:
        """unknown: bytes that a part is taken to have whose type tells no size."""
        self._key = key
        self._hash = hash(key)
        self.size = _size(key, unknown)
        """About how many bytes it takes, with the state that it is the key of."""

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, StateKey) and self._key == other._key)

    def __hash__(self) -> int:
        return self._hash


class Unshared:
    """The key of a state that belongs to its Run: equal to nothing but itself."""

    __slots__ = ()


class _Declared:
    """The key of a state whose own type says what is equal.

    The host looks keys up in many tables, on more than one thread, where an error of a plugin must not be
    raised: the hash is taken once, and what cannot be compared is not equal.
    """

    __slots__ = ("_hash", "_state")

    def __init__(self, state: Any, state_hash: int) -> None:
        self._state = state
        self._hash = state_hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, _Declared) or type(self._state) is not type(other._state):
            return False
        try:
            return bool(self._state == other._state)
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001 - a plugin's __eq__
            return False

    def __hash__(self) -> int:
        return self._hash


def share_key(state: Any) -> Hashable:
    """A key that is equal for states that may be shared, and for those alone."""
    kind = type(state)
    if kind in _PLAIN or kind in _OURS:
        return (kind, state)
    if isinstance(state, tuple):
        return (kind, *_members(state, tuple))
    if kind is frozenset:
        return (kind, *_members(state, frozenset))
    if isinstance(state, FrozenMap):
        plain = (_plain_type(state.keys()), _plain_type(state.values()))
        if None not in plain and getattr(kind, "__eq__", None) is FrozenMap.__eq__:
            return (kind, plain, state)
        return (kind, frozenset([(share_key(key), share_key(value)) for key, value in state.items()]))
    if isinstance(state, Enum):
        return (kind, state.name)
    if is_dataclass(state) and _by_value(kind):
        return (kind, tuple([share_key(getattr(state, part.name)) for part in fields(state)]))
    return _declared(state)


def _members(state: Any, made: Callable[[Iterable[Hashable]], Hashable]) -> tuple[Hashable, ...]:
    """The members of a tuple or a set: as they are where all have one type, which saves memory."""
    plain = _plain_type(state)
    if plain is not None:
        return (plain, made(state))
    return (made([share_key(part) for part in state]),)


def _plain_type(values: Iterable[object]) -> type | None:
    """The type of all of them, if there is one whose equal values are indistinguishable."""
    kinds = set(map(type, values))
    return kinds.pop() if len(kinds) == 1 and not kinds.isdisjoint((*_PLAIN, *_OURS)) else None


def _size(key: object, unknown: int) -> int:
    """About how many bytes a key takes, as `share_key` makes them."""
    if isinstance(key, AffinityTerm):
        return 2 * _OBJECT_BYTES + len(key.selector)
    if isinstance(key, WeightedTerm):
        return 3 * _OBJECT_BYTES + len(key.term.selector)
    if isinstance(key, tuple):
        return _OBJECT_BYTES + sum([_MEMBER_BYTES + _size(part, unknown) for part in key])
    if isinstance(key, FrozenMap):
        items = [part for item in key.items() for part in item]
        return _OBJECT_BYTES + sum([_MEMBER_BYTES + _size(part, unknown) for part in items])
    if isinstance(key, frozenset):
        return _OBJECT_BYTES + sum([2 * _MEMBER_BYTES + _size(part, unknown) for part in key])
    if isinstance(key, str | bytes):
        return _OBJECT_BYTES + len(key)
    if isinstance(key, StateKey):
        return key.size
    return unknown if isinstance(key, Unshared | _Declared) else 0


def _by_value(kind: type) -> bool:
    """Whether a dataclass is frozen and compares all that it holds."""
    parameters = getattr(kind, "__dataclass_params__")  # noqa: B009 - typeshed hides it
    compared = all(part.compare for part in fields(kind))
    return bool(parameters.frozen and parameters.eq and compared)


def _declared(state: Any) -> Hashable:
    """The key of a type that says itself what equality means, else one for this Run alone."""
    kind = type(state)
    own_hash = getattr(kind, "__hash__", None)
    own_equality = getattr(kind, "__eq__", None)
    if own_hash in (None, object.__hash__) or own_equality is object.__eq__:
        return Unshared()
    if kind in _SEEN:
        return (kind, repr(state))
    try:
        return _Declared(state, hash(state))
    except Exception:  # noqa: BLE001 - a plugin's __hash__
        return Unshared()
