"""Columns: one plugin's answers about all Pods of a Runtime, for one state, following the changes.

An answer holds until an argument that it was given from changes. A column is asked again and again
for Runs whose states are equal; between two times only Pods that changed are due, each of them once
for a state, however many combinations with other plugins' states there are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, TypeVar

from kruntimes_core.framework.profile import ActivePlugin, Hook
from kruntimes_core.framework.runtime import calls
from kruntimes_core.framework.runtime.bits import members
from kruntimes_core.framework.runtime.outcomes import Prepared
from kruntimes_core.framework.runtime.pool import Pool
from kruntimes_core.model.run import Run
from kruntimes_core.model.snapshot import Snapshot

# States of which one hook of one plugin may keep the answers, besides a bound on the memory that these take.
_KEPT_STATES = 32_768


class Column(ABC):
    """The answers for one state, and which of them do not hold any more."""

    __slots__ = ("_due", "size", "turn", "used")

    def __init__(self) -> None:
        self._due = 0
        """The set of the Pods that changed since they were asked about."""
        self.turn = 0
        """Of the pool, when `_due` was brought up to date."""
        self.size = 0
        """How many positions it has answers for."""
        self.used = 0
        """When it was last used, in plans of its runner."""

    def take_due(self, pool: Pool, among: int) -> tuple[Sequence[int], int]:
        """Whom to ask about now, of the set `among`: their positions, and their set; the others stay due."""
        due = self._due
        if self.turn == pool.turn:
            taken = due & among
            self._due = due ^ taken
            return members(taken) if taken else (), taken
        changed, fresh = pool.changes.after(self.turn)
        self.turn = pool.turn
        due |= fresh
        taken = due & among
        self._due = due ^ taken
        return changed if taken == fresh else members(taken), taken

    def put_back(self, taken: int) -> None:
        """These were taken, and there is no answer."""
        self._due |= taken

    @abstractmethod
    def knows(self, position: int, answer: Any) -> bool:
        """Whether this is known of the Pod, so that there is nothing to check or to learn."""

    @abstractmethod
    def learn(self, positions: Sequence[int], asked: int, answers: list[Any]) -> None:
        """Take in the answers about these positions, which are the set `asked`."""

    def grow(self, size: int) -> None:
        """Make room for answers about more positions."""
        self.size = size


class Effort:
    """How much a runner has asked of its plugins."""

    __slots__ = ("questions",)

    def __init__(self) -> None:
        self.questions = 0
        """How often a filter or a scorer was asked about a Pod."""


C = TypeVar("C", bound=Column)
Ask = Callable[[Sequence[Any], Sequence[int], Any, Run, Snapshot], list[Any]]
Check = Callable[[ActivePlugin, list[Any]], list[Any]]


class Columns(Generic[C]):
    """One plugin's columns of one hook. `check` refuses answers out of contract with `PluginError`."""

    def __init__(
        self,
        plugin: ActivePlugin,
        hook: str,
        place: int,
        new: Callable[[], C],
        check: Check,
        effort: Effort,
        kept: int,
        reuse: bool = True,
    ) -> None:
        """place: of the plugin in its profile, where its state is. effort: where questions are counted.

        kept: how many answers, over all states and Pods.
        """
        self.plugin = plugin
        names = plugin.hooks[hook].names
        self._hook = hook
        self._place = place
        self._new = new
        self._check = check
        self._effort = effort
        self._ask = _asking(plugin.hooks[hook])
        self._by_state = "state" in names
        self._by_run = "run" in names
        self._reusable = reuse and not plugin.stateful and "snapshot" not in names
        self.shared = self._reusable and not self._by_run
        """Whether equal states are all that two Runs need to share answers."""
        self._kept: dict[Hashable, C] = {}
        self._kept_answers = kept
        self._answers = 0

    def __len__(self) -> int:
        """How many states it keeps answers of."""
        return len(self._kept)

    def of(self, pool: Pool, prepared: Prepared, run: Run) -> C:
        """The column for this Run's state: the one that is kept, or a new one."""
        if not self._reusable:
            return self._new()
        key = (
            pool,
            prepared.keys[self._place] if self._by_state else None,
            run if self._by_run else None,
        )
        column = self._kept.get(key)
        if column is None:
            column = self._kept[key] = self._new()
        return column

    def bring_up(
        self, column: C, pool: Pool, among: int, prepared: Prepared, run: Run, snapshot: Snapshot
    ) -> None:
        """Ask what is to be asked, until every answer about the Pods in `among` holds."""
        due, taken = column.take_due(pool, among)
        if not taken:
            return
        self._effort.questions += len(due)
        try:
            answers = self._ask(pool.pods, due, prepared.states[self._place], run, snapshot)
            if len(due) == 1 and column.knows(due[0], answers[0]):
                return
            answers = self._check(self.plugin, answers)
            if column.size < len(pool.pods):
                self._answers += len(pool.pods) - column.size
                column.grow(len(pool.pods))
            column.learn(due, taken, answers)
        except BaseException as error:  # noqa: BLE001 - whatever a plugin's code raises is its own error
            column.put_back(taken)
            raise calls.broken(self.plugin, self._hook, error) from None

    @property
    def crowded(self) -> bool:
        """Whether it keeps more than it may."""
        return self._answers > self._kept_answers or len(self._kept) > _KEPT_STATES

    def thin_out(self) -> None:
        """Forget the columns that were not used for longest."""
        by_use = sorted(self._kept.items(), key=lambda kept: kept[1].used, reverse=True)
        self._kept.clear()
        self._answers = 0
        fewer = self._kept_answers * 3 // 4
        for key, column in by_use[: _KEPT_STATES // 2]:
            if self._answers + column.size > fewer:
                break
            self._kept[key] = column
            self._answers += column.size


def _asking(hook: Hook) -> Ask:
    """Asks a hook about many Pods. The common signatures get a loop of their own: it is run for
    thousands of Pods, and handing arguments on costs as much as a simple filter.
    """
    function = hook.function
    if hook.names == ("pod", "state"):
        return lambda pods, due, state, run, snapshot: [function(pods[at], state) for at in due]
    if hook.names == ("pod",):
        return lambda pods, due, state, run, snapshot: [function(pods[at]) for at in due]
    call = calls.positional(hook, calls.FILTER)
    return lambda pods, due, state, run, snapshot: [call(pods[at], state, run, snapshot) for at in due]
