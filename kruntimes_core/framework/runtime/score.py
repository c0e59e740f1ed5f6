"""Score and normalize: the best of the Pods that passed every filter.

Total = sum of normalized * weight; the highest total wins, equal totals go to the smallest name.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from kruntimes_core.framework.profile import ActivePlugin, Profile
from kruntimes_core.framework.runtime import plugin_calls
from kruntimes_core.framework.runtime.pod_set import bits_of, members
from kruntimes_core.framework.runtime.result_cache import HookCache, PlanInputs, PodAnswers

# Raw scores of one scorer that are kept, over all states and Pods: some 120 MB, if all of them differ.
KEPT_ANSWERS = 250_000
# How many more levels without Pods than with Pods are kept: a load that left often comes back.
_VOID_LEVELS = 16

_by_raw = attrgetter("raw")


class _Level:
    """The Pods with one raw score; none any more, if `pods` is 0."""

    __slots__ = ("pods", "raw")

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self.pods = 0


class ScoreAnswers(PodAnswers):
    """One scorer's raw scores for one state, and the sets of Pods whose raw scores are equal.

    Where one scorer alone tells the feasible Pods apart, and the best raw score stays the best, the best Pods
    are the best set that has a feasible one: found without a look at the others.
    """

    __slots__ = ("_at", "_levels", "_live", "_ordered", "raw")

    most = KEPT_ANSWERS

    def __init__(self) -> None:
        super().__init__()
        self.raw: list[Any] = []
        """By position; stale where the Pod is due."""
        self._levels: dict[Any, _Level] | None = {}
        """By raw score; None once one could not be hashed."""
        self._at: list[_Level | None] = []
        """By position."""
        self._live = 0
        """How many levels have Pods."""
        self._ordered: list[_Level] | None = None
        """The levels from the worst to the best; made when it is needed."""

    @property
    def comparable(self) -> bool:
        """Whether equal raw scores are known as such: all of them could be hashed."""
        return self._levels is not None

    @staticmethod
    def check(plugin: ActivePlugin, answers: list[Any]) -> list[Any]:
        """See `PodAnswers`."""
        return plugin_calls.check_scores(plugin, answers)

    def knows(self, position: int, answer: Any) -> bool:
        """See `PodAnswers`."""
        return position < self.size and self.raw[position] is answer

    def grow(self, size: int) -> None:
        """See `PodAnswers`."""
        self.raw.extend([None] * (size - self.size))
        self._at.extend([None] * (size - self.size))
        self.size = size

    def learn(self, positions: Sequence[int], taken: int, answers: list[Any]) -> None:
        """See `PodAnswers`. Raises what hashing or comparing the raw scores raises, but `TypeError`."""
        raw = self.raw
        changed = []
        for position, answer in zip(positions, answers, strict=True):
            if answer is not raw[position]:
                raw[position] = answer
                changed.append(position)
        if changed and self._levels is not None:
            try:
                self._regroup(self._levels, changed)
            except TypeError:
                self._levels = self._ordered = None
            except BaseException:
                self.__init__()  # type: ignore[misc]
                raise

    def tells_apart(self, among: int) -> bool:
        """Whether the Pods in the set `among`, which is not empty, differ in their raw scores."""
        if self._live == 1:
            return False
        level = self._at[among.bit_length() - 1]
        return level is None or level.pods & among != among

    def best(self, among: int) -> int:
        """The set of the best in `among`, which is not empty. Raises what comparing them raises."""
        ordered = self._in_order()
        # From the best down, unless there are far more levels than Pods to look at.
        if ordered is not None and len(ordered) <= 4 * among.bit_count():
            for level in reversed(ordered):
                if common := level.pods & among:
                    return common
        positions = members(among)
        best = max([self.raw[position] for position in positions])
        return bits_of([position for position in positions if self.raw[position] == best])

    def _regroup(self, levels: dict[Any, _Level], changed: list[int]) -> None:
        found: dict[int, _Level] = {}  # by identity: plugins often give one object, which is slow to hash
        for position in changed:
            raw = self.raw[position]
            level = found.get(id(raw))
            if level is None:
                level = found[id(raw)] = levels.get(raw) or self._new_level(levels, raw)
            before = self._at[position]
            if level is before:
                continue
            bit = 1 << position
            if before is not None:
                before.pods ^= bit
                self._live -= not before.pods
            self._live += not level.pods
            level.pods |= bit
            self._at[position] = level
        if len(levels) > 2 * self._live + _VOID_LEVELS:
            self._levels = {raw: level for raw, level in levels.items() if level.pods}
            self._ordered = None

    def _new_level(self, levels: dict[Any, _Level], raw: Any) -> _Level:
        level = levels[raw] = _Level(raw)
        if self._ordered is not None:
            try:
                insort(self._ordered, level, key=_by_raw)
            except Exception:  # noqa: BLE001 - a plugin's comparison: see `_in_order`
                self._ordered = None
        return level

    def _in_order(self) -> list[_Level] | None:
        """The levels in order, or None if they have none.

        Pods among which the Run has no choice may have scores of another kind: that is no error.
        """
        if self._ordered is None and self._levels is not None:
            try:
                self._ordered = sorted(self._levels.values(), key=_by_raw)
            except Exception:  # noqa: BLE001 - what the Run does choose among is compared by itself then
                return None
        return self._ordered


@dataclass(frozen=True, slots=True)
class PodScores:
    """The scores of one Pod, one of each scorer in order."""

    raw: tuple[Any, ...]
    normalized: tuple[int, ...]
    total: int


class Scorers:
    """The scorers of one profile."""

    def __init__(self, profile: Profile, reuse: bool = True) -> None:
        scorers = profile.implementing("score")
        self.caches = tuple(HookCache(profile, plugin, "score", ScoreAnswers, reuse) for plugin in scorers)
        # Whether equal raw scores stay equal, and only the best one becomes the best, for every scorer.
        self._by_raw = reuse and all(
            cache.plugin.normalize_keeps_best or "normalize" not in cache.plugin.hooks
            for cache in self.caches
        )

    def best(self, inputs: PlanInputs, scores: Sequence[ScoreAnswers], feasible: int) -> int:
        """The position of the best Pod in the set `feasible`, which is not empty. Raises `PluginError`.

        scores: the answers for this Run's states.
        """
        self._update(inputs, scores, feasible)
        if self._by_raw and all(answers.comparable for answers in scores):
            telling = [place for place, answers in enumerate(scores) if answers.tells_apart(feasible)]
            if not telling:
                return inputs.pods.first_by_name(feasible)
            if len(telling) == 1:
                return inputs.pods.first_by_name(self._best_raw(telling[0], scores, feasible))
        order = inputs.pods.ordered_by_name(feasible)
        _, totals = self._normalize(inputs, scores, order)
        return order[totals.index(max(totals))]

    def explain(
        self, inputs: PlanInputs, scores: Sequence[ScoreAnswers], feasible: int
    ) -> dict[str, PodScores]:
        """All scores of the Pods in the set `feasible`, by name, for a record. Raises `PluginError`."""
        if not feasible:
            return {}
        self._update(inputs, scores, feasible)
        order = inputs.pods.ordered_by_name(feasible)
        normalized, totals = self._normalize(inputs, scores, order)
        return {
            inputs.pods.pod(position).name: PodScores(
                tuple([answers.raw[position] for answers in scores]),
                tuple([values[number] for values in normalized]),
                totals[number],
            )
            for number, position in enumerate(order)
        }

    def _update(self, inputs: PlanInputs, scores: Sequence[ScoreAnswers], feasible: int) -> None:
        for cache, answers in zip(self.caches, scores, strict=True):
            cache.update(answers, inputs, feasible)

    def _best_raw(self, place: int, scores: Sequence[ScoreAnswers], among: int) -> int:
        """What comparing raw scores raises is an error of the scorer that gave them."""
        try:
            return scores[place].best(among)
        except BaseException as error:  # noqa: BLE001 - as above
            raise plugin_calls.plugin_error(self.caches[place].plugin, "score", error) from None

    def _normalize(
        self, inputs: PlanInputs, scores: Sequence[ScoreAnswers], order: Sequence[int]
    ) -> tuple[list[list[int]], list[int]]:
        """The normalized scores of each scorer, and the totals, for the Pods at these positions."""
        normalized = []
        totals = [0] * len(order)
        for cache, answers in zip(self.caches, scores, strict=True):
            values = _normalized(cache, inputs, [answers.raw[position] for position in order])
            weight = cache.plugin.weight
            totals = [total + value * weight for total, value in zip(totals, values, strict=True)]
            normalized.append(values)
        return normalized, totals


def _normalized(scorer: HookCache[ScoreAnswers], inputs: PlanInputs, raw: list[Any]) -> list[int]:
    plugin = scorer.plugin
    hook = plugin.hooks.get("normalize")
    if hook is None:
        return raw
    state = inputs.state.states[scorer.place]
    try:
        normalize = plugin_calls.positional(hook, plugin_calls.NORMALIZE)
        answer = normalize(tuple(raw), state, inputs.run, inputs.snapshot)
        return plugin_calls.check_normalized_scores(plugin, answer, len(raw))
    except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is its own error
        raise plugin_calls.plugin_error(plugin, "normalize", error) from None
