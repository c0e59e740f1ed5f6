"""One difference, as values that can be shown long after: no reference to a snapshot is kept."""

from __future__ import annotations

from dataclasses import dataclass

from kruntimes_core.cluster.comparing.kinds import Hint, Kind
from kruntimes_core.model.run import Run


@dataclass(frozen=True, slots=True)
class Score:
    """What one scorer gave a Pod."""

    raw: str
    normalized: int


@dataclass(frozen=True, slots=True)
class ScorePair:
    """What one scorer gave the Pod that was chosen here, and the one that was chosen there."""

    plugin: str
    weight: int
    ours: Score
    theirs: Score

    @property
    def lead(self) -> int:
        """By how much it favours ours, with its weight."""
        return (self.ours.normalized - self.theirs.normalized) * self.weight


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What was done otherwise with one Run, and which plugin makes the difference."""

    run: Run
    kind: Kind
    ours: str
    """What would be done here: the name of a Pod, or `waiting`, `failed`, ..."""
    theirs: str
    """What the running scheduler did, likewise."""
    plugin: str = ""
    """Whose answer makes the difference; empty where none does."""
    reason: str = ""
    """That plugin's reason, or the host's."""
    detail: str = ""
    scores: tuple[ScorePair, ...] = ()
    """Where scores make the difference: those of every scorer."""
    hints: tuple[Hint, ...] = ()

    @property
    def clear(self) -> bool:
        """Whether nothing speaks for it that it comes from timing."""
        return not self.hints
