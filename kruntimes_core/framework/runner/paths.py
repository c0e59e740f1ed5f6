"""Answers that follow from which selectors a Pod's targets match, and from nothing else of it.

A function that gets the same answers to what it asks takes the same path, and comes to the same end. So
what it asked of one Pod, and its answer, are the answer for each Pod whose targets match alike: a filter
of required affinity is asked about two Pods, one with the cohort and one without, and not about all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kruntimes_core.framework.runner.bits import members
from kruntimes_core.framework.runner.changes import Changes
from kruntimes_core.framework.runner.pool import Pool
from kruntimes_core.framework.runner.read_pod import PodReads, ReadPod
from kruntimes_core.model.pod import RuntimePod
from kruntimes_core.model.selectors import LabelSelector
from kruntimes_core.model.targets import Targets

# A hook that takes more paths for one state is asked about each Pod.
_MOST_PATHS = 64


@dataclass(slots=True, eq=False)
class _End:
    """Where a path ends."""

    answer: Any


@dataclass(slots=True, eq=False)
class _Fork:
    """Where it goes on by whether a Pod's targets match a selector."""

    selector: LabelSelector
    ways: list[_Place]
    """Where they do not, and where they do; None where nobody went yet."""


_Place = _Fork | _End | None
_Path = Sequence[tuple[LabelSelector, bool]]
"""What was asked, in order, with the answers."""


class Paths:
    """The paths of one column's hook, and which changes of Pods matter to it."""

    __slots__ = ("_age", "_ends", "_followed", "_pool", "_root", "_selectors", "beyond", "lost")

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._root: _Place = None
        self._ends = 0
        self._selectors: dict[LabelSelector, None] = {}
        self._followed: list[Changes] = []
        self._age = pool.targets.age
        self.lost = False
        """Whether the last answer follows from more than targets: from there on there are no paths."""
        self.beyond = False
        """Whether that is because something else of a Pod was read: so it may be for any state."""

    def after(self, turn: int) -> tuple[Sequence[int], int]:
        """As `Changes.after`, of the changes that matter."""
        pool = self._pool
        if self._age != pool.targets.age:
            self._follow()
            return members(pool.present), pool.present
        came, changed = pool.came.after(turn)
        matter = changed
        for changes in self._followed:
            matter |= changes.after(turn)[1]
        return (came, changed) if matter == changed else (members(matter), matter)

    def answers(self, due: Sequence[int], ask: Callable[[RuntimePod], Any]) -> list[Any]:
        """The answers about the Pods at these positions, as far as there are paths (see `lost`).

        ask: the hook, about one Pod.
        """
        found = []
        for position in due:
            pod = self._pool.pod(position)
            end = self._end(pod.targets) or self._explore(pod, ask)
            found.append(end.answer)
            if self.lost:
                break
        return found

    def _end(self, targets: Targets) -> _End | None:
        place = self._root
        while isinstance(place, _Fork):
            place = place.ways[targets.any(place.selector)]
        return place

    def _explore(self, pod: RuntimePod, ask: Callable[[RuntimePod], Any]) -> _End:
        """Let the hook go where nobody went yet."""
        reads = PodReads()
        end = _End(ask(ReadPod(pod, reads)))
        self._ends += 1
        self.beyond = not reads.matches_alone
        self.lost = (
            self.beyond
            or not reads.any_of
            or self._ends > _MOST_PATHS
            or not self._pave(list(reads.any_of.items()), end)
        )
        if not self.lost and not reads.any_of.keys() <= self._selectors.keys():
            self._selectors.update(dict.fromkeys(reads.any_of))
            self._follow()
        return end

    def _pave(self, path: _Path, end: _End) -> bool:
        """Note a path. False where it contradicts those before: the hook does not keep its promise."""
        if self._root is None:
            self._root = _branch(path, end)
            return True
        place: _Place = self._root
        for number, (selector, matched) in enumerate(path, 1):
            if not isinstance(place, _Fork) or place.selector != selector:
                return False
            if place.ways[matched] is None:
                place.ways[matched] = _branch(path[number:], end)
                return True
            place = place.ways[matched]
        return False

    def _follow(self) -> None:
        self._followed = self._pool.targets.follow(self._selectors)
        self._age = self._pool.targets.age


def _branch(path: _Path, end: _End) -> _Fork | _End:
    """A path by itself."""
    place: _Fork | _End = end
    for selector, matched in reversed(path):
        place = _Fork(selector, [None, place] if matched else [place, None])
    return place
