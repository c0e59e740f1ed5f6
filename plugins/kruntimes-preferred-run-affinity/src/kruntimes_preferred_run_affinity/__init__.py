"""PreferredRunAffinity: the more preferred affinity terms a Pod meets, by weight, the better.

The rule is the API contract's: the weights of the affinity terms with a target on the Pod plus the
weights of the anti-affinity terms with none on it. A preference never makes a Pod infeasible.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from kruntimes_core import Affinity, RuntimePod, Targets, WeightedTerm, hookimpl


@dataclass(frozen=True, slots=True)
class Preferences:
    """The preferred terms of the Runs that share this state."""

    near: tuple[WeightedTerm, ...]
    away: tuple[WeightedTerm, ...]


def weigh(targets: Targets, preferences: Preferences) -> int:
    """The sum of the weights of the terms that a Pod with these targets meets."""
    near = [one.weight for one in preferences.near if targets.any(one.term.selector)]
    away = [one.weight for one in preferences.away if not targets.any(one.term.selector)]
    return sum(near) + sum(away)


def share_of_highest(scores: Sequence[int]) -> list[int]:
    """Each score as whole percents of the highest, rounded down; all 0 when the highest is 0."""
    highest = max(scores, default=0)
    return [score * 100 // highest if highest else 0 for score in scores]


class PreferredRunAffinity:
    """The scorer."""

    host_api: ClassVar[str] = ">=1,<2"
    # raw * 100 // highest is 100 for the highest alone: less than it, rounded down, is at most 99.
    normalize_keeps_best: ClassVar[bool] = True

    @hookimpl
    def prefilter(self, affinity: Affinity) -> Preferences | None:
        """The preferred terms; None for a Run without any."""
        if not affinity.preferred and not affinity.preferred_anti:
            return None
        return Preferences(affinity.preferred, affinity.preferred_anti)

    @hookimpl
    def score(self, pod: RuntimePod, state: Preferences | None) -> int:
        """The raw sum of weights, 0 and up; more is better."""
        return 0 if state is None else weigh(pod.targets, state)

    @hookimpl
    def normalize(self, scores: Sequence[int]) -> list[int]:
        """Percents of the highest raw score among the feasible Pods."""
        return share_of_highest(scores)
