"""A clock for measuring that goes on only when it is told to, so that times are the same on any machine."""

from __future__ import annotations


class Ticks:
    """Nanoseconds; what takes time is only what `spend` says."""

    def __init__(self) -> None:
        self._nanoseconds = 0

    def __call__(self) -> int:
        return self._nanoseconds

    def spend(self, nanoseconds: int) -> None:
        """Let time pass."""
        self._nanoseconds += nanoseconds
