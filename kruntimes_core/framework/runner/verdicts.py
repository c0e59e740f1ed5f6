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
        moves: dict[tuple[Any, Any], list[int]] = {}
        for position, answer in zip(positions, answers, strict=True):
            before = known[position]
            if answer is before:
                continue
            known[position] = answer
            if answer is not None and answer.again_at is not None:
                self.timed[position] = answer.again_at
            elif self.timed:
                self.timed.pop(position, None)
            moves.setdefault((_kind(before), _kind(answer)), []).append(position)
        for (before, after), moved in moves.items():
            if before != after:
                self._move(mask_of(moved), before, after)

    def _move(self, mask: int, before: Any, after: Kind | None) -> None:
        rejected = self._rejected
        if before is None:
            self.passed ^= mask
        elif before is not _UNASKED:
            rejected[before] ^= mask
            if not rejected[before]:
                del rejected[before]
        if after is None:
            self.passed |= mask
        else:
            rejected[after] = rejected.get(after, 0) | mask


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
