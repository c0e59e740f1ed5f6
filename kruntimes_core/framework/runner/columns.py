"""Columns: one plugin's answers about all Pods of a Runtime, for one state, following the changes.

An answer holds until an argument that it was given from changes. A column is asked again and again
for Runs whose states are equal; between two times only Pods that changed are due, each of them once
for a state, however many combinations with other plugins' states there are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from kruntimes_core.framework.profile import ActivePlugin, Hook
from kruntimes_core.framework.runner import calls
from kruntimes_core.framework.runner.bits import flags_of
from kruntimes_core.framework.runner.outcomes import Prepared
from kruntimes_core.framework.runner.pool import Pool
from kruntimes_core.model.run import Run
from kruntimes_core.model.snapshot import Snapshot

# Answers that one hook of one plugin may keep, over all states and Pods: some 40 MB at the most for raw
# scores that all differ. States are bounded by themselves: one of a Runtime without Pods has no answers.
_KEPT_ANSWERS = 250_000
_KEPT_STATES = 4_096
# So many Pods that are due are looked up in one table of flags.
_MANY = 32


class Following:
    """Which of a pool's Pods have no answer that holds."""

    __slots__ = ("_due", "_turn", "size")

    def __init__(self) -> None:
        self._due: set[int] = set()
        self._turn = 0
        self.size = 0
        """As many positions it counts for in what is kept."""

    def take_due(self, pool: Pool, among: int) -> list[int]:
        """The positions in the set `among` to be asked about now; the others stay due."""
        due = self._due
        if self._turn != pool.turn:
            due.update(pool.changed_after(self._turn))
            self._turn = pool.turn
        if not due:
            return []
        if len(due) > _MANY:
            flags = flags_of(among, len(pool.pods))
            taken = sorted([position for position in due if flags[position]])
        else:
            taken = sorted([position for position in due if among >> position & 1])
        due.difference_update(taken)
        return taken


class Column(Protocol):
    """What a column does with answers."""

    size: int

    def take_due(self, pool: Pool, among: int) -> list[int]:
        """See `Following`."""

    def learn(self, positions: Sequence[int], answers: Sequence[Any], length: int) -> None:
        """Take in the answers about these positions; `length`: how many positions there are."""


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
        reuse: bool = True,
    ) -> None:
        """place: of the plugin in its profile, where its state is found."""
        self.plugin = plugin
        names = plugin.hooks[hook].names
        self._hook = hook
        self._place = place
        self._new = new
        self._check = check
        self._ask = _asking(plugin.hooks[hook])
        self._by_state = "state" in names
        self._by_run = "run" in names
        self._reusable = reuse and not plugin.stateful and "snapshot" not in names
        self._kept: dict[Hashable, C] = {}
        self._answers = 0

    def __len__(self) -> int:
        """How many states it keeps answers of."""
        return len(self._kept)

    def about(self, pool: Pool, among: int, prepared: Prepared, run: Run, snapshot: Snapshot) -> C:
        """The column for this Run's state, in which every answer about the Pods in `among` holds."""
        if not self._reusable:
            return self._asked(self._new(), pool, among, prepared, run, snapshot)
        key = (
            pool,
            prepared.keys[self._place] if self._by_state else None,
            run if self._by_run else None,
        )
        # Out of the store while it is asked: one that a plugin's error left half-way is lost.
        column = self._kept.pop(key, None)
        column = self._asked(column or self._new(), pool, among, prepared, run, snapshot)
        self._keep(key, column, len(pool.pods))
        return column

    def _asked(
        self, column: C, pool: Pool, among: int, prepared: Prepared, run: Run, snapshot: Snapshot
    ) -> C:
        due = column.take_due(pool, among)
        if due:
            try:
                answers = self._ask(pool.pods, due, prepared.states[self._place], run, snapshot)
                column.learn(due, self._check(self.plugin, answers), len(pool.pods))
            except BaseException as error:  # noqa: BLE001 - whatever a plugin's code raises is its own error
                raise calls.broken(self.plugin, self._hook, error) from None
        return column

    def _keep(self, key: Hashable, column: C, size: int) -> None:
        self._kept[key] = column
        if column.size != size or len(self._kept) > _KEPT_STATES:
            self._answers += size - column.size
            column.size = size
            while len(self._kept) > 1 and (self._answers > _KEPT_ANSWERS or len(self._kept) > _KEPT_STATES):
                self._answers -= self._kept.pop(next(iter(self._kept))).size


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
