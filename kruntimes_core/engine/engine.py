"""The engine's face: events in, work and requests out, and what came of them back in.

A driver loops over five calls: `handle` what was observed, `take` work and `finish` it, hand each
`next_request` to the API server and tell what was `answered`, and `tick` at `wake_at`.
"""

from __future__ import annotations

from kruntimes_core.engine import events
from kruntimes_core.engine.binding.binder import Binder
from kruntimes_core.engine.binding.evidence import Evidence
from kruntimes_core.engine.binding.requests import Read, ReadAnswer, Request, Write, WriteAnswer
from kruntimes_core.engine.binding.sender import Sender
from kruntimes_core.engine.core import Core
from kruntimes_core.engine.cycle.cycle import Cycle
from kruntimes_core.engine.cycle.work import Result, Work
from kruntimes_core.engine.instant import Now
from kruntimes_core.engine.intake import Intake
from kruntimes_core.engine.queueing.order import by_arrival
from kruntimes_core.engine.runs import Stage
from kruntimes_core.engine.settings import Settings
from kruntimes_core.engine.tally import WakeSource
from kruntimes_core.engine.view import View
from kruntimes_core.engine.ways import Ways
from kruntimes_core.framework.configuration import Profiles


class Engine(View):
    """Places Pending Runs on Runtime Pods. Entered by one thread at a time; every call says when."""

    def __init__(self, profiles: Profiles, settings: Settings, now: Now) -> None:
        super().__init__(Core(profiles, settings, now))
        self._ways = Ways(self._core)
        self._intake = Intake(self._core, self._ways)
        self._sender = Sender(self._core, self._ways)
        self._binder = Binder(self._core, self._ways)
        self._evidence = Evidence(self._core, self._intake, self._ways, self._sender)
        self._cycle = Cycle(self._core)
        self._wants_to_lead = False
        self._arm_sweep()

    # Events

    def handle(self, event: events.Event, now: Now) -> None:
        """Take note of what was observed."""
        core = self._begin(now)
        core.waiting.source = WakeSource.RUNTIME_POD
        match event:
            case events.RunObserved(observation):
                self._intake.observed(observation)
            case events.RunGone():
                self._intake.gone(event.namespace, event.name, event.uid)
            case events.RunsListed():
                self._intake.listed(event.observations, event.version, event.namespace)
            case events.PodObserved(observation):
                core.state.pods.observe(observation, now)
            case events.PodGone():
                core.state.pods.gone(event.namespace, event.name, event.uid, event.version)
            case events.PodsListed():
                core.state.pods.listed(event.observations, event.version, event.namespace, now)
            case _:
                self._workspace(event)
        if isinstance(event, events.RunsListed | events.PodsListed | events.WorkspacesListed):
            self._listed.add(type(event))
            core.leading = self._wants_to_lead and self.synced

    def _workspace(self, event: events.Event) -> None:
        core = self._core
        core.waiting.source = WakeSource.WORKSPACE
        match event:
            case events.WorkspaceObserved(observation):
                core.state.workspaces.observe(observation)
            case events.WorkspaceGone():
                core.state.workspaces.gone(event.namespace, event.name, event.uid, event.version)
            case events.WorkspacesListed():
                core.state.workspaces.listed(event.observations, event.version, event.namespace)

    def tick(self, now: Now) -> None:
        """Do what is due by `now`: delays, backoffs, heartbeats that ran out, the sweep."""
        core = self._begin(now)
        core.waiting.source = WakeSource.TIMER
        core.state.pods.expire(now)
        core.outbox.release(now.ticks)
        for action in core.timers.due(now.ticks):
            action()

    # Work

    def take(self, now: Now) -> Work | None:
        """The next piece of work for a worker; None when there is nothing to try now."""
        self._begin_decision(now)
        return self._cycle.take()

    def finish(self, work: Work, result: Result, now: Now) -> None:
        """Take back what came of a piece of work."""
        self._begin_decision(now)
        self._cycle.finish(work, result)

    # Requests

    def next_request(self, now: Now) -> Request | None:
        """The next request for the API server, checked now; it counts as sent from here on."""
        self._begin_decision(now)
        return self._sender.next_request()

    def written(self, write: Write, answer: WriteAnswer, now: Now) -> None:
        """What came of a write."""
        self._begin(now)
        self._binder.answered(write, answer)

    def read(self, read: Read, answer: ReadAnswer, now: Now) -> None:
        """What a read found."""
        self._begin(now)
        self._evidence.read(read, answer)

    # Leading

    def lead(self, now: Now) -> None:
        """Decide from now on, as soon as everything is listed."""
        core = self._begin(now)
        self._wants_to_lead = True
        core.leading = self.synced

    def stand_down(self, now: Now) -> None:
        """Decide and send nothing any more; what is under way still gets its answer."""
        core = self._begin(now)
        self._wants_to_lead = core.leading = False
        for entry in core.runs:
            # A text may be under way meanwhile; a bind or an ending that is gets its answer first.
            if entry.stage is Stage.BINDING and entry.assumption and not entry.assumption.guard:
                self._ways.drop_bind(entry)
            elif entry.stage is Stage.WORKING or (entry.stage is Stage.ENDING and entry.sent is None):
                entry.pending = None
                core.enqueue(entry, None)

    def reload(self, profiles: Profiles, now: Now) -> None:
        """Decide by other profiles from now on: every waiting Run is tried again."""
        core = self._begin(now)
        former = core.queue_plugin
        core.use(profiles)
        core.waiting.wake_all(WakeSource.RELOAD)
        if core.queue_plugin is not former:
            self._forget_keys()
        for entry in sorted(core.runs, key=lambda entry: entry.arrival):
            if entry.stage in (Stage.QUEUED, Stage.WORKING, Stage.KEYING) or entry.held_by_plugins:
                source = None if entry.stage in (Stage.QUEUED, Stage.KEYING) else WakeSource.RELOAD
                entry.leave()
                core.enqueue(entry, source)

    # Inside

    def _forget_keys(self) -> None:
        self._cycle.forget_keys()
        for entry in self._core.runs:
            entry.keyed_for = None
            entry.order = by_arrival(entry.arrival)

    def _begin(self, now: Now) -> Core:
        self._core.now = now
        return self._core

    def _begin_decision(self, now: Now) -> None:
        """However late the driver's timer is, no decision trusts a heartbeat that has run out."""
        core = self._begin(now)
        core.waiting.source = WakeSource.TIMER
        core.state.pods.expire(now)

    def _arm_sweep(self) -> None:
        core = self._core

        def sweep() -> None:
            self._cycle.sweep()
            self._arm_sweep()

        core.timers.at(core.now.ticks + core.settings.sweep_interval, lambda: True, sweep)
