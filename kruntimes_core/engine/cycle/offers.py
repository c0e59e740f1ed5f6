"""Offering changed Pods to the classes of waiting Runs, many classes in one piece of work.

While nobody who waits can use what changed, which is nearly always, the first Run of each class stays
where it is, and all that is looked at are the columns of its states. It gets a cycle of its own when
it passes, fails, or changed meanwhile.
"""

from __future__ import annotations

from kruntimes_core.engine.core import Core
from kruntimes_core.engine.cycle.commit import Commit
from kruntimes_core.engine.cycle.steps import Steps
from kruntimes_core.engine.cycle.verdicts import Verdicts
from kruntimes_core.engine.cycle.work import Offer, OfferWork, PlanWork, Result
from kruntimes_core.engine.queueing.classes import WaitingClass
from kruntimes_core.engine.record.decision import NONE_TURNED_DOWN
from kruntimes_core.engine.runs import RunEntry
from kruntimes_core.framework.profile import Profile
from kruntimes_core.framework.runtime import PlanOutcome, PluginFailure, Unschedulable
from kruntimes_core.model.run import Run
from kruntimes_core.model.snapshot import Snapshot

# Classes in one piece of work. What comes meanwhile waits for it, be its place in the queue before them.
_AT_ONCE = 64


class Offers:
    """Takes classes from the queue, and takes back what came of their offers."""

    def __init__(self, core: Core, steps: Steps, commit: Commit, verdicts: Verdicts) -> None:
        self._core = core
        self._steps = steps
        self._commit = commit
        self._verdicts = verdicts

    def take(self, first: WaitingClass) -> OfferWork | None:
        """Offer its Pods to a class, and to those that are next in the queue.

        None where the class is not open to that: its first Run gets a cycle at once.
        """
        core = self._core
        offer = self._begin(first)
        if offer is None:
            return None
        offers = [offer]
        while len(offers) < _AT_ONCE and (offer := self._next(first)) is not None:
            offers.append(offer)
        run = offers[0].run
        profile = core.profile(run)
        then = self._next_run(profile)
        return OfferWork(
            entry=then.entry if then is not None else offers[0].entry,
            token=then.token if then is not None else offers[0].token,
            run=then.run if then is not None else run,
            profile=profile,
            offers=tuple(offers),
            snapshot=self._snapshot(run, then),
            version=core.state.version(run.namespace),
            then=then,
        )

    def _snapshot(self, run: Run, then: PlanWork | None) -> Snapshot:
        """What the offers are made from; that of the plan after them, where it is the same."""
        if then is not None and then.run.namespace == run.namespace and then.run.runtime == run.runtime:
            return then.snapshot
        return self._core.state.snapshot(run.namespace, run.runtime, self._core.now.wall)

    def finish(self, work: OfferWork, result: Result) -> None:
        """Take back what came of the offers; what was not reached is offered again."""
        if isinstance(result, PluginFailure):
            result = self._abandoned(work, result)
        # Who leads no more decides nothing; that was different for a while, if it leads again.
        outcomes: list[PlanOutcome] = result if self._core.leading else []
        full = bool(outcomes) and self._verdicts.known_full(work)  # nothing is reserved before the last one
        for offer, outcome in zip(work.offers, outcomes, strict=False):
            self._settle(work, offer, outcome, full)
        for offer in work.offers[len(outcomes) :]:
            self._core.waiting.done(offer.waiting)
        if work.then is not None and work.then.entry.token == work.then.token:
            self._go_on(work.then, outcomes[len(work.offers) :])

    def _go_on(self, then: PlanWork, outcomes: list[PlanOutcome]) -> None:
        """What came of the Run that is next in the queue; it goes back there if it was not reached."""
        for outcome in outcomes:
            self._came_back(then, outcome, alone=False)
        if not outcomes:
            self._core.enqueue(then.entry, None)

    def _abandoned(self, work: OfferWork, broken: PluginFailure) -> list[PlanOutcome]:
        """A call did not come back. Nobody knows in whose offer it hung: each is tried by itself now."""
        if len(work.offers) == 1 and work.then is None:
            return [broken]
        for offer in work.offers:
            offer.waiting.alone = True
        self._verdicts.count_error(broken.error)
        return []

    def _next(self, like: WaitingClass) -> Offer | None:
        """The offer to the class that is next in the queue, if it is of the same Runtime and profile."""
        waiting = self._core.queue.next()
        if not isinstance(waiting, WaitingClass) or waiting.key[:3] != like.key[:3]:
            return None
        offer = self._begin(waiting)
        if offer is not None:
            self._core.queue.advance()
        return offer

    def _next_run(self, profile: Profile) -> PlanWork | None:
        """The plan of the Run that is next in the queue, if it has the same profile."""
        entry = self._core.queue.next()
        if not isinstance(entry, RunEntry) or self._core.profile(entry.run) is not profile:
            return None
        if not self._core.eligible(entry):  # what is due for it is not due before the offers were made
            return None
        self._core.queue.advance()
        entry.turned_down = NONE_TURNED_DOWN
        return self._steps.plan(entry, None)

    def _begin(self, waiting: WaitingClass) -> Offer | None:
        """The offer to the first Run of a class, if the class is open to one."""
        needs, entry = waiting.needs, waiting.first()
        if entry is None or waiting.swept or waiting.alone or needs.every_change or needs.prepare_again:
            return None
        if not self._core.eligible(entry):
            return None
        waiting.busy = True
        return Offer(waiting, entry, entry.token, entry.run, entry.prepared)

    def _settle(self, work: OfferWork, offer: Offer, outcome: PlanOutcome, full: bool) -> None:
        waiting, entry = offer.waiting, offer.entry
        if entry.token != offer.token:  # it has left the class: the next one is tried
            self._core.waiting.done(waiting)
        elif isinstance(outcome, Unschedulable) and outcome.prefilter_state.class_key == waiting.key[3]:
            if self._commit.holds(offer.run, outcome.prefilter_state, work.snapshot):
                self._core.tally.rejected(outcome.rejections)
                self._verdicts.stay(work, offer, outcome, full)
            self._core.waiting.done(waiting)
        else:
            self._came_back(self._steps.begun(work, offer), outcome, alone=offer is work.offers[0])

    def _came_back(self, plan: PlanWork, outcome: PlanOutcome, alone: bool) -> None:
        """What came of one plan of a round. alone: none was made before it.

        One that was interrupted is made again by itself: those before it may have used up its time.
        """
        if isinstance(outcome, PluginFailure) and outcome.error.overtime and not alone:
            self._steps.again(plan)
        else:
            self._commit.planned(plan, outcome)
