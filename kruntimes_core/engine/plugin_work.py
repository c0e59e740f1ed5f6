"""Everything that calls a plugin, as work that the driver executes where it likes.

Work holds values alone, so it may run beside the thread that feeds the engine; its result comes back by
`Engine.finish`. Work that never comes back is simply never finished.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from kruntimes_core.engine.assumed_runs import Unreserve
from kruntimes_core.engine.decisions import Decision
from kruntimes_core.engine.runs import Assumption, RunEntry
from kruntimes_core.engine.scheduling_queue import EquivalenceClass, check_key
from kruntimes_core.framework.plugin_results import PluginError, Reject
from kruntimes_core.framework.profile import ActivePlugin, Profile
from kruntimes_core.framework.runtime import (
    InvalidRunResult,
    PlanOutcome,
    PluginFailure,
    PodScores,
    PreFilterState,
    Runner,
    ScheduleResult,
    Unschedulable,
    Verdict,
    plugin_calls,
)
from kruntimes_core.model.run import Run
from kruntimes_core.model.snapshot import Snapshot

# So many calls of plugins end a batch: it must not take much longer than one plan may.
_BATCH_CALLS = 1_000


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
    equivalence_class: EquivalenceClass | None = None
    """The class whose first Run this is, if it was taken from one."""

    def decision(self, **what: Any) -> Decision:
        """The decision that this work came to, made from its snapshot, if it has one."""
        return Decision(
            run=self.run,
            profile=self.profile,
            snapshot=getattr(self, "snapshot", None),
            turned_down=self.entry.turned_down,
            **what,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueKeyWork(RunWork):
    """Call `queue_key` for a Run."""

    plugin: ActivePlugin
    now: datetime
    last: Any
    """The greatest key of the Runs placed so far."""
    sample: Any
    """Another key of the plugin, or None: the new one must be comparable with it."""

    def execute(self, runners: Runners) -> Any:
        """The key, or `Broken`."""
        call = plugin_calls.positional(self.plugin.hooks["queue_key"], plugin_calls.QUEUE_KEY)
        try:
            key = call(self.run, self.now, self.last)
            check_key(self.plugin, key, self.sample, self.last)
        except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is its own error
            return PluginFailure(plugin_calls.plugin_error(self.plugin, "queue_key", error))
        return key


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanWork(RunWork):
    """Plan a Run on a snapshot: prefilter, filter, score, normalize."""

    snapshot: Snapshot
    version: int
    """Of the namespace when the snapshot was taken."""
    excluded: Set[str] = frozenset()
    """Pods that turned the reservation down in this cycle."""

    def execute(self, runners: Runners) -> PlanOutcome:
        """What the plan came to."""
        try:
            return runners.of(self.profile).plan(self.run, self.snapshot, self.excluded)
        except PluginError as error:
            return PluginFailure(error)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckWork(RunWork):
    """Call prefilter and filter again for the chosen Pod: something changed since the snapshot."""

    snapshot: Snapshot
    version: int
    pod_name: str

    def execute(self, runners: Runners) -> ScheduleResult | PluginFailure | None:
        """The Pod as it is now, or None if it does not pass any more."""
        try:
            return runners.of(self.profile).check(self.run, self.snapshot, self.pod_name)
        except PluginError as error:
            return PluginFailure(error)


@dataclass(slots=True)
class ClassRetry:
    """A class of waiting Runs whose Pods changed, with its first Run, which stays in it meanwhile."""

    equivalence_class: EquivalenceClass
    entry: RunEntry
    token: int
    run: Run
    before: PreFilterState | None
    """Of the Run, when it was planned last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRetryWork(RunWork):
    """Plan the first Runs of some classes on one snapshot, until one of them finds a Pod.

    Most Pods that change are of no use to a waiting Run, and then a retry costs a few looks at the result
    cache and no cycle of its own. The Run of this work is the one that comes next in the queue, if it is
    planned in the same batch, else that of the first retry.
    """

    retries: tuple[ClassRetry, ...]
    snapshot: Snapshot
    version: int
    """Of the namespace when the snapshot was taken."""
    next_plan: PlanWork | None = None
    """What comes after the classes in the queue."""

    def execute(self, runners: Runners) -> list[PlanOutcome]:
        """What came of the retries in order, and of what comes after them, as far as they were made."""
        runner = runners.of(self.profile)
        outcomes: list[PlanOutcome] = []
        limit = runner.call_counts.pods + _BATCH_CALLS
        for retry in self.retries:
            try:
                outcomes.append(runner.plan(retry.run, self.snapshot, before=retry.before))
            except PluginError as error:
                outcomes.append(PluginFailure(error))
            if not isinstance(outcomes[-1], Unschedulable) or runner.call_counts.pods > limit:
                return outcomes
        return outcomes if self.next_plan is None else [*outcomes, self.next_plan.execute(runners)]


@dataclass(frozen=True, slots=True)
class ReserveAnswer:
    """What the plugins' `reserve` returned: all None, or the first rejection or failure."""

    called: tuple[ActivePlugin, ...]
    turned_down: tuple[ActivePlugin, Reject] | None = None
    broken: PluginError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReserveWork(RunWork):
    """Call the plugins' `reserve` in order, until one rejects or fails."""

    assumption: Assumption
    snapshot: Snapshot
    """What the Pod was chosen from, for the record."""

    def execute(self, runners: Runners) -> ReserveAnswer:
        """What they returned."""
        called: list[ActivePlugin] = []
        for place, plugin in enumerate(self.profile.plugins):
            hook = plugin.hooks.get("reserve")
            if hook is None:
                continue
            called.append(plugin)
            reserve = plugin_calls.positional(hook, plugin_calls.RESERVE)
            state = self.assumption.prefilter_state.states[place]
            try:
                reject = plugin_calls.check_rejection(
                    plugin, reserve(self.assumption.pod, state, self.run), "reserve"
                )
            except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is its own error
                return ReserveAnswer(
                    tuple(called), broken=plugin_calls.plugin_error(plugin, "reserve", error)
                )
            if reject is not None:
                return ReserveAnswer(tuple(called), turned_down=(plugin, reject))
        return ReserveAnswer(tuple(called))

    def failed(self, error: PluginError) -> ReserveAnswer:
        """The answer when it never comes back: all were called, up to the plugin that `error` names.

        None was if it names none: an `unreserve` is owed for a `reserve` alone.
        """
        calling = self.profile.implementing("reserve")
        names = [plugin.name for plugin in calling] if error.hook == "reserve" else []
        called = calling[: names.index(error.plugin) + 1] if error.plugin in names else ()
        return ReserveAnswer(called, broken=error)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreserveWork:
    """Call one plugin's `unreserve`."""

    due: Unreserve

    def execute(self, runners: Runners) -> PluginFailure | None:
        """None, or the failure; the reservation has ended either way."""
        plugin, assumption = self.due.plugin, self.due.assumption
        unreserve = plugin_calls.positional(plugin.hooks["unreserve"], plugin_calls.UNRESERVE)
        place = assumption.profile.plugins.index(plugin)
        state = assumption.prefilter_state.states[place]
        try:
            unreserve(assumption.pod, state, assumption.run, self.due.bound)
        except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is its own error
            return PluginFailure(plugin_calls.plugin_error(plugin, "unreserve", error))
        return None


Work = QueueKeyWork | PlanWork | BatchRetryWork | CheckWork | ReserveWork | UnreserveWork
WorkResult = Any
"""Whatever the work's `execute` returned."""


# Evaluating a Run on a snapshot, without a cycle.


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What a profile's plugins answer for one Run on one snapshot."""

    best: str | None = None
    """The Pod that they choose."""
    invalid: InvalidRunResult | None = None
    """The plugin that says that the Run can never be placed; then there are no verdicts."""
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    """Each Pod's first rejection, None if it is feasible."""
    scored: Mapping[str, PodScores] = field(default_factory=dict)
    """The scores of the feasible Pods."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationInput:
    """A Run, and the snapshot that it is evaluated on."""

    run: Run
    snapshot: Snapshot
    excluded: Set[str] = frozenset()
    """Pods that turned down a reservation."""
    verdicts: Mapping[str, Verdict] | None = None
    """Answers that were kept, because they cannot be had again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateWork:
    """Work for a driver: evaluate several inputs by one profile. It changes nothing in an engine."""

    profile: Profile
    inputs: tuple[EvaluationInput, ...]

    def execute(self, runners: Runners) -> tuple[Evaluation, ...] | PluginFailure:
        """One evaluation for each input, in order."""
        try:
            return tuple([_evaluate(self.profile, each) for each in self.inputs])
        except PluginError as error:
            return PluginFailure(error)


def _evaluate(profile: Profile, given: EvaluationInput) -> Evaluation:
    """By a runner of its own: the result cache of the cycles is not led back to another snapshot."""
    runner, run, snapshot = Runner(profile), given.run, given.snapshot
    planned = runner.plan(run, snapshot, given.excluded)
    if isinstance(planned, InvalidRunResult):
        return Evaluation(invalid=planned)
    verdicts, scored = runner.explain(run, snapshot, given.excluded)
    return Evaluation(
        best=planned.pod.name if isinstance(planned, ScheduleResult) else None,
        verdicts=verdicts if given.verdicts is None else given.verdicts,
        scored=scored,
    )
