"""The life of a host: events in, plans and requests out, what came of them back in, and a clean stop."""

from __future__ import annotations

import asyncio

from kruntimes_core.cluster.host.building import build_parts
from kruntimes_core.cluster.host.means import Means
from kruntimes_core.cluster.observability.health import HealthCheck
from kruntimes_core.cluster.observability.metrics import Metrics
from kruntimes_core.cluster.writing.protocol import Writer
from kruntimes_core.engine.engine import Engine
from kruntimes_core.framework.configuration import Profiles

_SETTLE_SECONDS = 10.0
"""How long a clean stop may take: the limit of a request, and a plugin's last calls."""


class Host:
    """Places Runs until it is stopped. Everything that it needs of the world is in its `Means`."""

    def __init__(self, means: Means) -> None:
        self.parts = build_parts(means)
        self._means = self.parts.base.means

    # What others may look at

    @property
    def engine(self) -> Engine:
        """The engine: what is known, and what was decided."""
        return self.parts.base.engine

    @property
    def metrics(self) -> Metrics:
        """All metrics of this host."""
        return self.parts.base.metrics

    @property
    def writer(self) -> Writer:
        """Who takes the engine's requests."""
        return self.parts.writer

    @property
    def deciding(self) -> bool:
        """Whether Runs are placed now."""
        return self.parts.duty.deciding

    # Life

    async def run(self) -> None:
        """Follow, decide and write until `stop`; then no new cycle, and what is in flight settles.

        A defect in any part ends the host: nothing goes on half.
        """
        parts = self.parts
        async with asyncio.TaskGroup() as group:
            parts.writer.start(group.create_task)
            parts.followers.start(group.create_task)
            beside = [group.create_task(one()) for one in parts.beside]
            beside.append(group.create_task(self._means.leadership.campaign(parts.duty)))
            while not parts.duty.stopping:
                parts.duty.look()
                await parts.pump.go_on()
            await self._settle()
            for task in beside:
                task.cancel()
            parts.followers.stop()
        self._means.planner.close()

    def reload(self, profiles: Profiles) -> None:
        """Decide by these profiles from now on: what waits is tried again."""
        self.engine.reload(profiles, self._means.clock.now())
        self.metrics.know(profiles)
        self.parts.base.stirred.set()

    def stop(self) -> None:
        """Begin a clean stop."""
        self.parts.duty.stop()
        self.parts.base.stirred.set()

    async def _settle(self) -> None:
        """Let writes in flight be answered and plugins hear of reservations that ended."""
        writer = self.parts.writer
        try:
            async with asyncio.timeout(_SETTLE_SECONDS):
                await writer.settle()
                await self.parts.pump.finish_work()
        except TimeoutError:
            self._means.log.warning("stopped before everything was settled", requests=writer.in_flight)
            writer.abandon()
        else:
            await self.parts.duty.release()

    # Probes

    def alive(self) -> list[HealthCheck]:
        """What a restart would mend."""
        return self.parts.vitals.alive()

    def ready(self) -> list[HealthCheck]:
        """What keeps Runs from being placed, or from being placed by what is true now."""
        return [
            *self.parts.vitals.ready(),
            self.parts.base.rights.check(),
            *self._means.leadership.checks(),
            *(self.parts.announcer.checks() if self.parts.announcer is not None else ()),
            *self._dry(),
            HealthCheck("shutdown", "the scheduler is stopping" if self.parts.duty.stopping else ""),
        ]

    def _dry(self) -> list[HealthCheck]:
        comparison = self.parts.comparison
        if comparison is None:
            return []
        report = comparison.report
        return [
            HealthCheck(
                "dry-run", note=f"nothing is written; {report.agreed} agreed, {report.differed} differed"
            )
        ]
