"""Everything that runs a plugin's code, as work that the driver executes where it likes.

Work holds values alone, so it may run beside the thread that feeds the engine; what it found comes
back by `Engine.finish`. Work that never comes back is simply never finished.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kruntimes_core.engine.binding.assumption import Assumption
from kruntimes_core.engine.binding.reservations import Unreserve
from kruntimes_core.engine.queueing.classes import WaitingClass
from kruntimes_core.engine.queueing.order import check_key
from kruntimes_core.engine.runs import RunEntry
from kruntimes_core.framework.outcomes import PluginError, Reject
from kruntimes_core.framework.profile import ActivePlugin, Profile
from kruntimes_core.framework.runner import (
    Broken,
    Chosen,
    Invalid,
    PlanOutcome,
    Runner,
    Unschedulable,
    calls,
    checks,
)
from kruntimes_core.model.run import Run
from kruntimes_core.model.snapshot import Snapshot

# So many questions to plugins end a round of offers: it must not take much longer than a plan may.
_QUESTIONS = 1_000


class Runners:
    """One `Runner` for each profile, all of one worker."""

    def __init__(self, reuse: bool = True) -> None:
        self._reuse = reuse
        self._runners: dict[str, Runner] = {}

    def of(self, profile: Profile) -> Runner:
        """The runner of a profile; that of a former profile of the same name is forgotten."""
        runner = self._runners.get(profile.name)
        if runner is None or runner.profile is not profile:
            runner = self._runners[profile.name] = Runner(profile, self._reuse)
        return runner


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWork:
    """Work for one Run. Void when the Run has left its stage since (`token`)."""

    entry: RunEntry
    token: int
    run: Run
    profile: Profile
    waiting: WaitingClass | None = None
    """The class whose first Run this is, if it was taken from one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyWork(RunWork):
    """Ask `queue_key` for a Run."""

    plugin: ActivePlugin
    now: datetime
    last: Any
    sample: Any

    def execute(self, runners: Runners) -> Any:
        """The key, or `Broken`."""
        ask = calls.positional(self.plugin.hooks["queue_key"], calls.QUEUE_KEY)
        try:
            key = ask(self.run, self.now, self.last)
            check_key(self.plugin, key, self.sample, self.last)
        except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is its own error
            return Broken(calls.broken(self.plugin, "queue_key", error))
        return key


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanWork(RunWork):
    """Plan a Run on a snapshot."""

    snapshot: Snapshot
    version: int
    """Of the namespace at the take."""
    excluded: Set[str] = frozenset()

    def execute(self, runners: Runners) -> PlanOutcome:
        """What came of it."""
        try:
            return runners.of(self.profile).plan(self.run, self.snapshot, self.excluded)
        except PluginError as error:
            return Broken(error)


@dataclass(slots=True)
class Offer:
    """A class of waiting Runs whose Pods changed, with its first Run, which stays in it meanwhile."""

    waiting: WaitingClass
    entry: RunEntry
    token: int
    run: Run


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferWork(RunWork):
    """Plan the first Runs of some classes on one snapshot, until one of them finds a Pod.

    Most Pods that change are of use to nobody who waits, and then an offer costs a few looks at columns
    and no cycle of its own. The Run of this work is the one that comes next in the queue, if it is
    planned in the same go, else that of the first offer.
    """

    offers: tuple[Offer, ...]
    snapshot: Snapshot
    version: int
    """Of the namespace at the take."""
    then: PlanWork | None = None
    """What comes after them in the queue."""

    def execute(self, runners: Runners) -> list[PlanOutcome]:
        """What came of the offers in order, and of what comes after them, as far as they were made."""
        runner = runners.of(self.profile)
        outcomes: list[PlanOutcome] = []
        limit = runner.effort.questions + _QUESTIONS
        for offer in self.offers:
            try:
                outcomes.append(runner.plan(offer.run, self.snapshot))
            except PluginError as error:
                outcomes.append(Broken(error))
            if not isinstance(outcomes[-1], Unschedulable) or runner.effort.questions > limit:
                return outcomes
        return outcomes if self.then is None else [*outcomes, self.then.execute(runners)]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckWork(RunWork):
    """Ask prefilter and filter again for the chosen Pod: something changed since the take."""

    snapshot: Snapshot
    version: int
    pod_name: str

    def execute(self, runners: Runners) -> Chosen | Broken | None:
        """The Pod as it is now, or None if it does not pass any more."""
        try:
            return runners.of(self.profile).check(self.run, self.snapshot, self.pod_name)
        except PluginError as error:
            return Broken(error)


@dataclass(frozen=True, slots=True)
class ReserveAnswer:
    """What the plugins' `reserve` said: all yes, or the first no or failure."""

    asked: tuple[ActivePlugin, ...]
    turned_down: tuple[ActivePlugin, Reject] | None = None
    broken: PluginError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReserveWork(RunWork):
    """Ask the plugins' `reserve` in order, until one says no or fails."""

    assumption: Assumption
    snapshot: Snapshot
    """What the Pod was chosen from, for the record."""

    def execute(self, runners: Runners) -> ReserveAnswer:
        """What they said."""
        asked: list[ActivePlugin] = []
        for place, plugin in enumerate(self.profile.plugins):
            hook = plugin.hooks.get("reserve")
            if hook is None:
                continue
            asked.append(plugin)
            ask = calls.positional(hook, calls.RESERVE)
            state = self.assumption.prepared.states[place]
            try:
                reject = checks.rejection(plugin, ask(self.assumption.pod, state, self.run), "reserve")
            except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is its own error
                return ReserveAnswer(tuple(asked), broken=calls.broken(plugin, "reserve", error))
            if reject is not None:
                return ReserveAnswer(tuple(asked), turned_down=(plugin, reject))
        return ReserveAnswer(tuple(asked))


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreserveWork:
    """Ask one plugin's `unreserve`."""

    due: Unreserve

    def execute(self, runners: Runners) -> Broken | None:
        """None, or the failure; the reservation has ended either way."""
        plugin, assumption = self.due.plugin, self.due.assumption
        ask = calls.positional(plugin.hooks["unreserve"], calls.UNRESERVE)
        place = assumption.profile.plugins.index(plugin)
        try:
            ask(assumption.pod, assumption.prepared.states[place], assumption.run, self.due.bound)
        except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is its own error
            return Broken(calls.broken(plugin, "unreserve", error))
        return None


Work = KeyWork | PlanWork | OfferWork | CheckWork | ReserveWork | UnreserveWork
Result = Any
"""Whatever the work's `execute` returned."""

__all__ = [
    "CheckWork",
    "Invalid",
    "KeyWork",
    "Offer",
    "OfferWork",
    "PlanWork",
    "ReserveAnswer",
    "ReserveWork",
    "Result",
    "Runners",
    "UnreserveWork",
    "Work",
]
