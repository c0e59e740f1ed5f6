"""Unschedulable Runs, and what wakes them: a change finds the Runs whose answers were given from it.

Changes are noted as they happen and turned into queue entries when the next work is taken, so a
hundred changes of one Runtime's Pods wake each class once (semantics, Waiting and waking).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kruntimes_core.engine.counters import Counters, WakeupSource
from kruntimes_core.engine.current_profiles import ProfileDependencies
from kruntimes_core.engine.runs import RunEntry
from kruntimes_core.engine.scheduling_queue.active_queue import ActiveQueue, ClassKey, EquivalenceClass
from kruntimes_core.framework.runtime import PreFilterState
from kruntimes_core.model.selectors import LabelSelector, LabelSet
from kruntimes_core.model.targets import Targets

_Entries = dict[RunEntry, None]
"""An ordered set."""


class UnschedulableRuns:
    """All unschedulable Runs: their classes, and indexes by what their answers were given from.

    It handles the events of the cache (`cache.CacheEventHandler`).
    """

    def __init__(self, active: ActiveQueue, counters: Counters) -> None:
        self._active = active
        self._counters = counters
        self._classes: dict[ClassKey, EquivalenceClass] = {}
        self._by_runtime: dict[tuple[str, str], dict[ClassKey, EquivalenceClass]] = {}
        self._any_change: dict[str, dict[ClassKey, EquivalenceClass]] = {}
        self._dependencies = DependencyIndex()
        self._changed_runtimes: dict[tuple[str, str], WakeupSource] = {}
        self._changed_namespaces: dict[str, WakeupSource] = {}

    # Waiting

    def add(
        self,
        entry: RunEntry,
        profile: str,
        state: PreFilterState,
        dependencies: ProfileDependencies,
        current: bool,
    ) -> EquivalenceClass:
        """Let a Run wait, or wait on, in its class. current: nothing changed that it was not answered for.

        The class goes to sleep when its answer is known to hold, else it stays in the queue.
        """
        waiting = entry.equivalence_class
        if not isinstance(waiting, EquivalenceClass):
            run = entry.run
            key: ClassKey = (run.namespace, run.runtime, profile, state.class_key)
            waiting = self._classes.get(key) or self._new_class(key, dependencies)
            waiting.add(entry)
            self._dependencies.add(entry, state)
            if not current:
                self._wake(waiting, None)
        elif entry.prefilter_state is not None and entry.prefilter_state is not state:
            self._dependencies.remove(entry, entry.prefilter_state)
            self._dependencies.add(entry, state)
        if entry.prefilter_state is not state:
            entry.answered_from(state)
        if current:
            waiting.sleep()
        return waiting

    def remove(self, entry: RunEntry) -> None:
        """Take a Run out of its class and of every index; nothing happens if it does not wait."""
        waiting, state = entry.equivalence_class, entry.prefilter_state
        if not isinstance(waiting, EquivalenceClass) or state is None:
            return
        self._dependencies.remove(entry, state)
        waiting.remove(entry)
        self._tidy(waiting)

    def begin_cycle(self, waiting: EquivalenceClass) -> RunEntry | None:
        """Take the first Run of a class to try it; no other one is tried until `end_cycle`."""
        entry = waiting.first()
        if entry is None:
            return None
        waiting.begin_cycle()
        self.remove(entry)
        return entry

    def end_cycle(self, waiting: EquivalenceClass) -> None:
        """The first Run was tried: go on with the next one unless the class sleeps."""
        waiting.end_cycle()
        if waiting.awake:
            self._active.push_class(waiting)
        self._tidy(waiting)

    def classes(self) -> list[EquivalenceClass]:
        """All classes."""
        return list(self._classes.values())

    def __len__(self) -> int:
        return sum(waiting.size for waiting in self._classes.values())

    # Events of the cache

    def pod_changed(self, namespace: str, runtime: str, cause: WakeupSource) -> None:
        """Try the classes of the Runtime again with the Pods that changed."""
        if (namespace, runtime) in self._by_runtime:
            self._changed_runtimes.setdefault((namespace, runtime), cause)
        self._namespace_changed(namespace, cause)

    def targets_changed(
        self, namespace: str, labels: LabelSet, before: Targets, after: Targets, cause: WakeupSource
    ) -> None:
        """Requeue the Runs to whose prefilter the targets would give another answer now."""
        self._namespace_changed(namespace, cause)
        for entry in self._dependencies.answered_otherwise(namespace, labels, before, after):
            self.activate(entry, WakeupSource.TARGET)

    def workspace_changed(self, namespace: str, name: str) -> None:
        """Requeue the Runs that name the workspace."""
        self._namespace_changed(namespace, WakeupSource.WORKSPACE)
        for entry in self._dependencies.naming_workspace(namespace, name):
            self.activate(entry, WakeupSource.WORKSPACE)

    # Waking

    def flush_changes(self) -> None:
        """Turn the changes noted so far into queue entries."""
        while self._changed_runtimes or self._changed_namespaces:
            runtimes, self._changed_runtimes = self._changed_runtimes, {}
            for runtime, cause in runtimes.items():
                for waiting in list(self._by_runtime.get(runtime, {}).values()):
                    self._wake(waiting, cause)
            namespaces, self._changed_namespaces = self._changed_namespaces, {}
            for namespace, cause in namespaces.items():
                for waiting in list(self._any_change.get(namespace, {}).values()):
                    self._wake_for_any_change(waiting, cause)

    def wake(self, waiting: EquivalenceClass, cause: WakeupSource) -> None:
        """Try one class again, if it still exists."""
        if self._classes.get(waiting.key) is waiting:
            self._wake(waiting, cause)

    def activate(self, entry: RunEntry, cause: WakeupSource | None) -> None:
        """Queue one Run by itself, whether it waits or not."""
        self.remove(entry)
        self._active.push(entry)
        self._counters.woken(cause)

    def activate_all(self, cause: WakeupSource) -> None:
        """Queue every waiting Run by itself: its profile is another one now.

        A class whose first Run is being scheduled goes too: no Run may join it by what the former
        profile depended on.
        """
        for waiting in self.classes():
            for entry in waiting.members():
                self.activate(entry, cause)
            self._drop(waiting)

    # Inside

    def _new_class(self, key: ClassKey, dependencies: ProfileDependencies) -> EquivalenceClass:
        waiting = self._classes[key] = EquivalenceClass(key, dependencies)
        self._by_runtime.setdefault(key[:2], {})[key] = waiting
        if dependencies.any_change:
            self._any_change.setdefault(key[0], {})[key] = waiting
        return waiting

    def _tidy(self, waiting: EquivalenceClass) -> None:
        """Forget a class without Runs."""
        if not waiting.size and not waiting.in_cycle:
            self._drop(waiting)

    def _drop(self, waiting: EquivalenceClass) -> None:
        key = waiting.key
        if self._classes.get(key) is not waiting:
            return
        waiting.void()
        del self._classes[key]
        _discard(self._by_runtime, key[:2], key)
        _discard(self._any_change, key[0], key)

    def _wake(self, waiting: EquivalenceClass, cause: WakeupSource | None) -> None:
        if waiting.awake:
            return
        waiting.wake()
        if not waiting.in_cycle:
            self._active.push_class(waiting)
        self._counters.woken(cause)

    def _wake_for_any_change(self, waiting: EquivalenceClass, cause: WakeupSource) -> None:
        if not waiting.dependencies.prefilter_again:
            self._wake(waiting, cause)
            return
        for entry in waiting.members():
            self.activate(entry, cause)

    def _namespace_changed(self, namespace: str, cause: WakeupSource) -> None:
        if namespace in self._any_change:
            self._changed_namespaces.setdefault(namespace, cause)


class DependencyIndex:
    """Waiting Runs by what their prefilters read of a namespace's targets, and by their workspace."""

    def __init__(self) -> None:
        # Nearly all of very many selectors have one Run each: then that stands in the place of its row.
        self._by_selector: dict[str, dict[LabelSelector, RunEntry | _Entries]] = {}
        self._by_all_targets: dict[str, _Entries] = {}
        self._by_workspace: dict[tuple[str, str], _Entries] = {}

    def add(self, entry: RunEntry, state: PreFilterState) -> None:
        """Note what a waiting Run was answered from."""
        namespace = entry.run.namespace
        for selector in _selectors(state):
            rows = self._by_selector.setdefault(namespace, {})
            row = rows.setdefault(selector, entry)
            if row is not entry:
                row = rows[selector] = {row: None} if isinstance(row, RunEntry) else row
                row[entry] = None
        if state.reads.whole is not None:
            self._by_all_targets.setdefault(namespace, {})[entry] = None
        if state.workspace is not None:
            self._by_workspace.setdefault((namespace, state.workspace.name), {})[entry] = None

    def remove(self, entry: RunEntry, state: PreFilterState) -> None:
        """The Run does not wait any more, or was answered from something else."""
        namespace = entry.run.namespace
        rows = self._by_selector.get(namespace, {})
        for selector in _selectors(state):
            row = rows.get(selector)
            if isinstance(row, dict):
                row.pop(entry, None)
            if not row or row is entry:
                rows.pop(selector, None)
        if not rows:
            self._by_selector.pop(namespace, None)
        _discard(self._by_all_targets, namespace, entry)
        if state.workspace is not None:
            _discard(self._by_workspace, (namespace, state.workspace.name), entry)

    def answered_otherwise(
        self, namespace: str, labels: LabelSet, before: Targets, after: Targets
    ) -> list[RunEntry]:
        """The Runs to which the targets would give another answer now that `labels` came or went."""
        found: _Entries = dict(self._by_all_targets.get(namespace, {}))
        for selector, row in self._by_selector.get(namespace, {}).items():
            if labels.satisfies(selector):
                entries = (row,) if isinstance(row, RunEntry) else row
                flipped = before.any(selector) != after.any(selector)
                found.update(dict.fromkeys(e for e in entries if flipped or _counts(e, selector)))
        return list(found)

    def naming_workspace(self, namespace: str, workspace: str) -> list[RunEntry]:
        """The Runs that name a workspace."""
        return list(self._by_workspace.get((namespace, workspace), ()))


def _discard(index: dict[Any, dict[Any, Any]], key: object, member: object) -> None:
    """Take a member out of an index, and a row that is empty then: tables must shrink again."""
    row = index.get(key)
    if row is not None:
        row.pop(member, None)
        if not row:
            del index[key]


def _selectors(state: PreFilterState) -> Iterable[LabelSelector]:
    return {**dict.fromkeys(state.reads.any_of), **dict.fromkeys(state.reads.count_of)}


def _counts(entry: RunEntry, selector: LabelSelector) -> bool:
    return entry.prefilter_state is not None and selector in entry.prefilter_state.reads.count_of
