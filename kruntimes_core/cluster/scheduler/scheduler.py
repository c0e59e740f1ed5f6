"""The scheduler in a cluster: one function makes its parts and joins them; then it runs until a stop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from random import Random

from kruntimes_core.cluster.api_dispatcher import ApiDispatcher
from kruntimes_core.cluster.client.resources import ApiResource
from kruntimes_core.cluster.client.transport import ReadOnlyTransport, Transport
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.dry_run.comparer import DryRunComparer, DryRunSettings
from kruntimes_core.cluster.dry_run.report import register_dry_run_metrics
from kruntimes_core.cluster.event_recorder.recorder import EventRecorder, EventSink, register_event_metrics
from kruntimes_core.cluster.informers.event_handler import resource_event_handlers
from kruntimes_core.cluster.informers.reflector import Informers, Reflector
from kruntimes_core.cluster.leader_election.protocol import AlwaysLeading, Leadership
from kruntimes_core.cluster.observability.endpoints import HealthCheck
from kruntimes_core.cluster.observability.log import Level, Log, PluginErrorLog, log_decision
from kruntimes_core.cluster.observability.metrics import Metrics
from kruntimes_core.cluster.permissions import MissingPermissions, PermissionTransport
from kruntimes_core.cluster.plugin_worker import PluginWorker
from kruntimes_core.cluster.scheduler.health_checks import HealthChecks
from kruntimes_core.cluster.scheduler.leader_callbacks import SchedulerLeadership
from kruntimes_core.cluster.scheduler.oversold_pods import OversoldPods
from kruntimes_core.cluster.scheduler.scheduler_metrics import register_scheduler_metrics
from kruntimes_core.cluster.scheduler.scheduling_loop import SchedulingLoop
from kruntimes_core.cluster.scheduler.unreadable_runs import UnreadableRuns
from kruntimes_core.engine import events as engine_events
from kruntimes_core.engine.api_calls import Applied, ReadAnswer, Request, Write, WriteAnswer, WriteKind
from kruntimes_core.engine.engine import Engine, Settings
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.model.decode import Decoder
from kruntimes_core.model.run import RunObservation

_FORMER_SECONDS = 60.0
"""How often a scheduler looks, after a reload, whether former profiles still hold reservations."""
_SETTLE_SECONDS = 10.0
"""How long a clean stop may take: the limit of a request, and a plugin's last calls."""


class Scheduler:
    """Places Runs until it is stopped."""

    def __init__(
        self,
        *,
        profiles: Profiles,
        settings: Settings,
        transport: Transport,
        clock: Clock,
        random: Random,
        plugin_worker: PluginWorker,
        leadership: Leadership,
        log: Log,
        namespaces: Sequence[str] | None = None,
        permissions: MissingPermissions | None = None,
        in_flight: int = 32,
        events: EventSink | None = None,
        dry_run: DryRunSettings | None = None,
    ) -> None:
        """Make the parts and join them.

        random: for jitter. namespaces: those that are followed, with permissions in them alone; None for all.
        permissions: learns from all answers, also from those about the Lease; None for one of its own.
        in_flight: writes and reads at a time. events: where Events go; None for none. dry_run: given, the
        scheduler writes nothing, and compares what it would do with what the running one does.
        """
        if dry_run is not None:  # no part gets hold of a way to write, of a Lease or of Events
            transport, leadership, events = ReadOnlyTransport(transport), AlwaysLeading(), None
        self._clock, self._log, self._wakeup = clock, log, asyncio.Event()
        self._election, self._plugin_worker = leadership, plugin_worker
        self._permissions = permissions or MissingPermissions(clock, log)
        self.transport = PermissionTransport(transport, self._permissions)
        self.engine = Engine(profiles, settings, clock.now())
        self.metrics = Metrics(self.engine.counters, profiles)
        decoder = Decoder()

        self._reflectors = [
            Reflector(
                transport=self.transport,
                handler=handler,
                clock=clock,
                random=random,
                log=self._log,
                changed=lambda: self.leadership.changed(),
            )
            for handler in resource_event_handlers(
                decoder, namespaces, self.observed, self._known, self._bookmark, self._is_behind
            )
        ]
        self._informers = Informers(self._reflectors)
        self.comparer = None
        if dry_run is not None:
            self.comparer = DryRunComparer(
                settings=dry_run,
                engine=self.engine,
                clock=clock,
                plugin_worker=plugin_worker,
                log=self._log,
                wake=self._wakeup.set,
            )
        self.dispatcher = ApiDispatcher(
            engine=self.engine,
            transport=self.transport,
            clock=clock,
            decoder=decoder,
            log=self._log,
            answered=self._answered,
            freed=self._wakeup.set,
            take_write=self.comparer.take_write if self.comparer is not None else None,
            in_flight=in_flight,
            timeout_seconds=leadership.limits.write_seconds,
        )
        self._health = HealthChecks(self._reflectors, self.dispatcher, plugin_worker, self.engine)
        self.leadership = SchedulerLeadership(
            leadership=leadership,
            informers=self._informers,
            health=self._health,
            engine=self.engine,
            dispatcher=self.dispatcher,
            clock=clock,
            log=self._log,
            wake=self._wakeup.set,
        )
        self._loop = SchedulingLoop(
            engine=self.engine,
            plugin_worker=plugin_worker,
            dispatcher=self.dispatcher,
            clock=clock,
            metrics=self.metrics,
            log=self._log,
            wakeup=self._wakeup,
            background_work=self.comparer.process_next if self.comparer is not None else lambda: False,
        )
        self.event_recorder = None
        if events is not None:
            self.event_recorder = EventRecorder(
                sink=replace(events, transport=PermissionTransport(events.transport, self._permissions)),
                engine=self.engine,
                clock=clock,
                random=random,
                log=self._log,
                may_record=lambda: self.leadership.deciding and leadership.leading,
                timeout_seconds=leadership.limits.write_seconds,
            )
        self.oversold_pods = OversoldPods(
            log,
            namespaces,
            self.event_recorder.sources.oversold if self.event_recorder is not None else None,
        )
        self._unreadable_runs = UnreadableRuns(log)
        self._listen_to_decisions()
        self._register_metrics()

    def _listen_to_decisions(self) -> None:
        """Let decisions be logged, and Events be recorded of them."""
        listeners = self.engine.journal.listeners
        listeners.append(PluginErrorLog(self._log, self._clock).decided)
        if self._log.speaks(Level.DEBUG):
            listeners.append(partial(log_decision, self._log))
        if self.event_recorder is not None:
            listeners.append(self.event_recorder.sources.decided)

    def _register_metrics(self) -> None:
        if self.event_recorder is not None:
            register_event_metrics(self.metrics, self.event_recorder)
        if (comparer := self.comparer) is not None:
            register_dry_run_metrics(self.metrics, comparer.report, lambda: comparer.held)
        register_scheduler_metrics(
            self.metrics,
            dispatcher=self.dispatcher,
            oversold_pods=self.oversold_pods,
            leadership=self.leadership,
            plugin_worker=self._plugin_worker,
            reflectors=self._reflectors,
            clock=self._clock,
            permissions=self._permissions,
            log=self._log,
        )

    # What happens

    def observed(self, event: engine_events.Event) -> None:
        """A watch or a list has an event for the engine."""
        comparer, recorder = self.comparer, self.event_recorder
        if comparer is not None:
            comparer.before(event)
        self.engine.handle(event, self._clock.now())
        if comparer is not None:
            # What it holds is reserved beside what really runs: a Pod may well hold more than it has.
            comparer.after(event)
        else:
            self.oversold_pods.after(event)
        self._unreadable_runs.after(event)
        if recorder is not None:
            recorder.sources.observed(event)
        self._wakeup.set()

    def _bookmark(self, resource: ApiResource, namespace: str | None, version: str) -> None:
        """A watch has shown all up to this version."""
        if self.comparer is None:
            self.oversold_pods.reached(resource, namespace, version)

    def _is_behind(self, resource: ApiResource, namespace: str | None) -> bool:
        """Whether a list is needed to tell if a Pod is oversold."""
        return self.comparer is None and self.oversold_pods.behind(resource, namespace)

    def _answered(self, request: Request, answer: WriteAnswer | ReadAnswer) -> None:
        """A request was answered, and the engine knows."""
        bound = isinstance(request, Write) and request.kind is WriteKind.BIND and isinstance(answer, Applied)
        if bound:
            self._count_bind(request)
        if self.event_recorder is not None:
            self.event_recorder.sources.answered(request, answer)
        if self.comparer is not None:
            self.comparer.was_read()

    def _count_bind(self, bind: Request) -> None:
        """Note how long the Run was queued since it was first seen Pending, and how often it was tried."""
        entry = self.engine.find(bind.namespace, bind.name)
        if entry is not None and entry.run.uid == bind.uid:
            self.metrics.bound(self._clock.now().ticks - entry.pending_since, entry.attempts)

    def _known(self, namespace: str, name: str) -> RunObservation | None:
        """What was last seen of the Run that bears the name."""
        entry = self.engine.find(namespace, name)
        return entry.observation if entry is not None else None

    # Life

    @property
    def deciding(self) -> bool:
        """Whether Runs are placed now."""
        return self.leadership.deciding

    async def run(self) -> None:
        """Follow, decide and write until `stop`; then no new cycle, and what is in flight settles.

        A defect in any part ends the whole scheduler.
        """
        async with asyncio.TaskGroup() as group:
            self.dispatcher.start(group.create_task)
            self._informers.start(group.create_task)
            beside = [group.create_task(self._election.campaign(self.leadership))]
            if self.event_recorder is not None:
                beside.append(group.create_task(self.event_recorder.run()))
            while not self.leadership.stopping:
                self.leadership.look()
                await self._loop.go_on()
            await self._settle()
            for task in beside:
                task.cancel()
            self._informers.stop()
        self._plugin_worker.close()

    def reload(self, profiles: Profiles) -> None:
        """Decide by these profiles from now on: what waits is tried again."""
        self.engine.reload(profiles, self._clock.now())
        self._end_former_profiles()
        self.metrics.know(profiles)
        self._wakeup.set()

    def _end_former_profiles(self) -> None:
        """Let go of the plugins of former profiles, as soon as no `unreserve` can be due for them."""
        in_use = self.engine.profiles_in_use
        self._plugin_worker.keep(in_use)
        if len(in_use) > len(self.engine.profiles.all):
            asyncio.get_running_loop().call_later(_FORMER_SECONDS, self._end_former_profiles)

    def stop(self) -> None:
        """Begin a clean stop."""
        self.leadership.stop()
        self._wakeup.set()

    async def _settle(self) -> None:
        """Let writes in flight be answered, and plugins be called for reservations that ended."""
        try:
            async with asyncio.timeout(_SETTLE_SECONDS):
                if self.comparer is not None:
                    self.comparer.stop()
                await self.dispatcher.settle()
                await self._loop.finish_work()
        except TimeoutError:
            in_flight = self.dispatcher.in_flight
            self._log.warning("stopped before everything was settled", requests=in_flight)
            self.dispatcher.abandon()
        else:
            await self.leadership.release()

    # Probes

    def alive(self) -> list[HealthCheck]:
        """What a restart would repair."""
        return self._health.alive()

    def ready(self) -> list[HealthCheck]:
        """What keeps Runs from being placed, or from being placed by the present state."""
        return [
            *self._health.ready(),
            self._permissions.check(),
            *self._election.checks(),
            *(self.event_recorder.checks() if self.event_recorder is not None else ()),
            *self._dry_run_checks(),
            HealthCheck("shutdown", "the scheduler is stopping" if self.leadership.stopping else ""),
        ]

    def _dry_run_checks(self) -> list[HealthCheck]:
        if self.comparer is None:
            return []
        report = self.comparer.report
        return [
            HealthCheck(
                "dry-run", note=f"nothing is written; {report.agreed} agreed, {report.differed} differed"
            )
        ]
