"""The loop that joins all: events in, plans and requests out, and what came of them back in."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from random import Random

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.host.duty import Duty
from kruntimes_core.cluster.host.gauges import show_host
from kruntimes_core.cluster.host.leadership import Leadership
from kruntimes_core.cluster.host.oversold import Oversold
from kruntimes_core.cluster.host.pump import Pump
from kruntimes_core.cluster.host.vitals import Vitals
from kruntimes_core.cluster.observing.checks import Check
from kruntimes_core.cluster.observing.log import Level, Log
from kruntimes_core.cluster.observing.metrics import Metrics
from kruntimes_core.cluster.planning.protocol import Planner
from kruntimes_core.cluster.transport.protocol import Transport
from kruntimes_core.cluster.watching.feed import Feed, feeds
from kruntimes_core.cluster.watching.followers import Followers
from kruntimes_core.cluster.watching.reflector import Reflector
from kruntimes_core.cluster.writing.writer import Writer
from kruntimes_core.engine import events
from kruntimes_core.engine.binding.requests import Applied, ReadAnswer, Request, Write, WriteAnswer, WriteKind
from kruntimes_core.engine.engine import Engine
from kruntimes_core.engine.record.decision import Decision
from kruntimes_core.engine.settings import Settings
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.model.decode import Decoder

_SETTLE_SECONDS = 10.0
"""How long a clean stop may take: the limit of a request, and a plugin's last calls."""


class Host:
    """Places Runs until it is stopped. Everything that it needs of the world is an argument."""

    def __init__(
        self,
        *,
        profiles: Profiles,
        settings: Settings,
        transport: Transport,
        clock: Clock,
        random: Random,
        planner: Planner,
        leadership: Leadership,
        log: Log,
        namespaces: Sequence[str] | None = None,
        in_flight: int = 32,
    ) -> None:
        """namespaces: those that are followed, with rights in them alone; None for all.

        in_flight: writes and reads at a time.
        """
        decoder = Decoder()
        self._stirred = asyncio.Event()
        self.engine = Engine(profiles, settings, clock.now())
        self.metrics = Metrics(self.engine.tally, profiles)
        self._clock = clock
        self._log = log
        self._leadership = leadership
        self.reflectors = [self._reflector(feed, transport, random) for feed in feeds(decoder, namespaces)]
        self.writer = Writer(
            engine=self.engine,
            transport=transport,
            clock=clock,
            decoder=decoder,
            log=log,
            answered=self._answered,
            freed=self._stirred.set,
            in_flight=in_flight,
            timeout_seconds=leadership.limits.write_seconds,
        )
        self.planner = planner
        self.oversold = Oversold(self.engine, log)
        self._pump = Pump(
            engine=self.engine,
            planner=planner,
            writer=self.writer,
            clock=clock,
            metrics=self.metrics,
            stirred=self._stirred,
        )
        self._followers = Followers(self.reflectors)
        self._vitals = Vitals(self.reflectors, self.writer, planner)
        self.duty = Duty(
            leadership=leadership,
            followers=self._followers,
            vitals=self._vitals,
            engine=self.engine,
            writer=self.writer,
            clock=clock,
            log=log,
            stir=self._stirred.set,
        )
        show_host(self, profiles, clock)
        if log.speaks(Level.DEBUG):
            self.engine.journal.listeners.append(self._decided)

    # Life

    async def run(self) -> None:
        """Follow, decide and write until `stop`; then no new cycle, and what is in flight settles.

        A defect in any part ends the host: nothing goes on half.
        """
        async with asyncio.TaskGroup() as group:
            self.writer.spawn = group.create_task
            self._followers.start(group.create_task)
            campaign = group.create_task(self._leadership.campaign(self.duty))
            while not self.duty.stopping:
                self.duty.look()
                await self._pump.go_on()
            await self._settle()
            campaign.cancel()
            self._followers.stop()
        self.planner.close()

    def stop(self) -> None:
        """Begin a clean stop."""
        self.duty.stop()
        self._stirred.set()

    @property
    def deciding(self) -> bool:
        """Whether Runs are placed now."""
        return self.duty.deciding

    # Probes

    def alive(self) -> list[Check]:
        """What a restart would mend."""
        return self._vitals.alive()

    def ready(self) -> list[Check]:
        """What keeps Runs from being placed, or from being placed by what is true now."""
        return [
            *self._vitals.ready(),
            *self._leadership.checks(),
            Check("shutdown", "the scheduler is stopping" if self.duty.stopping else ""),
        ]

    # Inside

    def _reflector(self, feed: Feed, transport: Transport, random: Random) -> Reflector:
        return Reflector(
            transport=transport,
            feed=feed,
            clock=self._clock,
            random=random,
            log=self._log,
            tell=self._observe,
            changed=lambda: self.duty.changed(),
        )

    async def _settle(self) -> None:
        """Let writes in flight be answered and plugins hear of reservations that ended."""
        try:
            async with asyncio.timeout(_SETTLE_SECONDS):
                await self.writer.settle()
                await self._pump.finish_work()
        except TimeoutError:
            self._log.warning("stopped before everything was settled", requests=self.writer.in_flight)
            self.writer.abandon()
        else:
            await self.duty.release()

    def _observe(self, event: events.Event) -> None:
        self.engine.handle(event, self._clock.now())
        self.oversold.after(event)
        self._stirred.set()

    def _answered(self, request: Request, answer: WriteAnswer | ReadAnswer) -> None:
        bound = isinstance(request, Write) and request.kind is WriteKind.BIND and isinstance(answer, Applied)
        if bound:
            entry = self.engine.find(request.namespace, request.name)
            if entry is not None and entry.run.uid == request.uid:
                self.metrics.queued(self._clock.now().ticks - entry.since)

    def _decided(self, decision: Decision) -> None:
        pod = decision.pod.name if decision.pod is not None else None
        self._log.debug(
            "decided",
            run=f"{decision.run.namespace}/{decision.run.name}",
            outcome=decision.outcome,
            reason=decision.reason,
            pod=pod,
            text=decision.message or None,
            error=decision.error,
        )
