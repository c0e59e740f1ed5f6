"""The column of a filter: the set of Pods that it lets pass, and the sets that it rejects for one reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from kruntimes_core.framework.outcomes import Reject
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.framework.runtime import checks
from kruntimes_core.framework.runtime.bits import mask_of, members
from kruntimes_core.framework.runtime.columns import Column

Kind = tuple[str, bool]
"""Reason and `pinned_elsewhere` of a rejection."""


class Verdicts(Column):
    """One filter's answers for one state, as sets: a few hundred bytes for a thousand Pods.

    So a hundred thousand waiting Runs with thousands of different requests each keep their answers.
    """

    __slots__ = ("_last", "_rejected", "passed", "timed", "version")

    def __init__(self) -> None:
        super().__init__()
        self.passed = 0
        """The set of the Pods that it lets pass."""
        self._rejected: dict[Kind, int] = {}
        self._last: Reject | None = None
        """What was learned last: Pods that lack the same are rejected with one object."""
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
        if answer is not None and (answer is not self._last or self.timed):
            return False  # only what was checked is known, and times are not looked at here
        return self._stand(1 << position, answer)

    def learn(self, positions: Sequence[int], asked: int, answers: list[Reject | None]) -> None:
        """See `Column`."""
        alike = _alike(positions, asked, answers)
        self._last = answers[-1]
        if len(alike) > 1 or not self._stand(*alike[0]):
            self._take_out(asked)
            for mask, answer in alike:
                self._put_in(mask, answer)
        for mask, answer in alike:
            self._set_times(mask, answer)

    def _stand(self, mask: int, answer: Reject | None) -> bool:
        """Whether these Pods are in the set of this answer already."""
        known = (
            self.passed if answer is None else self._rejected.get((answer.reason, answer.pinned_elsewhere), 0)
        )
        return known & mask == mask

    def _take_out(self, mask: int) -> None:
        self.version += 1
        self.passed ^= self.passed & mask
        for kind, rejected in list(self._rejected.items()):
            if left := rejected ^ (rejected & mask):
                self._rejected[kind] = left
            else:
                del self._rejected[kind]

    def _put_in(self, mask: int, answer: Reject | None) -> None:
        if answer is None:
            self.passed |= mask
        else:
            kind = (answer.reason, answer.pinned_elsewhere)
            self._rejected[kind] = self._rejected.get(kind, 0) | mask

    def _set_times(self, mask: int, answer: Reject | None) -> None:
        if answer is not None and answer.retry_at is not None:
            self.timed.update(dict.fromkeys(members(mask), answer.retry_at))
        elif self.timed:
            for position in members(mask):
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

    def learn(self, positions: Sequence[int], asked: int, answers: list[Reject | None]) -> None:
        """See `Column`."""
        super().learn(positions, asked, answers)
        for position, answer in zip(positions, answers, strict=True):
            if answer is not None:
                self.answers[position] = answer
            else:
                self.answers.pop(position, None)


def _alike(
    positions: Sequence[int], asked: int, answers: Sequence[Reject | None]
) -> list[tuple[int, Reject | None]]:
    """The positions as sets of one answer: Pods are alike, and often all but a few have the same."""
    usual = answers[len(answers) // 2]
    places: Sequence[int] = [place for place, answer in enumerate(answers) if answer is not usual]
    if not places:
        return [(asked, usual)]
    alike = []
    if 2 * len(places) < len(answers):
        # Their set is what the others leave, which is found without a look at each.
        alike.append((asked ^ mask_of([positions[place] for place in places]), usual))
    else:
        places = range(len(answers))
    groups: dict[int, list[int]] = {}
    for place in places:
        groups.setdefault(id(answers[place]), []).append(place)
    for group in groups.values():
        alike.append((mask_of([positions[place] for place in group]), answers[group[0]]))
    return alike


def checked(plugin: ActivePlugin, answers: list[Reject | None]) -> list[Reject | None]:
    """The answers, if all are within the contract. Filters often give one and the same rejection."""
    last = good = None
    for place, answer in enumerate(answers):
        if answer is not last:
            last, good = answer, checks.rejection(plugin, answer)
        if good is not answer:
            answers[place] = good
    return answers
