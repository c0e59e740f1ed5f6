"""The offline planner: runs the engine of the host on a set of objects, without a cluster.

Every write is applied at once, and the time stays the same: no Run ends, and no delay runs out. So the plan
is what the scheduler would decide at one moment, wakeups included, until nothing changes any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from kruntimes_core.engine import events
from kruntimes_core.engine.api_calls import Applied, Found, Write
from kruntimes_core.engine.clock import Now
from kruntimes_core.engine.decisions import (
    Decision,
    NeverFits,
    candidates_document,
    decision_document,
    plugin_document,
)
from kruntimes_core.engine.engine import Engine, Settings
from kruntimes_core.engine.plugin_work import Runners, Work, WorkResult, plugins_of
from kruntimes_core.framework.configuration import Configuration, Profiles
from kruntimes_core.framework.profile import CurrentCall, PluginError
from kruntimes_core.lab.offline_plan.dump_time import DumpTime, PodStates, pod_states
from kruntimes_core.model.pod import PodObservation
from kruntimes_core.model.run import RunObservation
from kruntimes_core.model.times import format_time
from kruntimes_core.model.workspace import WorkspaceObservation


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanInput:
    """Runs, Runtime Pods and PersistentWorkspaces, as a list of the API server at one moment has them."""

    runs: tuple[RunObservation, ...] = ()
    pods: tuple[PodObservation, ...] = ()
    workspaces: tuple[WorkspaceObservation, ...] = ()
    time: DumpTime = field(default_factory=DumpTime)
    invented_uids: frozenset[str] = frozenset()
    """UIDs that replace a missing `metadata.uid`, as in files written by hand. They must never be shown."""


PLAN_API_VERSION = "kruntimes.io/plan/v1"


class Planner:
    """Decides every Pending Run of a `PlanInput` at one moment. Deterministic, and without side effects.

    now: the time of the plan; may be None if no Run is Pending. namespace: plan only this namespace; None for
    all. (Namespaces do not influence each other.)
    """

    def __init__(
        self,
        world: PlanInput,
        profiles: Profiles,
        configuration: Configuration,
        now: datetime | None,
        namespace: str | None = None,
        current: CurrentCall | None = None,
    ) -> None:
        """current: where calls of plugins are noted, for another thread that limits their time."""
        self._world = world
        self._profiles = profiles
        self._now = Now(now, 0) if now is not None else None
        self._settings = Settings.of(configuration)
        self._namespace = namespace
        self._runners = Runners()
        self._current = current or CurrentCall()
        self._decisions: dict[tuple[str, str], Decision] = {}
        self.plugin_errors: list[PluginError] = []
        """Each failure of a plugin once, in order of appearance."""

    def decisions(self) -> Iterator[int]:
        """Run the plan. Yields the number of Runs with a decision after each step."""
        if (now := self._now) is None:
            return
        engine = Engine(self._profiles, self._settings, now)
        engine.journal.listeners.append(self._collect)
        self._observe(engine, now)
        engine.lead(now)
        while (work := engine.take(now)) is not None:
            engine.finish(work, self._executed(work), now)
            _answer_requests(engine, now)
            yield len(self._decisions)

    def _executed(self, work: Work) -> WorkResult:
        return self._current.call(plugins_of(work), lambda: work.execute(self._runners))

    @property
    def pod_states(self) -> PodStates | None:
        """The Pods by state at the time of the plan; None if no Run needed a decision."""
        if self._now is None or not self._decisions:
            return None
        return pod_states(self._pods(), self._now, self._settings.heartbeat_staleness)

    def head(self) -> dict[str, Any]:
        """The plan document without its decisions."""
        return {
            "apiVersion": PLAN_API_VERSION,
            "now": format_time(self._now.wall) if self._now is not None else None,
            "plugins": self._plugins(),
        }

    def decision_documents(self, explain: bool) -> Iterator[dict[str, Any]]:
        """The decisions of the plan document, one after the other.

        With `explain` each contains every Pod, so the caller should write each one and not keep them all.
        """
        never = NeverFits()
        for decision in self._decisions.values():
            document = decision_document(decision, self._uid, never.of(decision))
            if explain:
                document["candidates"] = self._candidates(decision)
            yield document

    def _candidates(self, decision: Decision) -> list[dict[str, Any]]:
        plugins = decision.profile.plugins if decision.profile is not None else ()
        return self._current.call(plugins, lambda: candidates_document(decision, self._runners.of))

    def _observe(self, engine: Engine, now: Now) -> None:
        world, inside = self._world, self._inside
        for event in (
            events.PodsListed(observations=self._pods()),
            events.WorkspacesListed(
                observations=tuple(o for o in world.workspaces if inside(o.workspace.namespace))
            ),
            events.RunsListed(observations=tuple(o for o in world.runs if inside(o.run.namespace))),
        ):
            engine.handle(event, now)

    def _pods(self) -> tuple[PodObservation, ...]:
        return tuple(seen for seen in self._world.pods if self._inside(seen.pod.namespace))

    def _inside(self, namespace: str) -> bool:
        return self._namespace in (None, namespace)

    def _collect(self, decision: Decision) -> None:
        """Keep the last decision of each Run, in the order in which these decisions were made."""
        key = (decision.run.namespace, decision.run.uid)
        self._decisions.pop(key, None)
        self._decisions[key] = decision
        error = decision.error
        if error is not None and error.with_place not in {known.with_place for known in self.plugin_errors}:
            self.plugin_errors.append(error)

    def _plugins(self) -> list[dict[str, Any]]:
        """The active plugins. With several profiles: those of each profile, with the name of the profile."""
        if len(self._profiles.all) == 1:
            return [plugin_document(plugin) for plugin in self._profiles.all[0].plugins]
        return [
            {**plugin_document(plugin), "profile": profile.name}
            for profile in self._profiles.all
            for plugin in profile.plugins
        ]

    def _uid(self, uid: str) -> str | None:
        return None if uid in self._world.invented_uids else uid


def _answer_requests(engine: Engine, now: Now) -> None:
    """Answer that every write was applied. No watch event follows, so all reservations stay."""
    while (request := engine.next_request(now)) is not None:
        if isinstance(request, Write):
            engine.written(request, Applied(request.guard), now)
        elif (entry := engine.find(request.namespace, request.name)) is not None:
            engine.read(request, Found(entry.observation), now)
