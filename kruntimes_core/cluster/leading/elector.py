"""Stands by until the Lease is free, leads while it is renewed, steps down, and stands by again."""

from __future__ import annotations

import asyncio

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.failures import ApiFailure
from kruntimes_core.cluster.host.leadership import Candidate, Limits
from kruntimes_core.cluster.leading.durations import Durations
from kruntimes_core.cluster.leading.holding import Holding
from kruntimes_core.cluster.leading.leases import LeaseConflictError, Leases
from kruntimes_core.cluster.leading.record import Lease
from kruntimes_core.cluster.leading.saying import Saying
from kruntimes_core.cluster.leading.term import Term
from kruntimes_core.cluster.observability.health import HealthCheck
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.transport.protocol import Transport
from kruntimes_core.engine.clock import SECOND

_LOOK_SECONDS = 0.5
"""How often a standby reads the Lease (semantics, Leading), and a leader looks at its clock: timers of
the loop stand still while the machine is suspended."""


class Elector:
    """A `Leadership` by Lease. One process has one, with one campaign."""

    def __init__(
        self,
        *,
        transport: Transport,
        clock: Clock,
        log: Log,
        term: Term,
        durations: Durations,
        namespace: str,
        identity: str,
    ) -> None:
        """transport: for the Lease alone, so that a renewal waits behind nothing.

        term: the gate of every other write.
        """
        self.limits = Limits(durations.write_seconds, durations.lease)
        self.identity = identity
        self.leases = Leases(transport, clock, namespace, durations.request_seconds)
        self.since = 0
        self.terms = 0
        """How often it began to lead."""
        self._clock = clock
        self._log = log
        self._saying = Saying(log, namespace, identity)
        self._term = term
        self._retry_seconds = durations.retry
        self._holding = Holding(
            leases=self.leases, clock=clock, term=term, durations=durations, identity=identity
        )
        self._held = False
        self._closing = False
        self._writing = asyncio.Lock()

    @property
    def leading(self) -> bool:
        """See `Leadership`: by the own clock, at this very moment."""
        return self._held and self._term.lasts()

    def checks(self) -> list[HealthCheck]:
        """See `Leadership`. A standby is ready; one that cannot reach the Lease is not."""
        holder = self._holding.observed.holder
        standby = f"standby; held by {holder!r}" if holder else "standby"
        return [HealthCheck("lease", self._saying.problem, "leading" if self.leading else standby)]

    async def campaign(self, candidate: Candidate) -> None:
        """See `Leadership`."""
        while not self._closing:
            await self._stand_by(candidate)
            await self._lead(candidate)
        await asyncio.get_running_loop().create_future()

    async def release(self) -> None:
        """See `Leadership`. What cannot be released is left to expire."""
        self._closing = True
        async with self._writing:
            if not self.leading:
                return
            left = self._term.left_seconds
            self._term.end()
            self._held = False
            try:
                async with asyncio.timeout(left):
                    if await self._holding.give_back():
                        self._log.info("released the lease")
            except TimeoutError:
                self._log.warning("could not release the lease: it is left to expire", problem="no answer")
            except ApiFailure as failure:
                self._log.warning("could not release the lease: it is left to expire", problem=failure)

    # Standing by

    async def _stand_by(self, candidate: Candidate) -> None:
        """Read the Lease until it was taken."""
        while not (self._held or self._closing):
            began = self._clock.now().ticks
            async with self._writing:
                await self._try_to_take(candidate)
            if not self._held:
                passed = (self._clock.now().ticks - began) / SECOND
                await asyncio.sleep(max(_LOOK_SECONDS - passed, 0.0))

    async def _try_to_take(self, candidate: Candidate) -> None:
        try:
            lease = await self._holding.look()
            self._saying.stands_by(self._holding.observed)
            if self._may_take(candidate):
                self._taken(await self._holding.take(lease), candidate)
            self._saying.works()
        except LeaseConflictError:
            self._log.debug("another was faster", namespace=self.leases.namespace)
        except ApiFailure as failure:
            self._saying.fails(failure)

    def _may_take(self, candidate: Candidate) -> bool:
        if self._closing or not self._holding.free:
            return False
        why = candidate.why_not_begin()
        self._saying.not_taken(why)
        return not why

    def _taken(self, lease: Lease, candidate: Candidate) -> None:
        """Lead, unless the answer came too late for that."""
        if not self._term.lasts():
            return
        self._held = True
        self.terms += 1
        self.since = self._clock.now().ticks
        self._saying.leads(lease)
        candidate.changed()

    # Leading

    async def _lead(self, candidate: Candidate) -> None:
        """Renew until that fails for too long, or another is seen to hold the Lease."""
        while self._held and not self._closing:
            left = self._term.left_seconds
            if not left:
                self._step_down(candidate, "the lease was not renewed within the renew deadline")
            elif self._rests(candidate):
                due = self._holding.due_seconds or _LOOK_SECONDS
                await asyncio.sleep(min(due, _LOOK_SECONDS, left))
            else:
                await self._renew_within(left, candidate)

    def _rests(self, candidate: Candidate) -> bool:
        """Whether there is nothing to renew now: it is not due, or this host should not go on."""
        why = candidate.why_not_go_on()
        self._saying.not_renewed(why)
        return bool(why) or self._holding.due_seconds > 0

    async def _renew_within(self, seconds: float, candidate: Candidate) -> None:
        self._holding.renew_in(self._retry_seconds)
        try:
            async with asyncio.timeout(seconds), self._writing:
                if self._held and not self._closing:
                    await self._renew(candidate)
        except TimeoutError:
            self._holding.forget()

    async def _renew(self, candidate: Candidate) -> None:
        try:
            why = await self._holding.renew()
        except LeaseConflictError:
            # Somebody wrote it: the next look, which is due soon, says who holds it now.
            self._holding.renew_in(min(_LOOK_SECONDS, self._retry_seconds))
        except ApiFailure as failure:
            self._saying.fails(failure)
        else:
            self._saying.works()
            if why:
                self._step_down(candidate, why)

    def _step_down(self, candidate: Candidate, why: str) -> None:
        self._term.end()
        self._held = False
        self._holding.forget()
        self._log.warning("not leading any more", why=why)
        candidate.changed()
