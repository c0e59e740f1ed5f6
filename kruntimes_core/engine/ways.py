"""Letting each Run go the way that it asks for, exact about what it holds."""

from __future__ import annotations

from dataclasses import replace

from kruntimes_core.engine.binding.assumption import Assumption
from kruntimes_core.engine.binding.requests import PendingBind
from kruntimes_core.engine.core import Core
from kruntimes_core.engine.record.decision import NONE_TURNED_DOWN
from kruntimes_core.engine.runs import RunEntry, Stage
from kruntimes_core.engine.tally import Result, WakeSource
from kruntimes_core.model.resource_version import newer
from kruntimes_core.model.run import Phase, RunObservation


class Ways:
    """What follows for a Run from what is known of it now."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def settle(self, entry: RunEntry, before: RunObservation | None) -> None:
        """A Run was seen; before: what was known of it until then."""
        seen = entry.observation
        was_active = before is not None and before.active
        if seen.active:
            self._active(entry)
        elif seen.phase is not Phase.PENDING:
            self._idle(entry, _released(was_active))
        else:
            self._pending(entry, before, was_active)

    def _active(self, entry: RunEntry) -> None:
        """The Run holds room on a Pod: ours, and the reservation is confirmed, or another."""
        core, assumption, seen = self._core, entry.assumption, entry.observation
        self._stop(entry)
        entry.failures = 0
        core.waiting.source = WakeSource.TARGET
        if assumption is not None:
            ours = _is_ours(assumption, seen)
            if ours and not assumption.bound_version:
                # Seen before its answer, or instead of it: a lost answer must not be a lost count.
                core.tally.syncs[Result.SCHEDULED] += 1
            core.reservations.end(entry, bound=ours)
        else:
            core.reservations.claim(entry)

    def _idle(self, entry: RunEntry, source: WakeSource) -> None:
        """The Run has ended, or is in a phase that this version does not know, without a Pod."""
        self._stop(entry)
        self._core.waiting.source = source
        self._core.reservations.end(entry, bound=False)
        self._core.reservations.claim(entry)

    def _stop(self, entry: RunEntry) -> None:
        self._core.waiting.withdraw(entry)
        entry.leave()
        entry.pending = None
        entry.text = None
        entry.turned_down = NONE_TURNED_DOWN
        if entry.decision is not None and entry.decision.snapshot is not None:
            # The journal has the latest. Each that is kept keeps a picture of the Pods alive: twice what
            # the Run takes, and most Runs that are known were placed and have ended.
            entry.decision = None

    def _pending(self, entry: RunEntry, before: RunObservation | None, was_active: bool) -> None:
        core = self._core
        core.retry_due(entry)  # reckoned from now on, though a standby may try the Run much later
        released = self._release_outlived(entry)
        core.waiting.source = _released(was_active)
        core.reservations.claim(entry)
        if before is None or released or before.phase is not Phase.PENDING:
            core.arrive(entry)
        elif entry.stage is Stage.BEHIND:
            core.enqueue(entry, None)
        elif _asks_otherwise(before, entry.observation):
            self._changed(entry)

    def _release_outlived(self, entry: RunEntry) -> bool:
        """End an assumption that a Pending observation has outlived; whether there was one."""
        assumption = entry.assumption
        if assumption is None or not _outlived(entry, assumption):
            return False
        self._core.release(entry)
        self._stop(entry)
        return True

    def _changed(self, entry: RunEntry) -> None:
        """What a Pending Run asks for is another thing now: what was begun for it is void."""
        if entry.stage is Stage.BINDING:
            if isinstance(entry.pending, PendingBind) and not entry.pending.assumption.doubtful:
                self.drop_bind(entry)
        elif entry.stage is Stage.IDLE:
            self._core.arrive(entry)
        elif entry.stage is not Stage.ENDING or entry.sent is None:
            entry.pending = None
            self._core.enqueue(entry, None)

    def written(self, entry: RunEntry, guard: str, version: str, phase: Phase, message: str) -> None:
        """An own write was applied to the version `guard`: what stands now is known without an echo."""
        if entry.observation.version != guard:
            return
        entry.observation = replace(entry.observation, version=version, phase=phase, message=message)
        entry.floor = version
        if phase is not Phase.PENDING:
            self._idle(entry, WakeSource.RESERVATION_RELEASED)

    def bound(self, entry: RunEntry, version: str) -> None:
        """An own bind was applied: nothing older counts any more, and what was seen may be newer."""
        if newer(version, entry.floor):
            entry.floor = version
        if entry.observation.phase is Phase.PENDING and self._release_outlived(entry):
            self._core.arrive(entry)

    def drop_bind(self, entry: RunEntry) -> None:
        """A bind that was never sent is not wanted any more, or can never land: queue the Run again."""
        entry.pending = None
        self._core.release(entry)
        self._core.enqueue(entry, None)

    def forget(self, entry: RunEntry) -> None:
        """The Run does not exist any more: nothing of it can land, so all that it held is free."""
        core = self._core
        core.waiting.withdraw(entry)
        core.to_key.pop(entry, None)
        entry.leave()
        entry.pending = None
        core.waiting.source = _released(entry.observation.active)
        core.reservations.end(entry, bound=False)
        core.state.claim(entry.key, None)
        core.runs.remove(entry)


def _outlived(entry: RunEntry, assumption: Assumption) -> bool:
    """Whether a Pending observation is newer than the bind: it was bound, ran, and is back.

    Not newer, it is an echo from before the bind. Without an answer yet it is looked at then.
    """
    seen = entry.observation.version
    if seen == assumption.guard:
        return False
    if assumption.bound_version:
        return newer(seen, assumption.bound_version)
    return assumption.doubtful and entry.sent is None and newer(seen, assumption.guard)


def _is_ours(assumption: Assumption, seen: RunObservation) -> bool:
    if seen.assigned_pod_uid is None:
        return seen.assigned_pod == assumption.pod.name
    return seen.assigned_pod_uid == assumption.pod.uid


def _released(was_active: bool) -> WakeSource:
    return WakeSource.CAPACITY_RELEASED if was_active else WakeSource.RESERVATION_RELEASED


def _asks_otherwise(before: RunObservation, after: RunObservation) -> bool:
    """Whether anything that a verdict on a Pending Run depends on has changed."""
    return (
        before.run != after.run
        or before.cancel_requested != after.cancel_requested
        or before.deleting != after.deleting
        or before.invalid != after.invalid
        or before.stopped_at != after.stopped_at
    )
