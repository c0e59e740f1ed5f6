"""Waking: who was answered from what, so that a change finds them without a look at the others.

Changes are noted as they happen and turned into queue entries when the next work is taken, so a
hundred changes of one Runtime's Pods wake each class once.
"""

from __future__ import annotations

from kruntimes_core.engine.queueing.classes import ClassKey, WaitingClass
from kruntimes_core.engine.queueing.index import ReaderIndex, discard
from kruntimes_core.engine.queueing.needs import Needs
from kruntimes_core.engine.queueing.queue import Queue
from kruntimes_core.engine.runs import RunEntry
from kruntimes_core.engine.tally import Tally, WakeSource
from kruntimes_core.framework.runtime import PreFilterState
from kruntimes_core.model.selectors import LabelSet
from kruntimes_core.model.targets import Targets


class Waiting:
    """All waiting Runs: their classes, and indexes by what their answers were given from."""

    def __init__(self, queue: Queue, tally: Tally) -> None:
        self._queue = queue
        self._tally = tally
        self._classes: dict[ClassKey, WaitingClass] = {}
        self._by_pool: dict[tuple[str, str], dict[ClassKey, WaitingClass]] = {}
        self._readers = ReaderIndex()
        self._any_change: dict[str, dict[ClassKey, WaitingClass]] = {}
        self._changed_pools: dict[tuple[str, str], WakeSource] = {}
        self._changed_namespaces: dict[str, WakeSource] = {}
        self.source = WakeSource.RUNTIME_POD
        """What the change under way came from; set by whoever changes the state."""

    # Waiting

    def park(
        self, entry: RunEntry, profile: str, prepared: PreFilterState, needs: Needs, known_full: bool
    ) -> WaitingClass:
        """Let a Run wait in its class. `known_full`: nothing changed that it was not answered for.

        The class goes to sleep when its answer is known to hold, else it stays in the queue.
        """
        run = entry.run
        key: ClassKey = (run.namespace, run.runtime, profile, prepared.class_key)
        waiting = self._classes.get(key) or self._new_class(key, needs)
        entry.leave()
        entry.prepared = prepared
        waiting.add(entry)
        waiting.alone = False
        self._readers.add(entry, prepared)
        if known_full:
            waiting.awake = False
        elif not waiting.awake:
            self._wake(waiting, None)
        return waiting

    def withdraw(self, entry: RunEntry) -> None:
        """Take a Run out of its class and of every index; harmless if it waits nowhere."""
        waiting, prepared = entry.waits_in, entry.prepared
        if not isinstance(waiting, WaitingClass) or prepared is None:
            return
        self._readers.remove(entry, prepared)
        waiting.remove(entry)
        self._tidy(waiting)

    def begin(self, waiting: WaitingClass) -> RunEntry | None:
        """Take the first Run of a class to try it; the class is busy until `done`."""
        entry = waiting.first()
        if entry is None:
            return None
        waiting.busy = True
        self.withdraw(entry)
        return entry

    def stays(
        self, waiting: WaitingClass, entry: RunEntry, prepared: PreFilterState, known_full: bool
    ) -> None:
        """The first Run of a class was planned where it waits, in vain; see `park`."""
        if entry.prepared is not prepared and entry.prepared is not None:
            self._readers.remove(entry, entry.prepared)
            self._readers.add(entry, prepared)
            entry.prepared = prepared
        if known_full:
            waiting.awake = False

    def done(self, waiting: WaitingClass) -> None:
        """The first Run was tried: go on with the next one unless the class sleeps."""
        waiting.busy = False
        if waiting.awake:
            self._queue.push_class(waiting)
        self._tidy(waiting)

    def classes(self) -> list[WaitingClass]:
        """All classes."""
        return list(self._classes.values())

    def __len__(self) -> int:
        return sum(waiting.size for waiting in self._classes.values())

    # Changes (see `state.Changes`)

    def pod_changed(self, namespace: str, runtime: str) -> None:
        """Offer the Runtime's Pods to its classes."""
        if (namespace, runtime) in self._by_pool:
            self._changed_pools.setdefault((namespace, runtime), self.source)
        self._namespace_changed(namespace)

    def targets_changed(self, namespace: str, labels: LabelSet, before: Targets, after: Targets) -> None:
        """Try the Runs again that asked something of the targets which has another answer now."""
        self._namespace_changed(namespace)
        self._requeue(self._readers.told_otherwise(namespace, labels, before, after), WakeSource.TARGET)

    def workspace_changed(self, namespace: str, name: str) -> None:
        """Try the Runs again that name the workspace."""
        self._namespace_changed(namespace)
        self._requeue(self._readers.naming(namespace, name), WakeSource.WORKSPACE)

    def deliver(self) -> None:
        """Turn the changes noted so far into queue entries."""
        while self._changed_pools or self._changed_namespaces:
            pools, self._changed_pools = self._changed_pools, {}
            for pool, source in pools.items():
                for waiting in list(self._by_pool.get(pool, {}).values()):
                    self._wake(waiting, source)
            namespaces, self._changed_namespaces = self._changed_namespaces, {}
            for namespace, source in namespaces.items():
                for waiting in list(self._any_change.get(namespace, {}).values()):
                    self._wake_for_any_change(waiting, source)

    def wake_all(self, source: WakeSource) -> None:
        """Try every waiting Run again by itself: its profile is another one now.

        A class whose first Run is in work goes too: nobody may join it by what the former profile needed.
        """
        for waiting in self.classes():
            self._requeue(waiting.members(), source)
            self._drop(waiting)

    def wake(self, waiting: WaitingClass, source: WakeSource) -> None:
        """Offer its Pods to one class, if it still exists."""
        if self._classes.get(waiting.key) is waiting:
            self._wake(waiting, source)

    def requeue(self, entry: RunEntry, source: WakeSource | None) -> None:
        """Queue one Run, wherever it stands."""
        self.withdraw(entry)
        self._queue.push(entry)
        if source is not None:
            self._tally.wakeups[source] += 1

    # Inside

    def _new_class(self, key: ClassKey, needs: Needs) -> WaitingClass:
        waiting = self._classes[key] = WaitingClass(key, needs)
        self._by_pool.setdefault(key[:2], {})[key] = waiting
        if needs.every_change or needs.prepare_again:
            self._any_change.setdefault(key[0], {})[key] = waiting
        return waiting

    def _tidy(self, waiting: WaitingClass) -> None:
        """Forget a class without Runs."""
        if not waiting.size and not waiting.busy:
            self._drop(waiting)

    def _drop(self, waiting: WaitingClass) -> None:
        key = waiting.key
        if self._classes.get(key) is not waiting:
            return
        waiting.token += 1
        del self._classes[key]
        discard(self._by_pool, key[:2], key)
        discard(self._any_change, key[0], key)

    def _wake(self, waiting: WaitingClass, source: WakeSource | None) -> None:
        if waiting.awake:
            return
        waiting.awake = True
        waiting.swept = False
        if not waiting.busy:
            self._queue.push_class(waiting)
        if source is not None:
            self._tally.wakeups[source] += 1

    def _wake_for_any_change(self, waiting: WaitingClass, source: WakeSource) -> None:
        if waiting.needs.prepare_again:
            self._requeue(waiting.members(), source)
        else:
            self._wake(waiting, source)

    def _namespace_changed(self, namespace: str) -> None:
        if namespace in self._any_change:
            self._changed_namespaces.setdefault(namespace, self.source)

    def _requeue(self, entries: list[RunEntry], source: WakeSource) -> None:
        for entry in entries:
            self.requeue(entry, source)
