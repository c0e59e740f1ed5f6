"""The event handlers of Runs: they take observations in, never back in time; the room of a Run follows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from kruntimes_core.engine.api_calls import CallQueue, PendingBind
from kruntimes_core.engine.cache import Cache
from kruntimes_core.engine.counters import Counters, SyncResult, WakeupSource
from kruntimes_core.engine.reserve import AssumedRuns
from kruntimes_core.engine.runs import Assumption, RunEntry, Runs, Stage
from kruntimes_core.engine.scheduling_queue import SchedulingQueue
from kruntimes_core.model.metadata import newer, newer_than_list, older, version_number
from kruntimes_core.model.run import Phase, RunObservation


@dataclass(slots=True, eq=False)
class RunEventHandlers:
    """Handles the events of Runs, and what became of their writes."""

    _runs: Runs
    _cache: Cache
    _queue: SchedulingQueue
    _assumed: AssumedRuns
    _calls: CallQueue
    _counters: Counters

    # Events of Runs: never back in time, and a name belongs to one Run at a time

    def observed(self, observation: RunObservation, consistent: bool = False) -> None:
        """One version of a Run. consistent: read from the API server, so it counts although unordered."""
        run = observation.run
        entry = self._runs.get((run.namespace, run.uid))
        if entry is None:
            self._first_seen(observation)
        elif self._accepts(entry, observation, consistent):
            self._follow(entry, self._runs.observe(entry, observation))

    def gone(self, namespace: str, name: str, uid: str) -> None:
        """A Run was deleted; its successor of the same name is not touched by it."""
        entry = self._runs.get((namespace, uid)) if uid else self._runs.named(namespace, name)
        if entry is not None:
            self.forget(entry)

    def listed(self, observations: Iterable[RunObservation], version: str, namespace: str | None) -> None:
        """A whole list: Runs that came in it together arrive in order of creation, then by name."""
        seen = set()
        for observation in sorted(observations, key=_age):
            seen.add((observation.run.namespace, observation.run.uid))
            self.observed(observation)
        for entry in self._runs:
            inside = namespace in (None, entry.run.namespace)
            if inside and entry.key not in seen and not newer_than_list(entry.floor, version):
                self.forget(entry)

    def _first_seen(self, observation: RunObservation) -> None:
        run = observation.run
        former = self._runs.named(run.namespace, run.name)
        if former is not None:
            if older(observation.version, former.floor):
                return
            self.forget(former)
        entry = RunEntry(observation, floor=observation.version)
        self._runs.add(entry)
        self._follow(entry, None)

    def _accepts(self, entry: RunEntry, observation: RunObservation, consistent: bool) -> bool:
        """Whether an observation is newer than what is known, or was read consistently."""
        if observation.version == entry.observation.version:
            return consistent and observation != entry.observation
        if older(observation.version, entry.floor):
            return False
        ordered = version_number(observation.version) is not None and version_number(entry.floor) is not None
        if not ordered and not consistent:
            self._calls.read(entry)
            return False
        return True

    # What follows from what is known of a Run now

    def _follow(self, entry: RunEntry, before: RunObservation | None) -> None:
        """A version of the Run was taken in; before: what was known of it until then."""
        seen = entry.observation
        was_active = before is not None and before.active
        if seen.active:
            self._active(entry)
        elif seen.phase is not Phase.PENDING:
            self._ended(entry, _released(was_active))
        else:
            self._pending(entry, before, was_active)

    def _active(self, entry: RunEntry) -> None:
        """The Run holds room on a Pod: the one it was assumed on, and that is confirmed, or another."""
        assumption = entry.assumption
        self._stop(entry)
        entry.succeed()
        if assumption is None:
            self._assumed.allocate(entry, WakeupSource.TARGET)
            return
        ours = _is_ours(assumption, entry.observation)
        if ours and not assumption.bound_version:
            # Seen before its answer, or instead of it: a lost answer must not be a lost count.
            self._counters.synced(SyncResult.SCHEDULED)
        self._assumed.end(entry, bound=ours, cause=WakeupSource.TARGET)

    def _ended(self, entry: RunEntry, cause: WakeupSource) -> None:
        """The Run has ended, or is in a phase that this version does not know, without a Pod."""
        self._stop(entry)
        self._assumed.end(entry, bound=False, cause=cause)
        self._assumed.allocate(entry, cause)

    def _pending(self, entry: RunEntry, before: RunObservation | None, was_active: bool) -> None:
        # The retry delay counts from now on, though a standby may try the Run much later.
        self._queue.backoff.retry_due(entry)
        released = self._release_outlived(entry)
        self._assumed.allocate(entry, _released(was_active))
        if before is None or released or before.phase is not Phase.PENDING:
            self._queue.arrive(entry)
        elif entry.stage is Stage.AWAITING_READ:
            self._queue.requeue(entry)
        elif _asks_otherwise(before, entry.observation):
            self._changed(entry)

    def _changed(self, entry: RunEntry) -> None:
        """A Pending Run asks for something else now: what was begun for it is void."""
        if entry.stage is Stage.BINDING:
            pending = self._calls.pending(entry)
            if isinstance(pending, PendingBind) and not pending.assumption.outcome_unknown:
                self.drop_bind(entry)
        elif entry.stage is Stage.IDLE:
            self._queue.arrive(entry)
        elif entry.stage is not Stage.ENDING or self._calls.in_flight(entry) is None:
            self._calls.drop(entry)
            self._queue.requeue(entry)

    def _stop(self, entry: RunEntry) -> None:
        """Drop what is under way for the Run."""
        self._queue.enter(entry, Stage.IDLE)
        self._calls.drop(entry)
        entry.stop()

    def _release_outlived(self, entry: RunEntry) -> bool:
        """End an assumption that a Pending observation has outlived; whether there was one."""
        assumption = entry.assumption
        if assumption is None or not self._outlived(entry, assumption):
            return False
        self._assumed.release(entry)
        self._stop(entry)
        return True

    def _outlived(self, entry: RunEntry, assumption: Assumption) -> bool:
        """Whether a Pending observation is newer than the bind: it was bound, ran, and is back.

        An observation that is not newer is an echo from before the bind. While the bind is not answered, its
        answer decides.
        """
        seen = entry.observation.version
        if seen == assumption.guard:
            return False
        if assumption.bound_version:
            return newer(seen, assumption.bound_version)
        unanswered = self._calls.in_flight(entry) is not None
        return assumption.outcome_unknown and not unanswered and newer(seen, assumption.guard)

    # Written

    def written(self, entry: RunEntry, guard: str, version: str, phase: Phase, message: str) -> None:
        """A write was applied to the version `guard`: the Run is known as it is now before it is observed."""
        if entry.observation.version != guard:
            return
        applied = replace(entry.observation, version=version, phase=phase, message=message)
        self._runs.observe(entry, applied)
        if phase is not Phase.PENDING:
            self._ended(entry, WakeupSource.RESERVATION_RELEASED)

    def bound(self, entry: RunEntry, version: str) -> None:
        """A bind was applied: nothing older counts any more, and what was seen may be newer."""
        if newer(version, entry.floor):
            entry.raise_floor(version)
        if entry.observation.phase is Phase.PENDING and self._release_outlived(entry):
            self._queue.arrive(entry)

    def drop_bind(self, entry: RunEntry) -> None:
        """A bind that was never sent is not wanted any more, or can never be applied: queue the Run again."""
        self._calls.drop(entry)
        self._assumed.release(entry)
        self._queue.requeue(entry)

    def forget(self, entry: RunEntry) -> None:
        """The Run does not exist any more: none of its writes can be applied, so all that it held is free."""
        cause = _released(entry.observation.active)
        self._queue.forget(entry)
        self._calls.forget(entry)
        self._assumed.end(entry, bound=False, cause=cause)
        self._cache.allocate(entry.key, None, cause)
        self._runs.remove(entry)
        entry.forget()


def _is_ours(assumption: Assumption, seen: RunObservation) -> bool:
    if seen.assigned_pod_uid is None:
        return seen.assigned_pod == assumption.pod.name
    return seen.assigned_pod_uid == assumption.pod.uid


def _released(was_active: bool) -> WakeupSource:
    return WakeupSource.CAPACITY_RELEASED if was_active else WakeupSource.RESERVATION_RELEASED


def _asks_otherwise(before: RunObservation, after: RunObservation) -> bool:
    """Whether anything that a verdict on a Pending Run depends on has changed."""
    return (
        before.run != after.run
        or before.cancel_requested != after.cancel_requested
        or before.deleting != after.deleting
        or before.invalid != after.invalid
        or before.stopped_at != after.stopped_at
    )


def _age(observation: RunObservation) -> tuple[bool, float, str, str]:
    created = observation.run.created
    run = observation.run
    return (created is None, created.timestamp() if created else 0.0, run.namespace, run.name)
