"""The scheduling cycle: take a snapshot, plan in the driver's place, commit.

PreFilter, Filter, Score and Normalize happen in the plan (`framework.runtime`), Reserve, Assume and
Bind in the commit. A Run parks only after everything that changed since its take was evaluated for
it, and is reserved only if every answer still holds.
"""

from __future__ import annotations

from collections import deque

from kruntimes_core.engine.core import Core
from kruntimes_core.engine.cycle.commit import Commit
from kruntimes_core.engine.cycle.offers import Offers
from kruntimes_core.engine.cycle.reserving import Reserving
from kruntimes_core.engine.cycle.steps import Steps
from kruntimes_core.engine.cycle.verdicts import Verdicts
from kruntimes_core.engine.cycle.work import (
    KeyWork,
    OfferWork,
    PlanWork,
    ReserveWork,
    Result,
    UnreserveWork,
    Work,
)
from kruntimes_core.engine.queueing.classes import WaitingClass
from kruntimes_core.engine.queueing.order import by_key
from kruntimes_core.engine.record.decision import NONE_TURNED_DOWN, Decision, Outcome
from kruntimes_core.engine.runs import RunEntry, Stage
from kruntimes_core.framework.runtime import PluginFailure
from kruntimes_core.model.run import Phase

# While the queue is never empty, one in so many cycles still belongs to the sweep.
_SWEEP_SHARE = 16
CANCELLED_MESSAGE = "cancelled before it was assigned to a runtime pod"


class Cycle:
    """Hands out work for one Run after another, and takes back what came of it."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._verdicts = Verdicts(core)
        self._steps = Steps(core, self._verdicts)
        self._reserving = Reserving(core, self._steps, self._verdicts)
        self._commit = Commit(core, self._steps, self._reserving, self._verdicts)
        self._offers = Offers(core, self._steps, self._commit, self._verdicts)
        self._sweeping: deque[WaitingClass] = deque()
        self._taken = 0
        self._last_key: object = None

    # Take

    def take(self) -> Work | None:
        """The next piece of work, or None when nothing can be tried now."""
        core = self._core
        if core.reservations.unreserves:
            return UnreserveWork(due=core.reservations.unreserves.popleft())
        if not core.leading:
            return None
        self._taken += 1
        return self._steps.next() or self._take_key() or self._take_run()

    def sweep(self) -> None:
        """Let every class be looked at once, between other work: a lost wakeup ends here."""
        if self._core.leading:
            self._sweeping.extend(w for w in self._core.waiting.classes() if not w.awake and not w.busy)

    def _take_key(self) -> KeyWork | None:
        core, plugin = self._core, self._core.queue_plugin
        while core.to_key and plugin is not None:
            entry = next(iter(core.to_key))
            del core.to_key[entry]
            if entry.stage is Stage.KEYING:
                return KeyWork(
                    entry=entry,
                    token=entry.token,
                    run=entry.run,
                    profile=core.profile(entry.run),
                    plugin=plugin,
                    now=core.now.wall,
                    last=self._reserving.greatest_key,
                    sample=self._last_key,
                )
        return None

    def _take_run(self) -> PlanWork | OfferWork | None:
        if self._sweeping and self._taken % _SWEEP_SHARE == 0 and (work := self._take_swept()):
            return work
        while True:
            self._core.waiting.deliver()
            target = self._core.queue.pop()
            if target is None:
                return self._take_swept()
            work = self._start_class(target) if isinstance(target, WaitingClass) else self._start(target)
            if work is not None:
                return work

    def _take_swept(self) -> PlanWork | OfferWork | None:
        while self._sweeping:
            waiting = self._sweeping.popleft()
            if waiting.awake or waiting.busy or not waiting.size:
                continue
            waiting.swept = True
            work = self._start_class(waiting)
            if work is not None:
                return work
        return None

    def _start_class(self, waiting: WaitingClass) -> PlanWork | OfferWork | None:
        offers = self._offers.take(waiting)
        if offers is not None:
            return offers
        entry = self._core.waiting.begin(waiting)
        if entry is None:
            return None
        work = self._start(entry, waiting)
        if work is None:
            self._core.waiting.done(waiting)
        return work

    def _start(self, entry: RunEntry, waiting: WaitingClass | None = None) -> PlanWork | None:
        """Begin a cycle for a Run, unless there is nothing to plan: then do what is due instead."""
        core, seen = self._core, entry.observation
        entry.turned_down = NONE_TURNED_DOWN
        if seen.deleting:
            entry.leave()
            self._note(entry, Outcome.IGNORED, "BeingDeleted", seen.message)
        elif seen.cancel_requested:
            self._verdicts.end(entry, Phase.CANCELLED, "Cancelled", CANCELLED_MESSAGE)
        elif core.retry_due(entry) > core.now.ticks:
            core.delay(entry, entry.delay_until)
            self._note(entry, Outcome.BACKOFF, "RetryDelay", seen.message, entry.delay_until)
        elif seen.invalid is not None:
            self._verdicts.end(entry, Phase.FAILED, seen.invalid.reason, seen.invalid.message)
        else:
            return self._steps.plan(entry, waiting)
        return None

    def _note(
        self, entry: RunEntry, outcome: Outcome, reason: str, message: str, until: int | None = None
    ) -> None:
        at = self._core.wall(until) if until is not None else None
        self._core.journal.note(
            entry, Decision(run=entry.run, outcome=outcome, reason=reason, message=message, until=at)
        )

    # Commit

    def finish(self, work: Work, result: Result) -> None:
        """Take back what came of a piece of work."""
        if isinstance(work, UnreserveWork):
            if isinstance(result, PluginFailure):
                self._verdicts.count_error(result.error)
        elif isinstance(work, OfferWork):
            self._offers.finish(work, result)
        elif isinstance(work, ReserveWork):
            self._reserving.reserved(work, result)
        elif work.entry.token != work.token:
            self._steps.settled(work)
        elif isinstance(work, KeyWork):
            self._keyed(work, result)
        elif isinstance(work, PlanWork):
            self._commit.planned(work, result)
        else:
            self._commit.checked(work, result)

    def _keyed(self, work: KeyWork, result: Result) -> None:
        if isinstance(result, PluginFailure):
            self._steps.broken(work, result.error)
            return
        entry, run = work.entry, work.run
        entry.leave()
        # Labels that changed meanwhile are another question: it is asked next.
        if (entry.run.attempt, entry.run.labels) == (run.attempt, run.labels):
            self._last_key = result
            entry.order = by_key(result, entry.arrival)
            self._core.keyed(entry)
        self._core.enqueue(entry, None)

    def forget_keys(self) -> None:
        """Another plugin orders the queue from now on; its keys say nothing about the former's."""
        self._last_key = self._reserving.greatest_key = None
