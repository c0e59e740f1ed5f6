"""Everything that calls a plugin, as work that the driver executes where it likes.

Work holds values alone, so it may be executed beside the thread that feeds the engine; its result comes back
by `Engine.finish`. Work that never comes back is never finished.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeVar

from kruntimes_core.engine.decisions import NONE_TURNED_DOWN, Decision, ReserveRejection
from kruntimes_core.engine.runs import Assumption, RunEntry, Stage
from kruntimes_core.engine.scheduling_queue import EquivalenceClass, check_key
from kruntimes_core.framework.hookspecs import Reject
from kruntimes_core.framework.profile import ActivePlugin, CurrentCall, PluginError, Profile
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

T = TypeVar("T")

# So many calls of plugins end a batch: it must not take much longer than one plan may.
_BATCH_CALLS = 1_000


class Runners:
    """One `Runner` for each profile, all of one worker.

    With `rebuild=True` the worker has instances of its own of the plugins, not those that the profile names.
    """

    def __init__(self, reuse: bool = True, rebuild: bool = False, current: CurrentCall | None = None) -> None:
        """current: where the building of instances is noted."""
        self._reuse = reuse
        self._rebuild = rebuild
        self._current = current or CurrentCall()
        self._runners: dict[str, tuple[Profile, Runner]] = {}

    def of(self, profile: Profile) -> Runner:
        """The runner of a profile; that of a former profile of the same name is forgotten.

        Raises `PluginError` where an instance cannot be built.
        """
        known, runner = self._runners.get(profile.name, (None, None))
        if runner is None or known is not profile:
            own = profile
            if self._rebuild and profile.build is not None:
                own = replace(profile, plugins=profile.build(self._current))
            runner = Runner(own, self._reuse)
            self._runners[profile.name] = (profile, runner)
        return runner

    def plugins(self, profile: Profile) -> tuple[ActivePlugin, ...]:
        """The plugins of a profile, with the instances of this worker. Raises `PluginError`, as `of`."""
        return self.of(profile).profile.plugins


@dataclass(slots=True, eq=False)
class Cycle:
    """A scheduling cycle of one Run. Only the engine changes it, and only between two pieces of work."""

    entry: RunEntry
    token: int
    run: Run
    profile: Profile
    snapshot: Snapshot
    version: int
    """Of the namespace when the snapshot was taken."""
    equivalence_class: EquivalenceClass | None = None
    """The class whose first Run this is, if it was taken from one."""
    before: PreFilterState | None = None
    """What the prefilters made of a Run that waits, when it was planned last."""
    turned_down: Mapping[str, ReserveRejection] = NONE_TURNED_DOWN
    """Pods that refused the reservation in this cycle, by name."""
    steps: Generator[PlanWork | CheckWork | ReserveWork, Any, None] | None = None
    """How the cycle goes on with the result of its last work; None until it has begun."""

    @property
    def void(self) -> bool:
        """Whether the Run has left its stage since."""
        return self.entry.token != self.token

    def begin(self, steps: Generator[PlanWork | CheckWork | ReserveWork, Any, None]) -> None:
        """Begin with the first of the steps."""
        self.steps = steps
        next(steps)

    def enter(self, stage: Stage) -> None:
        """Let the Run go on to a stage."""
        self.entry.enter(stage)
        self.token = self.entry.token

    def renew(self, profile: Profile, snapshot: Snapshot, version: int) -> None:
        """Go on with the Run, its profile and the namespace as they are now."""
        self.run = self.entry.run
        self.profile = profile
        self.snapshot = snapshot
        self.version = version

    def turn_down(self, plugin: str | None, rejects: Mapping[str, Reject]) -> None:
        """Leave these Pods out from here on. plugin: the one that rejects the reservation; None: the host."""
        refused = {pod: ReserveRejection(plugin, reject) for pod, reject in rejects.items()}
        self.turned_down = {**self.turned_down, **refused}

    def decision(self, **what: Any) -> Decision:
        """The decision that this cycle came to."""
        return Decision(
            run=self.run,
            profile=self.profile,
            snapshot=self.snapshot,
            turned_down=self.turned_down,
            **what,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueKeyWork:
    """Call `queue_key` for a Run. Void when the Run has left its stage since (`token`)."""

    entry: RunEntry
    token: int
    run: Run
    profile: Profile
    owner: Profile
    """The profile whose instance of the plugin orders the queue."""
    plugin: ActivePlugin
    now: datetime
    last: Any
    """The greatest key of the Runs placed so far."""
    sample: Any
    """Another key of the plugin, or None: the new one must be comparable with it."""

    def execute(self, runners: Runners) -> Any:
        """The key, or `PluginFailure`."""

        def queue_key() -> Any:
            plugin = runners.plugins(self.owner)[self.owner.plugins.index(self.plugin)]
            with _named(self.plugin, "queue_key"):
                call = plugin_calls.positional(plugin.hooks["queue_key"], plugin_calls.QUEUE_KEY)
                key = call(self.run, self.now, self.last)
                check_key(self.plugin, key, self.sample, self.last)
                return key

        return _or_failure(queue_key)

    def decision(self, **what: Any) -> Decision:
        """The decision where the plugin failed."""
        return Decision(run=self.run, profile=self.profile, **what)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWork:
    """Work of a cycle, with the Run and the profile as they were when it was made."""

    cycle: Cycle
    run: Run
    profile: Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanWork(RunWork):
    """Plan a Run on a snapshot: prefilter, filter, score, normalize."""

    snapshot: Snapshot
    excluded: Set[str] = frozenset()
    """Pods that turned the reservation down in this cycle."""

    def execute(self, runners: Runners) -> PlanOutcome:
        """What the plan came to."""
        return _or_failure(lambda: runners.of(self.profile).plan(self.run, self.snapshot, self.excluded))


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckWork(RunWork):
    """Call prefilter and filter again for the chosen Pod: something changed since the snapshot."""

    snapshot: Snapshot
    pod_name: str

    def execute(self, runners: Runners) -> ScheduleResult | PluginFailure | None:
        """The Pod as it is now, or None if it does not pass any more."""
        return _or_failure(lambda: runners.of(self.profile).check(self.run, self.snapshot, self.pod_name))


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRetryWork(RunWork):
    """Plan the first Runs of some classes on one snapshot, until one of them finds a Pod.

    Most Pods that change are of no use to a waiting Run, and then a retry costs a few looks at the result
    cache and no cycle of its own. The cycle of this work is that of the Run that comes next in the queue, if
    that is planned in the same batch, else that of the first retry.
    """

    retries: tuple[Cycle, ...]
    """They begin only where a Pod is found or a plugin fails."""
    next_plan: PlanWork | None = None
    """What comes after the classes in the queue."""

    def execute(self, runners: Runners) -> list[PlanOutcome]:
        """What came of the retries in order, and of what comes after them, as far as they were made."""
        runner = runners.of(self.profile)
        outcomes: list[PlanOutcome] = []
        limit = runner.calls + _BATCH_CALLS
        for retry in self.retries:
            try:
                outcomes.append(runner.plan(retry.run, retry.snapshot, before=retry.before))
            except PluginError as error:
                outcomes.append(PluginFailure(error))
            if not isinstance(outcomes[-1], Unschedulable) or runner.calls > limit:
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

    def execute(self, runners: Runners) -> ReserveAnswer:
        """What they returned."""
        pod, states = self.assumption.pod, self.assumption.prefilter_state.states
        called: list[ActivePlugin] = []
        built = runners.plugins(self.profile)
        for place, plugin in enumerate(self.profile.plugins):
            if "reserve" not in plugin.hooks:
                continue
            called.append(plugin)
            try:
                with _named(plugin, "reserve"):
                    call = plugin_calls.positional(built[place].hooks["reserve"], plugin_calls.RESERVE)
                    reject = plugin_calls.check_rejection(
                        plugin, call(pod, states[place], self.run), "reserve"
                    )
            except PluginError as error:
                return ReserveAnswer(tuple(called), broken=error)
            if reject is not None:
                return ReserveAnswer(tuple(called), turned_down=(plugin, reject))
        return ReserveAnswer(tuple(called))

    def failed(self, error: PluginError) -> ReserveAnswer:
        """The answer when it never comes back: all were called, up to the plugin that `error` names.

        If it names none, none was called: `unreserve` is due only after a `reserve`.
        """
        calling = self.profile.implementing("reserve")
        names = [plugin.name for plugin in calling] if error.hook == "reserve" else []
        called = calling[: names.index(error.plugin) + 1] if error.plugin in names else ()
        return ReserveAnswer(called, broken=error)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreserveWork:
    """Call one plugin's `unreserve`."""

    plugin: ActivePlugin
    assumption: Assumption
    bound: bool

    def execute(self, runners: Runners) -> PluginFailure | None:
        """None, or the failure; the reservation has ended either way."""
        made = self.assumption
        place = made.profile.plugins.index(self.plugin)
        state = made.prefilter_state.states[place]

        def unreserve() -> None:
            plugin = runners.plugins(made.profile)[place]
            with _named(self.plugin, "unreserve"):
                call = plugin_calls.positional(plugin.hooks["unreserve"], plugin_calls.UNRESERVE)
                call(made.pod, state, made.run, self.bound)

        return _or_failure(unreserve)


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
        return _or_failure(
            lambda: tuple([_evaluate(runners.of(self.profile).profile, each) for each in self.inputs])
        )


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


PluginWork = Work | EvaluateWork
"""What runs the code of plugins: a step of a cycle, or an evaluation."""


def profile_of(work: PluginWork) -> Profile:
    """The profile whose instances a piece of work calls."""
    if isinstance(work, UnreserveWork):
        return work.assumption.profile
    return work.owner if isinstance(work, QueueKeyWork) else work.profile


def plugins_of(work: PluginWork) -> tuple[ActivePlugin, ...]:
    """The plugins that a piece of work may call."""
    if isinstance(work, UnreserveWork | QueueKeyWork):
        return (work.plugin,)
    return work.profile.plugins


# Inside.


@contextmanager
def _named(plugin: ActivePlugin, hook: str) -> Iterator[None]:
    """Raise the `PluginError` that names the plugin, for whatever is raised inside."""
    try:
        yield
    except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is its own error
        raise plugin_calls.plugin_error(plugin, hook, error) from None


def _or_failure(call: Callable[[], T]) -> T | PluginFailure:
    try:
        return call()
    except PluginError as error:
        return PluginFailure(error)
