"""When two plugin states are the same state, so that Runs may share what was answered from it.

Equal is not enough: `1 == True` and `(1,) == (1.0,)`, but a plugin may tell them apart. A state is
shared if its type defines equality and hash by value, and equal values have equal types throughout.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta, timezone
from enum import Enum
from typing import Any

from kruntimes_core.model.frozen import FrozenMap
from kruntimes_core.model.selectors import LabelSelector

# Types whose equal values are indistinguishable. A float is not one of them: 0.0 == -0.0.
_PLAIN = (str, bytes, int, bool, type(None))
# Built-in types whose equal values can differ (zeros, ranges, time zones): compared by their repr.
_SEEN = (float, complex, range, date, datetime, time, timedelta, timezone)
# Values of this project that are compared by value and hold strings alone.
_OURS = (LabelSelector,)


class StateKey:
    """A key whose hash is taken once: each decision looks it up in the result cache."""

    __slots__ = ("_hash", "_key")

    def __init__(self, key: Hashable) -> None:
        self._key = key
        self._hash = hash(key)

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
        return (kind, tuple([share_key(part) for part in state]))
    if kind is frozenset:
        return (kind, frozenset([share_key(part) for part in state]))
    if isinstance(state, FrozenMap):
        return (kind, frozenset([(share_key(key), share_key(value)) for key, value in state.items()]))
    if isinstance(state, Enum):
        return (kind, state.name)
    if is_dataclass(state) and _by_value(kind):
        return (kind, tuple([share_key(getattr(state, part.name)) for part in fields(state)]))
    return _declared(state)


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
