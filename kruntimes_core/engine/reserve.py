"""Reserve: Runs are assumed on their Pods until their binds are confirmed, or come to nothing.

A plugin's `unreserve` is called exactly once for each `reserve` that was called, however the reservation
ends (semantics, Reserve).
"""

from __future__ import annotations

from collections import deque

from kruntimes_core.engine.cache import Allocation, Cache
from kruntimes_core.engine.counters import WakeupSource
from kruntimes_core.engine.plugin_work import UnreserveWork
from kruntimes_core.engine.runs import Assumption, RunEntry
from kruntimes_core.framework.profile import Profile
from kruntimes_core.framework.runtime import ScheduleResult


class AssumedRuns:
    """Makes and ends assumptions; what they hold is allocated in the cache."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._unreserves: deque[UnreserveWork] = deque()

    def assume(self, entry: RunEntry, chosen: ScheduleResult, profile: Profile) -> Assumption | None:
        """Assume the Run on the Pod as it is now; None if its request does not fit any more.

        The check and the insertion are one step: nothing else changes the cache in between.
        """
        pod = chosen.pod
        current = self._cache.pods.get(pod.namespace, pod.name)
        alone = self._cache.pods.without_load(pod.namespace, pod.name)
        if current is None or alone is None or current.uid != pod.uid or not current.fits(entry.run.request):
            return None
        state, verdicts = chosen.prefilter_state, chosen.verdicts
        assumption = Assumption(entry.run, current, alone, profile, state, verdicts)
        entry.assume(assumption)
        self.allocate(entry, WakeupSource.TARGET)
        return assumption

    def allocate(self, entry: RunEntry, cause: WakeupSource) -> None:
        """Let the cache hold what the Run holds: by its own status, else by its assumption."""
        held = entry.allocation() or _assumed_allocation(entry.assumption)
        self._cache.allocate(entry.key, held, cause)

    def end(self, entry: RunEntry, bound: bool, cause: WakeupSource) -> None:
        """End the Run's assumption, if there is one: bound and seen in the snapshot, or not bound.

        cause: what other Runs are woken by, if room or a target is gone or free by it.
        """
        assumption = entry.assumption
        if assumption is None:
            return
        entry.assume(None)
        self.allocate(entry, cause)
        self.give_back(assumption, bound)

    def release(self, entry: RunEntry) -> None:
        """End an assumption that came to no bind."""
        self.end(entry, bound=False, cause=WakeupSource.RESERVATION_RELEASED)

    def give_back(self, assumption: Assumption, bound: bool) -> None:
        """Let `unreserve` be called, in reverse order, for all whose `reserve` was called."""
        for plugin in reversed(assumption.take_reserved_by()):
            if "unreserve" in plugin.hooks:
                self._unreserves.append(UnreserveWork(plugin=plugin, assumption=assumption, bound=bound))

    def next_unreserve(self) -> UnreserveWork | None:
        """The next call of `unreserve` that is due."""
        return self._unreserves.popleft() if self._unreserves else None


def _assumed_allocation(assumption: Assumption | None) -> Allocation | None:
    if assumption is None:
        return None
    run, pod = assumption.run, assumption.pod
    return Allocation(run.namespace, pod.name, pod.uid, run.request, run.labels)
