"""The verdicts on a Runtime's Pods for one set of plugin states, following the changes.

A table is asked again and again for Runs with equal states. Between two times it looks only at the
Pods that changed, so the second decision on a thousand Pods costs as much as the changes since.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kruntimes_core.framework.outcomes import Reject
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.framework.runner.ranking import Ranking
from kruntimes_core.model.pod import RuntimePod
from kruntimes_core.model.snapshot import Mark, Pods

FilterCall = Callable[[RuntimePod], Reject | None]
ScoreCall = Callable[[RuntimePod], Any]
Verdict = tuple[int, Reject] | None


@dataclass(frozen=True, slots=True)
class Questions:
    """The filters and scorers of one cycle, bound to its Run and snapshot."""

    filters: tuple[FilterCall, ...]
    scores: tuple[ScoreCall, ...]


class Table:
    """Each Pod's first rejection, or its raw scores, for one set of states."""

    def __init__(self, ranking: Ranking) -> None:
        self.ranking = ranking
        self.verdicts: dict[str, Verdict] = {}
        self.rejected: Counter[tuple[int, str, bool]] = Counter()
        """(place of the filter, reason, elsewhere) -> how many Pods."""
        self._judged: dict[str, RuntimePod] = {}
        self._unscored: dict[str, RuntimePod] = {}
        self._again: dict[str, datetime] = {}
        self.mark: Mark | None = None

    def follow(self, pods: Pods, questions: Questions, afresh: bool) -> None:
        """Judge the Pods that changed since the last time, or all of them when `afresh`."""
        judged = self._judged
        for name in self._to_judge(pods, afresh):
            pod = pods.get(name)
            if pod is None:
                self._forget(name)
            elif afresh or judged.get(name) is not pod:
                self._judge(name, pod, questions.filters)
        self.mark = pods.mark

    def score(self, questions: Questions, afresh: bool) -> None:
        """Ask the scorers for each feasible Pod that has no scores yet, or for all `afresh`."""
        if afresh:
            self._unscored = {name: pod for name, pod in self._judged.items() if not self.verdicts[name]}
            self.ranking.clear()
        for name, pod in list(self._unscored.items()):
            self.ranking.add(name, tuple([ask(pod) for ask in questions.scores]))
            del self._unscored[name]

    @property
    def feasible(self) -> int:
        """How many Pods passed every filter."""
        return len(self._unscored) + len(self.ranking)

    def again_at(self, now: datetime) -> datetime | None:
        """The earliest time after `now` at which a rejection may turn."""
        return min((at for at in self._again.values() if at > now), default=None)

    def pod(self, name: str) -> RuntimePod:
        """The Pod as it was judged."""
        return self._judged[name]

    def _to_judge(self, pods: Pods, afresh: bool) -> Iterable[str]:
        changed = pods.changed_since(self.mark) if self.mark is not None and not afresh else None
        if changed is not None:
            return dict.fromkeys(changed)
        return sorted({*pods, *self._judged})

    def _judge(self, name: str, pod: RuntimePod, filters: tuple[FilterCall, ...]) -> None:
        verdict: Verdict = None
        for place, ask in enumerate(filters):
            answer = ask(pod)
            if answer is not None:
                verdict = (place, answer)
                break
        # A Pod that was rejected mostly still is, for the same reason: nothing to count then.
        if verdict is None or self.verdicts.get(name) != verdict:
            self._forget(name)
            self._enter(name, pod, verdict)
        self._judged[name] = pod

    def _enter(self, name: str, pod: RuntimePod, verdict: Verdict) -> None:
        self.verdicts[name] = verdict
        if verdict is None:
            self._unscored[name] = pod
            return
        place, answer = verdict
        self.rejected[place, answer.reason, answer.elsewhere] += 1
        if answer.again_at is not None:
            self._again[name] = answer.again_at

    def _forget(self, name: str) -> None:
        if self._judged.pop(name, None) is None:
            return
        verdict = self.verdicts.pop(name)
        if verdict is None:
            if self._unscored.pop(name, None) is None:
                self.ranking.drop(name)
            return
        place, answer = verdict
        key = (place, answer.reason, answer.elsewhere)
        self.rejected[key] -= 1
        if not self.rejected[key]:
            del self.rejected[key]
        self._again.pop(name, None)


def furthest(
    rejected: Counter[tuple[int, str, bool]], filters: tuple[ActivePlugin, ...]
) -> tuple[int, str] | None:
    """The headline's filter (its place) and reason: of the Pods that got furthest in the order of filters.

    Pods that the Run is not tied to (`elsewhere`) count only if there are no others; among the
    reasons of one plugin the first declared one wins, so that the text does not follow numbers.
    """
    here = [key for key in rejected if not key[2]] or list(rejected)
    if not here:
        return None
    place = max(key[0] for key in here)
    given = {reason for at, reason, _ in here if at == place}
    return place, next(reason for reason in filters[place].reasons if reason in given)
