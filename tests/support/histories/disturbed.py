"""Histories in which the network, the watch, the worker and the Lease misbehave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hypothesis import strategies as st

from histories.history import History
from histories.steps import Step, pod_names, run_names
from kruntimes_core.cluster.plugin_worker import failed
from kruntimes_core.engine.api_calls import OutcomeUnknown, Write, WriteAnswer
from kruntimes_core.engine.engine import Settings
from kruntimes_core.engine.plugin_work import (
    BatchRetryWork,
    PlanWork,
    ReserveWork,
    Runners,
    UnreserveWork,
    Work,
    WorkResult,
)
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.framework.profile import ActivePlugin, InterruptedCallError
from kruntimes_core.framework.runtime import PluginFailure, plugin_calls
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness import (
    PODS,
    RUNS,
    WORKSPACES,
    Host,
    answer_late,
    apply,
    arrive_late,
    land_late,
    lose_answer,
    lose_request,
    refuse,
)

FAULTS: dict[str, Callable[[Host, Write], WriteAnswer | None]] = {
    "apply": apply,
    "lose answer": lose_answer,
    "lose request": lose_request,
    "answer late": answer_late(1.5),
    "arrive late": arrive_late(1.5),
    "land late": land_late(4),
    "conflict": refuse(409),
    "too many": refuse(429, 2),
    "unprocessable": refuse(422),
}
disturbances: st.SearchStrategy[Step] = st.one_of(
    st.tuples(st.just("fault"), run_names, st.sampled_from(sorted(FAULTS))),
    st.tuples(st.just("fault"), run_names, st.sampled_from(sorted(FAULTS))),
    st.tuples(st.just("lose_read")),
    st.tuples(st.just("hold"), st.sampled_from([RUNS, PODS, WORKSPACES])),
    st.tuples(st.just("resume")),
    st.tuples(st.just("relist"), st.sampled_from([RUNS, PODS, WORKSPACES])),
    st.tuples(st.just("stand_down")),
    st.tuples(st.just("take")),
    st.tuples(st.just("take")),
    st.tuples(st.just("offer"), pod_names),
    st.tuples(st.just("offer"), pod_names),
    st.tuples(st.just("finish"), st.integers(0, 3)),
    st.tuples(st.just("abandon"), st.integers(0, 3)),
    st.tuples(st.just("interrupt"), st.integers(0, 3), st.integers(0, 3)),
    st.tuples(st.just("abandon"), st.integers(0, 3)),
    st.tuples(st.just("interrupt"), st.integers(0, 3), st.integers(0, 3)),
    st.tuples(st.just("reload")),
    st.tuples(st.just("send")),
    st.tuples(st.just("settle")),
)


class Disturbed(History):
    """A history in which the network, the watch, the worker and the lease misbehave."""

    def __init__(self, profiles: Profiles, settings: Settings | None = None) -> None:
        super().__init__(Host(profiles, settings=settings))
        self._profiles = profiles
        self.host.server.invariants.pods_may_go = True
        self.under_way: list[Work] = []
        self.edits = 0

    def fault(self, name: str, fault: str) -> None:
        self.host.disturb(name, FAULTS[fault])

    def lose_read(self) -> None:
        self.host.read_faults.append(lambda host, read: OutcomeUnknown())

    def hold(self, kind: str) -> None:
        self.host.watches.hold(kind)

    def resume(self) -> None:
        self.host.watches.resume(RUNS, PODS, WORKSPACES)

    def relist(self, kind: str) -> None:
        self.host.relist(kind)

    def stand_down(self) -> None:
        self.host.engine.stand_down(self.host.now)
        self.host.advance(1)
        self.host.engine.lead(self.host.now)

    def take(self) -> None:
        self.host.observe()
        work = self.host.engine.take(self.host.now)
        if work is not None:
            self.under_way.append(work)

    def offer(self, pod: str) -> None:
        """All is quiet, and then a Pod changes and is offered to those that wait."""
        self.host.settle()
        if self.host.server.exists(PODS, NAMESPACE, pod):
            self.edits += 1
            note = {"metadata": {"annotations": {"note": str(self.edits)}}}
            self.host.server.change(PODS, NAMESPACE, pod, note)
            self.take()

    def finish(self, place: int) -> None:
        if self.under_way:
            self.host.finish(self._one(place))

    def abandon(self, place: int) -> None:
        """A call is made, and does not come back."""
        if self.under_way:
            work = self._one(place)
            plugin, hook = _asked_last(work)
            work.execute(Runners())
            error = plugin.error(hook, "did not return within 5 s: the call is abandoned")
            self.host.engine.finish(work, failed(work, error), self.host.now)

    def interrupt(self, place: int, plans: int) -> None:
        """The time limit strikes in a plan after so many others of its round."""
        planning = [work for work in self.under_way if isinstance(work, PlanWork | BatchRetryWork)]
        if planning:
            work = planning[place % len(planning)]
            self.under_way.remove(work)
            struck = PluginFailure(
                plugin_calls.plugin_error(work.profile.plugins[0], "filter", InterruptedCallError())
            )
            result: WorkResult = struck
            if isinstance(work, BatchRetryWork):
                number = len(work.retries) + (work.next_plan is not None)
                result = [*work.execute(Runners())[:plans], struck][:number]
            self.host.engine.finish(work, result, self.host.now)

    def _one(self, place: int) -> Work:
        """Take a piece of work that is under way."""
        return self.under_way.pop(place % len(self.under_way))

    def reload(self) -> None:
        """The same configuration is loaded again: equal plugins, that nothing is known of."""
        anew = Profiles(tuple(replace(profile) for profile in self._profiles.all))
        self.host.engine.reload(anew, self.host.now)

    def send(self) -> None:
        self.host.send()

    def settle(self) -> None:
        self.host.settle()

    def calm(self) -> None:
        """All faults end, and time passes."""
        while self.under_way:
            self.finish(0)
        self.resume()
        self.host.calm()
        self.host.advance(200)


def _asked_last(work: Work) -> tuple[ActivePlugin, str]:
    """The plugin in whose code a call may hang, and the hook."""
    if isinstance(work, UnreserveWork):
        return work.plugin, "unreserve"
    if isinstance(work, ReserveWork):
        return work.profile.implementing("reserve")[-1], "reserve"
    return work.profile.plugins[0], "filter"
