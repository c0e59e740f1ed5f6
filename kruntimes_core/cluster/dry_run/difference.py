"""One difference between two schedulers, as values: it keeps no reference to a snapshot."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kruntimes_core.engine.decisions import Decision, Outcome
from kruntimes_core.model.run import Run


class DifferenceKind(StrEnum):
    """What the running scheduler did otherwise."""

    POD_REJECTED = "pod_rejected"
    """It placed the Run on a Pod that a plugin here rejected."""
    POD_SCORED_LOWER = "pod_scored_lower"
    """It placed the Run on a Pod that has a lower total here."""
    POD_TIED = "pod_tied"
    """It placed the Run on a Pod with the same total; here the smallest name is chosen."""
    POD_UNKNOWN = "pod_unknown"
    """It placed the Run on a Pod that was not known here when it was decided."""
    PLACED_WAITING = "placed_waiting"
    """It placed a Run that waits here: a plugin rejects that Pod."""
    PLACED_HELD_BACK = "placed_held_back"
    """It placed a Run that is left alone here for now: a retry delay, a backoff, a deletion."""
    PLACED_ENDED = "placed_ended"
    """It placed a Run that would be failed or cancelled here."""
    ENDED = "ended"
    """It failed or cancelled a Run that would be placed here, or wait."""
    ENDED_OTHERWISE = "ended_otherwise"
    """It failed a Run that would be cancelled here, or cancelled one that would be failed."""
    LEFT_WAITING = "left_waiting"
    """It did not place, in time, a Run that would be placed here."""
    LEFT_UNENDED = "left_unended"
    """It did not end, in time, a Run that would be failed or cancelled here."""
    UNEXPLAINED = "unexplained"
    """It placed the Run on another Pod, and the plugins, called again, do not tell why."""


class Hint(StrEnum):
    """What speaks for it that a difference comes from timing and not from rules."""

    TIMING = "timing"
    """By what was known when its choice was seen, the same Pod would be chosen here."""
    FOLLOWS = "follows"
    """Another Run counted here on a Pod on which it was not placed when this one was decided, or holds the
    room for which a Pod is rejected: an earlier difference may be all there is."""


class NotCompared(StrEnum):
    """Why what the running scheduler did with a Run was not compared."""

    BEFORE = "before"
    """It was done before this scheduler had decided, or decided anew after a change."""
    LATE = "late"
    """It was done after it had been reported as left."""
    CHANGED = "changed"
    """The Run changed meanwhile, and was decided anew."""
    GONE = "gone"
    """The Run was deleted meanwhile."""
    GAP = "gap"
    """This scheduler was not following when it was done."""
    STOPPED = "stopped"
    """This scheduler stopped meanwhile."""


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
    kind: DifferenceKind
    ours: str
    """What would be done here: the name of a Pod, or `waiting`, `failed`, ..."""
    theirs: str
    """What the running scheduler did, likewise."""
    plugin: str = ""
    """Whose answer makes the difference; empty where none does."""
    reason: str = ""
    """The reason of that plugin, or of the host."""
    detail: str = ""
    scores: tuple[ScorePair, ...] = ()
    """Where scores make the difference: those of every scorer."""
    hints: tuple[Hint, ...] = ()

    @property
    def clear(self) -> bool:
        """Whether nothing speaks for it that it comes from timing."""
        return not self.hints


def ours(decision: Decision) -> str:
    """What was decided, in one word: the name of a Pod, or the outcome."""
    if decision.outcome is Outcome.SCHEDULED and decision.pod is not None:
        return decision.pod.name
    return decision.outcome.lower()
