"""The Pods of one Runtime, each at a position, and when each of them changed last.

A position stands for one Pod until that is gone, and is then given to another. So a set of Pods is the bits
of one int: a thousand Pods are 128 bytes, and an intersection is one `&`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Set
from itertools import compress

from kruntimes_core.model.pod import RuntimePod
from kruntimes_core.model.snapshot import Pods

# Bits for each member, from where on taking members out one by one is faster than a look at each bit.
_SPARSE = 16
_FLAGS = bytes.maketrans(b"01", b"\0\1")


def bits_of(positions: Iterable[int]) -> int:
    """The set with these members."""
    bits = 0
    for position in positions:
        bits |= 1 << position
    return bits


def members(bits: int) -> list[int]:
    """The members of a set in ascending order."""
    length, number = bits.bit_length(), bits.bit_count()
    if number == 1:  # one Pod changed: so it is nearly always
        return [length - 1]
    if number * _SPARSE > length:
        return list(compress(range(length), _flags(bits, length)))
    found = []
    while bits:
        found.append(bits.bit_length() - 1)
        bits ^= 1 << found[-1]
    return found[::-1]


def _flags(bits: int, length: int) -> bytes:
    """A byte for each of `length` positions: 1 for a member, else 0. `bits` has no members beyond."""
    return f"{bits:0{length}b}"[::-1].encode().translate(_FLAGS)


class PodSet:
    """One Runtime's Pods by position. `turn` grows with each change of one of them."""

    __slots__ = (
        "_ascending",
        "_by_name",
        "_changed_at",
        "_followed",
        "_free",
        "_positions",
        "pods",
        "present",
        "turn",
    )

    def __init__(self) -> None:
        self.pods: list[RuntimePod | None] = []
        """By position; None where there is no Pod now."""
        self.present = 0
        """The set of all Pods."""
        self.turn = 0
        self._changed_at: dict[int, int] = {}
        """The turn of the last change, by position, the latest at the end."""
        self._positions: dict[str, int] = {}
        self._free: list[int] = []
        self._by_name: list[int] = []
        """All positions, in order of the names of their Pods."""
        self._ascending = True
        """Whether that is the order of positions too, as it is until Pods come and go."""
        self._followed: Pods | None = None

    def __len__(self) -> int:
        return len(self._positions)

    def follow(self, pods: Pods) -> None:
        """Bring the positions up to a snapshot's Pods: the next ones, or any others of this Runtime."""
        if pods is self._followed:
            return
        for name in self._to_look_at(pods):
            pod = pods.get(name)
            position = self._positions.get(name)
            if pod is None:
                if position is not None:
                    self._remove(name, position)
            elif position is None:
                self._add(name, pod)
            elif self.pods[position] is not pod:
                self._put(position, pod)
        self._followed = pods

    def pod(self, position: int) -> RuntimePod:
        """The Pod at a position. Raises `LookupError` where there is none."""
        pod = self.pods[position]
        if pod is None:
            raise LookupError(f"no pod at position {position}")
        return pod

    def named(self, names: Set[str]) -> int:
        """The set of the Pods with these names; unknown names are left out."""
        positions = self._positions
        return bits_of([positions[name] for name in names if name in positions])

    def changed_after(self, turn: int) -> int:
        """The set of the Pods that came or changed after `turn`."""
        if turn == 0:
            return self.present
        changed = 0
        for position, at in reversed(self._changed_at.items()):
            if at <= turn:
                break
            changed |= 1 << position
        return changed

    def first_by_name(self, among: int) -> int:
        """The position of the Pod with the smallest name, in the set `among`, which is not empty."""
        if self._ascending:
            return (among & -among).bit_length() - 1
        flags = _flags(among, len(self.pods))
        return next(position for position in self._by_name if flags[position])

    def ordered_by_name(self, among: int) -> list[int]:
        """The positions in the set `among` in order of names. Not to be changed."""
        if among == self.present:
            return self._by_name
        flags = _flags(among, len(self.pods))
        return [position for position in self._by_name if flags[position]]

    def _to_look_at(self, pods: Pods) -> Iterable[str]:
        changed = pods.changed_since(self._followed.mark) if self._followed is not None else None
        if changed is None:
            return sorted({*pods, *self._positions})
        return changed if len(changed) == 1 else dict.fromkeys(changed)

    def _add(self, name: str, pod: RuntimePod) -> None:
        if self._free:
            position = self._free.pop()
        else:
            position = len(self.pods)
            self.pods.append(None)
        place = self._place_by_name(name)
        last = self._by_name[-1] if self._by_name else -1
        self._ascending = not self._by_name or (
            self._ascending and place == len(self._by_name) and position > last
        )
        self._by_name.insert(place, position)
        self._positions[name] = position
        self.present |= 1 << position
        self._put(position, pod)

    def _put(self, position: int, pod: RuntimePod) -> None:
        self.pods[position] = pod
        self.turn += 1
        self._changed_at.pop(position, None)
        self._changed_at[position] = self.turn

    def _remove(self, name: str, position: int) -> None:
        del self._by_name[self._place_by_name(name)]
        del self._positions[name]
        self.present ^= 1 << position
        self.pods[position] = None
        self.turn += 1
        self._changed_at.pop(position)
        self._free.append(position)

    def _place_by_name(self, name: str) -> int:
        return bisect_left(self._by_name, name, key=lambda position: self.pod(position).name)
