"""Filter: the Pods go through the filters in order, and what each rejects is left out.

A filter is called for a Pod only if every filter before it let the Pod pass.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from kruntimes_core.framework.hookspecs import Reject
from kruntimes_core.framework.profile import ActivePlugin, Profile
from kruntimes_core.framework.runtime import plugin_calls
from kruntimes_core.framework.runtime.plan_results import Verdict
from kruntimes_core.framework.runtime.pod_set import PodSet, bits_of, members
from kruntimes_core.framework.runtime.result_cache import HookCache, PlanInputs, PodAnswers
from kruntimes_core.framework.runtime.waiting_message import (
    RejectionKind,
    WaitingMessage,
    choose_waiting_message,
)

# Answers of one filter that are kept, over all states and Pods: some 20 MB of bits at the most, or 25 MB
# where each answer is kept whole.
KEPT_ANSWERS = 40_000_000
KEPT_WHOLE = 250_000


class FilterAnswers(PodAnswers):
    """One filter's answers for one state, as sets: a few hundred bytes for a thousand Pods.

    So a hundred thousand waiting Runs with thousands of different requests each keep their answers.
    """

    __slots__ = ("_last", "_rejected", "passed", "version")

    most = KEPT_ANSWERS

    def __init__(self) -> None:
        super().__init__()
        self.passed = 0
        """The set of the Pods that it lets pass."""
        self._rejected: dict[RejectionKind, int] = {}
        self._last: Reject | None = None
        """The last answer: plugins often reject many Pods with one object."""
        self.version = 0
        """Grows with each change of one of the sets."""

    def rejected(self, among: int) -> Iterator[tuple[RejectionKind, int]]:
        """The kinds of rejection in the set `among`, with how many Pods each."""
        for kind, rejected in self._rejected.items():
            if common := rejected & among:
                yield kind, common.bit_count()

    @staticmethod
    def check(plugin: ActivePlugin, answers: list[Reject | None]) -> list[Reject | None]:
        """See `PodAnswers`. Filters often give one and the same rejection."""
        last = good = None
        for place, answer in enumerate(answers):
            if answer is not last:
                last, good = answer, plugin_calls.check_rejection(plugin, answer)
            if good is not answer:
                answers[place] = good
        return answers

    def knows(self, position: int, answer: Reject | None) -> bool:
        """See `PodAnswers`. Only what was checked is known."""
        if answer is None:
            return bool(self.passed >> position & 1)
        return answer is self._last and self._has(_kind(answer), 1 << position)

    def learn(self, positions: Sequence[int], taken: int, answers: list[Reject | None]) -> None:
        """See `PodAnswers`."""
        self._last = answers[-1]
        alike = _alike(positions, taken, answers)
        if all([self._has(kind, pods) for kind, pods in alike.items()]):  # noqa: C419 - faster
            return
        self.version += 1
        self.passed &= ~taken
        for known, rejected in list(self._rejected.items()):
            self._put(known, rejected & ~taken)
        for kind, pods in alike.items():
            if kind is None:
                self.passed |= pods
            else:
                self._put(kind, self._rejected.get(kind, 0) | pods)

    def _has(self, kind: RejectionKind | None, pods: int) -> bool:
        """Whether these Pods are in the set of this kind already."""
        known = self.passed if kind is None else self._rejected.get(kind, 0)
        return known & pods == pods

    def _put(self, kind: RejectionKind, pods: int) -> None:
        if pods:
            self._rejected[kind] = pods
        else:
            del self._rejected[kind]


def _kind(answer: Reject | None) -> RejectionKind | None:
    return None if answer is None else (answer.reason, answer.pinned_elsewhere, answer.retry_at)


def _alike(
    positions: Sequence[int], taken: int, answers: list[Reject | None]
) -> dict[RejectionKind | None, int]:
    """The positions as sets by kind of rejection, None for Pods that pass; often all but a few are alike."""
    usual = answers[len(answers) // 2]
    others = [place for place, answer in enumerate(answers) if answer is not usual]
    if not others:
        return {_kind(usual): taken}
    kinds: dict[RejectionKind | None, list[int]] = {}
    for place in others:
        kinds.setdefault(_kind(answers[place]), []).append(positions[place])
    alike = {kind: bits_of(found) for kind, found in kinds.items()}
    for pods in list(alike.values()):
        taken ^= pods
    alike[_kind(usual)] = alike.get(_kind(usual), 0) | taken
    return alike


class WholeFilterAnswers(FilterAnswers):
    """The same with the rejections themselves, by position, for a record."""

    __slots__ = ("rejections",)

    most = KEPT_WHOLE

    def __init__(self) -> None:
        super().__init__()
        self.rejections: dict[int, Reject] = {}

    def knows(self, position: int, answer: Reject | None) -> bool:
        """See `PodAnswers`. A rejection of the same kind may have another detail."""
        return position not in self.rejections and super().knows(position, answer)

    def learn(self, positions: Sequence[int], taken: int, answers: list[Reject | None]) -> None:
        """See `PodAnswers`."""
        super().learn(positions, taken, answers)
        for position, answer in zip(positions, answers, strict=True):
            if answer is not None:
                self.rejections[position] = answer
            else:
                self.rejections.pop(position, None)


@dataclass(slots=True)
class Rejecting:
    """A filter that rejected some of the Pods that came to it."""

    place: int
    """Of the plugin among the filters."""
    answers: FilterAnswers
    came: int
    """The set of the Pods that all filters before it had let pass."""


@dataclass(slots=True)
class FilterResult:
    """The Pods that passed all filters, and where the others were rejected."""

    feasible: int
    rejecting: list[Rejecting]

    def verdicts(self, pods: PodSet) -> dict[str, Verdict]:
        """Each Pod's first rejection, or None, by name; of filters whose answers are kept whole."""
        verdicts: dict[str, Verdict] = dict.fromkeys(
            [pods.pod(position).name for position in members(pods.present)]
        )
        for step in self.rejecting:
            rejections = step.answers.rejections if isinstance(step.answers, WholeFilterAnswers) else {}
            for position in members(step.came & ~step.answers.passed):
                verdicts[pods.pod(position).name] = (step.place, rejections[position])
        return verdicts

    def made_from(self) -> tuple[Hashable, ...]:
        """What decides how many Pods each filter rejects and why, besides which Pods there are."""
        return (self.feasible, *[(step.place, step.answers.version) for step in self.rejecting])


class Filters:
    """The filters of one profile."""

    def __init__(self, profile: Profile, reuse: bool = True, whole: bool = False) -> None:
        """whole: keep each rejection, so that verdicts can be had."""
        new = WholeFilterAnswers if whole else FilterAnswers
        self._plugins = profile.implementing("filter")
        self.caches = tuple(HookCache(profile, plugin, "filter", new, reuse) for plugin in self._plugins)

    def run(self, inputs: PlanInputs, filters: Sequence[FilterAnswers], among: int) -> FilterResult:
        """Let the Pods in the set `among` through the filters. Raises `PluginError`.

        filters: the answers for this Run's states.
        """
        rejecting = []
        for place, answers in enumerate(filters):
            if not among:
                break
            self.caches[place].update(answers, inputs, among)
            passed = among & answers.passed
            if passed != among:
                rejecting.append(Rejecting(place, answers, among))
                among = passed
        return FilterResult(among, rejecting)

    def counted(self, result: FilterResult) -> dict[tuple[str, str], int]:
        """(plugin, reason) -> how many Pods; an answer of the cache counts like a new one."""
        counts: dict[tuple[str, str], int] = {}
        for step in result.rejecting:
            name = self._plugins[step.place].name
            for (reason, _, _), number in step.answers.rejected(step.came):
                counts[name, reason] = counts.get((name, reason), 0) + number
        return counts

    def retry_times(self, result: FilterResult) -> list[tuple[datetime, str]]:
        """When rejections may turn by themselves, each with the plugin that names the time."""
        return [
            (retry_at, self._plugins[step.place].name)
            for step in result.rejecting
            for (_, _, retry_at), _ in step.answers.rejected(step.came)
            if retry_at is not None
        ]

    def waiting_message(self, result: FilterResult, runtime: str) -> WaitingMessage:
        """Why the Run waits, where no Pod passed."""
        rejections = [
            (step.place, kind) for step in result.rejecting for kind, _ in step.answers.rejected(step.came)
        ]
        return choose_waiting_message(self._plugins, rejections, runtime)
