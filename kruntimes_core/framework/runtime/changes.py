"""When the Pods of a pool changed, so that a column finds what changed since it looked."""

from __future__ import annotations

from kruntimes_core.framework.runtime.bits import mask_of


class Changes:
    """The last change of each Pod, in turns of the pool."""

    __slots__ = ("_last_asked", "_last_found", "_turns")

    def __init__(self) -> None:
        self._turns: dict[int, int] = {}
        """By position, the latest at the end."""
        self._last_asked: int | None = None
        """After which turn, if nothing was noted since."""
        self._last_found: tuple[list[int], int] = ([], 0)

    def note(self, position: int, turn: int) -> None:
        """It changed at this turn, which is not before the last one that was noted."""
        self._turns.pop(position, None)
        self._turns[position] = turn
        self._last_asked = None

    def forget(self, position: int) -> None:
        """There is no Pod any more."""
        self._turns.pop(position, None)
        self._last_asked = None

    def after(self, turn: int) -> tuple[list[int], int]:
        """The positions where it changed after `turn`, each once, by their last changes; and their set.

        Not to be changed: most columns ask after the same turn.
        """
        if self._last_asked != turn:
            self._last_asked = turn
            self._last_found = self._look_back(turn)
        return self._last_found

    def _look_back(self, turn: int) -> tuple[list[int], int]:
        changed = []
        for position, at in reversed(self._turns.items()):
            if at <= turn:
                break
            changed.append(position)
        changed.reverse()
        return changed, mask_of(changed)
