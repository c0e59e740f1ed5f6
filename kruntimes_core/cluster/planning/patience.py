"""For how long the loop waits for a plan before it goes on and lets itself be told of it."""

from __future__ import annotations

MOMENT_SECONDS = 0.002
"""Most plans take a tenth of that, and being told of their end by a turn of the loop costs more."""
UNATTENDED = 16
"""So many plans are not waited for after one that took longer: those that follow will most likely, too."""


class Patience:
    """Says it for one plan after another. What waits longer than plans take keeps the loop from its work."""

    def __init__(self, moment_seconds: float = MOMENT_SECONDS) -> None:
        """moment_seconds: the longest to wait for one plan."""
        self._moment = moment_seconds
        self._unattended = 0

    def next(self) -> float:
        """Seconds to wait for the next plan."""
        if not self._unattended:
            return self._moment
        self._unattended -= 1
        return 0.0

    def late(self, waited: float) -> None:
        """A plan was not done in the time that `next` said."""
        if waited:
            self._unattended = UNATTENDED
