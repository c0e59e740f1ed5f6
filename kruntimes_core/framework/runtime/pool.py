"""The Pods of one Runtime as a runner sees them: each at a position of its own, following the changes.

A position stands for one Pod until that is gone, and is then given to another. So a set of Pods is an
int (see `bits`), and a column of answers is a list.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Set

from kruntimes_core.framework.runtime.bits import flags_of, lowest, mask_of
from kruntimes_core.framework.runtime.changes import Changes
from kruntimes_core.model.pod import RuntimePod
from kruntimes_core.model.snapshot import Pods


class Pool:
    """One Runtime's Pods by position. `turn` grows with each change of one of them."""

    __slots__ = (
        "_ascending",
        "_by_name",
        "_followed",
        "_free",
        "_positions",
        "changes",
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
        self.changes = Changes()
        """Of Pods; that one came is such a change."""
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
        """Bring the positions up to a picture: the next one, or any other of these Pods."""
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

    def mask(self, names: Set[str]) -> int:
        """The set of the Pods with these names; unknown names are left out."""
        positions = self._positions
        return mask_of([positions[name] for name in names if name in positions])

    def smallest(self, mask: int) -> int:
        """The position of the Pod in `mask`, which is not empty, with the smallest name."""
        if self._ascending:
            return lowest(mask)
        flags = flags_of(mask, len(self.pods))
        return next(position for position in self._by_name if flags[position])

    def ordered(self, mask: int) -> list[int]:
        """The positions in `mask` in order of names; not to be changed."""
        if mask == self.present:
            return self._by_name
        flags = flags_of(mask, len(self.pods))
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
        self._positions[name] = position
        self.present |= 1 << position
        place = self._place_by_name(name)
        last = self._by_name[-1] if self._by_name else -1
        self._ascending = not self._by_name or (
            self._ascending and place == len(self._by_name) and position > last
        )
        self._put(position, pod)
        self._by_name.insert(place, position)

    def _put(self, position: int, pod: RuntimePod) -> None:
        self.pods[position] = pod
        self.turn += 1
        self.changes.note(position, self.turn)

    def _remove(self, name: str, position: int) -> None:
        del self._positions[name]
        del self._by_name[self._place_by_name(name)]
        self.present ^= 1 << position
        self.pods[position] = None
        self.turn += 1
        self.changes.forget(position)
        self._free.append(position)

    def _place_by_name(self, name: str) -> int:
        return bisect_left(self._by_name, name, key=lambda position: self.pod(position).name)
