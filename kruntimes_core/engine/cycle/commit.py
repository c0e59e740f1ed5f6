"""Commit: check that the answers still hold, reserve, assume, bind; or let the Run wait or end."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from kruntimes_core.engine.binding.requests import PendingBind
from kruntimes_core.engine.core import Core
from kruntimes_core.engine.cycle.verdicts import Verdicts
from kruntimes_core.engine.cycle.work import (
    CheckWork,
    Offer,
    OfferWork,
    PlanWork,
    ReserveAnswer,
    ReserveWork,
    RunWork,
)
from kruntimes_core.engine.queueing.classes import WaitingClass
from kruntimes_core.engine.queueing.order import greatest, key_of
from kruntimes_core.engine.record.decision import NONE_TURNED_DOWN, TurnedDown
from kruntimes_core.engine.runs import RunEntry, Stage
from kruntimes_core.engine.tally import Conflict, WakeSource
from kruntimes_core.framework.outcomes import PluginError, Reject
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.framework.runner import (
    Broken,
    Chosen,
    Invalid,
    PlanOutcome,
    Prepared,
    Unschedulable,
)
from kruntimes_core.model.pod import RuntimePod, shortage
from kruntimes_core.model.run import Phase, Run
from kruntimes_core.model.snapshot import Snapshot
from kruntimes_core.model.workspace import WorkspacePhase

# The host's own reason when its capacity check turns a chosen Pod down.
INSUFFICIENT_CAPACITY = "InsufficientCapacity"


class Commit:
    """What follows on a plan."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self.verdicts = Verdicts(core)
        self._steps: deque[PlanWork | CheckWork | ReserveWork] = deque()
        """Work that goes on at once with a cycle under way."""
        self.greatest_key: object = None
        """The greatest queue key of the Runs placed so far."""

    def next_step(self) -> PlanWork | CheckWork | ReserveWork | None:
        """The next step of a cycle under way, if it was not made void meanwhile."""
        while self._steps:
            work = self._steps.popleft()
            if work.entry.token == work.token:
                return work
            self.settled(work)
        return None

    def plan(self, entry: RunEntry, waiting: WaitingClass | None) -> PlanWork:
        """Take: the snapshot for a Run's plan, without the Pods that turned it down in this cycle."""
        core, run = self._core, entry.run
        self._begin(entry)
        return PlanWork(
            entry=entry,
            token=entry.token,
            run=run,
            profile=core.profile(run),
            waiting=waiting,
            snapshot=core.state.snapshot(run.namespace, run.runtime, core.now.wall),
            version=core.state.version(run.namespace),
            excluded=frozenset(entry.turned_down),
        )

    def begun(self, work: OfferWork, offer: Offer) -> PlanWork:
        """The plan that was made for a Run while it waited, as one that was taken for itself."""
        self._begin(offer.entry)
        offer.entry.turned_down = NONE_TURNED_DOWN
        return PlanWork(
            entry=offer.entry,
            token=offer.entry.token,
            run=offer.run,
            profile=work.profile,
            waiting=offer.waiting,
            snapshot=work.snapshot,
            version=work.version,
        )

    def _begin(self, entry: RunEntry) -> None:
        self._core.waiting.withdraw(entry)
        entry.leave()
        entry.stage = Stage.WORKING

    def planned(self, work: PlanWork, outcome: PlanOutcome) -> None:
        """A plan came back, and the Run is still the same."""
        if isinstance(outcome, Broken):
            self.broken(work, outcome.error)
        elif not self.holds(
            work.run, outcome if isinstance(outcome, Invalid) else outcome.prepared, work.snapshot
        ):
            self.again(work)
        elif isinstance(outcome, Invalid):
            self.verdicts.end(work.entry, Phase.FAILED, outcome.reason, outcome.message)
            self.settled(work)
        elif isinstance(outcome, Unschedulable):
            self._core.tally.rejected(outcome.rejections)
            self.verdicts.wait(work, outcome)
            self.settled(work)
        else:
            self._core.tally.rejected(outcome.rejections)
            self._chosen(work, outcome)

    def checked(self, work: CheckWork, outcome: Chosen | Broken | None) -> None:
        """The chosen Pod was asked about again."""
        if isinstance(outcome, Broken):
            self.broken(work, outcome.error)
        elif outcome is None:
            self.again(work)
        else:
            self._chosen(work, outcome)

    # Reserve and Assume

    def _chosen(self, work: PlanWork | CheckWork, chosen: Chosen) -> None:
        """Reserve the chosen Pod if all that it was chosen by is the same, else ask again first."""
        core, entry, run = self._core, work.entry, work.run
        same_pod = core.state.pods.get(run.namespace, chosen.pod.name) is chosen.pod
        moved = core.needs(work.profile).snapshot_counts and work.version != core.state.version(run.namespace)
        if not same_pod or moved or not self.holds(run, chosen.prepared, work.snapshot):
            self._check(work, chosen)
            return
        core.waiting.source = WakeSource.TARGET
        if not core.reservations.reserve(entry, chosen, work.profile):
            core.tally.reservation_conflicts[Conflict.RESERVE] += 1
            self._no_room(work, chosen.pod)
            return
        entry.leave()
        entry.stage = Stage.BINDING
        if work.profile.implementing("reserve") and entry.assumption is not None:
            self._steps.append(
                ReserveWork(
                    entry=entry,
                    token=entry.token,
                    run=run,
                    profile=work.profile,
                    waiting=work.waiting,
                    assumption=entry.assumption,
                    snapshot=work.snapshot,
                )
            )
        else:
            self._bind(work)

    def _check(self, work: PlanWork | CheckWork, chosen: Chosen) -> None:
        core, run = self._core, work.run
        self._steps.append(
            CheckWork(
                entry=work.entry,
                token=work.entry.token,
                run=run,
                profile=work.profile,
                waiting=work.waiting,
                snapshot=core.state.snapshot(run.namespace, run.runtime, core.now.wall),
                version=core.state.version(run.namespace),
                pod_name=chosen.pod.name,
            )
        )

    def reserved(self, work: ReserveWork, result: ReserveAnswer | Broken) -> None:
        """The plugins' `reserve` was asked. The assumption may have ended meanwhile."""
        core, entry, assumption = self._core, work.entry, work.assumption
        answer = _abandoned(work, result) if isinstance(result, Broken) else result
        assumption.asked = list(answer.asked)
        if entry.assumption is not assumption:
            core.reservations.give_back(assumption, bound=False)
            self.settled(work)
        elif answer.broken is not None:
            self._undo(entry)
            self.broken(work, answer.broken)
        elif answer.turned_down is not None:
            self._undo(entry)
            plugin, reject = answer.turned_down
            self._turned_down(work, {assumption.pod.name: TurnedDown(plugin.name, reject)})
        else:
            self._bind(work)

    def _undo(self, entry: RunEntry) -> None:
        self._core.waiting.source = WakeSource.RESERVATION_RELEASED
        self._core.reservations.end(entry, bound=False)

    def _no_room(self, work: RunWork, pod: RuntimePod) -> None:
        """Leave the Pod out; when it is not the first, all Pods without room.

        Then nobody filters by room, and a plan for each of them would come to nothing in turn.
        """
        run, pods = work.run, [pod]
        if any(by.plugin is None for by in work.entry.turned_down.values()):
            known = self._core.state.pods_of(run.namespace, run.runtime).values()
            pods = [pod for pod in known if not pod.fits(run.request)]
        no_room = {pod.name: Reject(INSUFFICIENT_CAPACITY, shortage(pod, run.request)) for pod in pods}
        self._turned_down(work, {name: TurnedDown(None, reject) for name, reject in no_room.items()})

    def _turned_down(self, work: RunWork, by_pod: Mapping[str, TurnedDown]) -> None:
        """Leave these Pods out and try the next best in the same cycle."""
        work.entry.turned_down = {**work.entry.turned_down, **by_pod}
        self.again(work)

    # Bind

    def _bind(self, work: RunWork) -> None:
        core, entry = self._core, work.entry
        assumption = entry.assumption
        if assumption is None:
            raise AssertionError(f"run {entry.key} is to be bound without a reservation")
        core.outbox.put(entry, PendingBind(assumption))
        self.greatest_key = greatest(self.greatest_key, key_of(entry.order))
        self.verdicts.scheduled(work)
        if work.waiting is not None and work.waiting.swept and not work.waiting.awake:
            core.tally.rescues += 1
            work.waiting.awake = True
        self.settled(work)

    def broken(self, work: RunWork, error: PluginError) -> None:
        """A plugin failed in a cycle."""
        self.verdicts.broken(work, error)
        self.settled(work)

    def settled(self, work: RunWork) -> None:
        """The cycle is over: the class that the Run came from goes on."""
        if work.waiting is not None:
            self._core.waiting.done(work.waiting)

    def again(self, work: RunWork) -> None:
        """Plan again at once: without the Pods turned down, or from what has changed."""
        self._steps.append(self.plan(work.entry, work.waiting))

    def holds(self, run: Run, prepared: Prepared | Invalid, snapshot: Snapshot) -> bool:
        """Whether what the prefilters were told, by the snapshot, is still so."""
        state = self._core.state
        targets = state.targets(run.namespace)
        if targets is not snapshot.targets and not prepared.reads.hold(targets):
            return False
        known = state.workspaces.get(run.namespace, run.workspace) if run.workspace is not None else None
        told = prepared.workspace
        if told is not None and told.phase is WorkspacePhase.MISSING:
            told = None
        return known == told


def _abandoned(work: ReserveWork, result: Broken) -> ReserveAnswer:
    """The answer for a call that never returned: all were asked, up to the plugin that hangs."""
    asked: list[ActivePlugin] = []
    for plugin in work.profile.implementing("reserve"):
        asked.append(plugin)
        if plugin.name == result.error.plugin:
            break
    return ReserveAnswer(tuple(asked), broken=result.error)
