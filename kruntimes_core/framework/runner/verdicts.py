"""The column of a filter: the set of Pods that it lets pass, and the sets that it rejects for one reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from kruntimes_core.framework.outcomes import Reject
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.framework.runner import checks
from kruntimes_core.framework.runner.bits import mask_of
from kruntimes_core.framework.runner.columns import Column

Kind = tuple[str, bool]
"""Reason and `elsewhere` of a rejection."""


class Verdicts(Column):
    """One filter's answers for one state, as sets: a few hundred bytes for a thousand Pods.

    So a hundred thousand waiting Runs with thousands of different requests each keep their answers.
    """

    __slots__ = ("_rejected", "passed", "timed", "version")

    def __init__(self) -> None:
        super().__init__()
        self.passed = 0
        """The set of the Pods that it lets pass."""
        self._rejected: dict[Kind, int] = {}
        self.timed: dict[int, datetime] = {}
        """When a rejection may turn by itself, by position."""
        self.version = 0
        """Grows with each change of one of the sets."""

    def rejected(self, among: int) -> Iterator[tuple[Kind, int]]:
        """The kinds of rejection in the set `among`, with how many Pods each."""
        for kind, mask in self._rejected.items():
            if common := mask & among:
                yield kind, common.bit_count()

    def knows(self, position: int, answer: Reject | None) -> bool:
        """See `Column`."""
        return answer is None and self.passed >> position & 1 == 1

    def learn(self, positions: Sequence[int], answers: Sequence[Reject | None]) -> None:
        """See `Column`."""
        self._set_times(positions, answers)
        if len(positions) == 1 and self._stands(positions[0], answers[0]):
            return
        self.version += 1
        gone = mask_of(positions)
        self.passed = self.passed & gone ^ self.passed
        for kind, mask in list(self._rejected.items()):
            if common := mask & gone:
                self._rejected[kind] = mask ^ common
        for answer, group in _alike(positions, answers):
            if answer is None:
                self.passed |= mask_of(group)
            else:
                kind = (answer.reason, answer.elsewhere)
                self._rejected[kind] = self._rejected.get(kind, 0) | mask_of(group)
        if not all(self._rejected.values()):
            self._rejected = {kind: mask for kind, mask in self._rejected.items() if mask}

    def _stands(self, position: int, answer: Reject | None) -> bool:
        """Whether the Pod is in the set that it belongs to already."""
        if answer is None:
            return self.knows(position, answer)
        return self._rejected.get((answer.reason, answer.elsewhere), 0) >> position & 1 == 1

    def _set_times(self, positions: Sequence[int], answers: Sequence[Reject | None]) -> None:
        for position, answer in zip(positions, answers, strict=True):
            if answer is not None and answer.again_at is not None:
                self.timed[position] = answer.again_at
            elif self.timed:
                self.timed.pop(position, None)


class Recorded(Verdicts):
    """The same with the answers themselves, by position, for a record."""

    __slots__ = ("answers",)

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[int, Reject] = {}

    def knows(self, position: int, answer: Reject | None) -> bool:
        """See `Column`."""
        return position not in self.answers and super().knows(position, answer)

    def learn(self, positions: Sequence[int], answers: Sequence[Reject | None]) -> None:
        """See `Column`."""
        super().learn(positions, answers)
        for position, answer in zip(positions, answers, strict=True):
            if answer is not None:
                self.answers[position] = answer
            else:
                self.answers.pop(position, None)


def _alike(
    positions: Sequence[int], answers: Sequence[Reject | None]
) -> Iterator[tuple[Reject | None, list[int]]]:
    """The positions in groups of one answer: Pods are alike, and so are their neighbours' answers."""
    group: list[int] = []
    last: Reject | None = None
    for position, answer in zip(positions, answers, strict=True):
        if answer is not last and group:
            yield last, group
            group = []
        last = answer
        group.append(position)
    yield last, group


def checked(plugin: ActivePlugin, answers: list[Reject | None]) -> list[Reject | None]:
    """The answers, if all are within the contract. Filters often give one and the same rejection."""
    last = None
    for place, answer in enumerate(answers):
        if answer is not None:
            if answer is not last:
                answers[place] = checks.rejection(plugin, answer)
            else:
                answers[place] = answers[place - 1]
        last = answer
    return answers
