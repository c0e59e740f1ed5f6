"""The column of a filter: which Pods it lets pass, and which it rejects for which reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from kruntimes_core.framework.outcomes import Reject
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.framework.runner import checks
from kruntimes_core.framework.runner.bits import mask_of
from kruntimes_core.framework.runner.columns import Column

Kind = tuple[str, bool]
"""Reason and `elsewhere` of a rejection."""

_UNASKED: Any = object()


class Verdicts(Column):
    """One filter's answers for one state, and the sets of Pods with one kind of answer."""

    __slots__ = ("_rejected", "answers", "passed", "timed")

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[Reject | None] = []
        """By position; stale where the Pod is due."""
        self.passed = 0
        """The set of the Pods that it lets pass."""
        self._rejected: dict[Kind, int] = {}
        self.timed: dict[int, datetime] = {}
        """When a rejection may turn by itself, by position."""

    def rejected(self, among: int) -> Iterator[tuple[Kind, int]]:
        """The kinds of rejection in the set `among`, with how many Pods each."""
        for kind, mask in self._rejected.items():
            if common := mask & among:
                yield kind, common.bit_count()

    def grow(self, size: int) -> None:
        """See `Column`."""
        self.answers.extend([_UNASKED] * (size - self.size))
        self.size = size

    def learn(self, positions: Sequence[int], answers: Sequence[Reject | None]) -> None:
        """See `Column`."""
        known = self.answers
        moved: list[int] = []
        was: Any = None
        now: Reject | None = None
        for position, answer in zip(positions, answers, strict=True):
            before = known[position]
            if answer is before:
                continue
            known[position] = answer
            # Pods are alike: those with the same answers before and after move together.
            if answer is not now or before is not was:
                self._move(moved, was, now)
                moved, was, now = [], before, answer
            moved.append(position)
        self._move(moved, was, now)

    def _move(self, positions: Sequence[int], before: Any, after: Reject | None) -> None:
        if not positions:
            return
        if self.timed or (after is not None and after.again_at is not None):
            self._set_times(positions, after)
        former, latter = _kind(before), _kind(after)
        if former == latter:
            return
        mask = mask_of(positions)
        if former is None:
            self.passed ^= mask
        elif former is not _UNASKED:
            self._rejected[former] ^= mask
            if not self._rejected[former]:
                del self._rejected[former]
        if latter is None:
            self.passed |= mask
        else:
            self._rejected[latter] = self._rejected.get(latter, 0) | mask

    def _set_times(self, positions: Sequence[int], answer: Reject | None) -> None:
        for position in positions:
            if answer is not None and answer.again_at is not None:
                self.timed[position] = answer.again_at
            else:
                self.timed.pop(position, None)


def _kind(answer: Any) -> Any:
    return answer if answer is None or answer is _UNASKED else (answer.reason, answer.elsewhere)


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
