"""Stands by until the Lease is free, leads while it is renewed, steps down, and stands by again."""

from __future__ import annotations

import asyncio

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.failures import ApiFailure
from kruntimes_core.cluster.host.leadership import Candidate, Limits
from kruntimes_core.cluster.leading.durations import Durations
from kruntimes_core.cluster.leading.leases import LeaseConflictError, Leases
from kruntimes_core.cluster.leading.observed import Observed
from kruntimes_core.cluster.leading.record import Lease, held, released
from kruntimes_core.cluster.leading.term import Term
from kruntimes_core.cluster.observing.checks import Check
from kruntimes_core.cluster.observing.log import Log
from kruntimes_core.cluster.transport.protocol import Transport
from kruntimes_core.engine.instant import SECOND, ticks

_LOOK_SECONDS = 0.5
"""How often a standby reads the Lease (semantics, Leading), and a leader looks at its clock: timers of
the loop stand still while the machine is suspended."""
_RELEASE_TRIES = 3


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
        self._term = term
        self._durations = durations
        self._observed = Observed(durations.lease_ticks, durations.absent_ticks)
        self._held = False
        self._closing = False
        self._lease: Lease | None = None
        """The Lease as it stands for certain; None when that has to be read."""
        self._renew_at = 0
        self._problem = ""
        self._waiting_for = ""
        self._writing = asyncio.Lock()

    @property
    def leading(self) -> bool:
        """See `Leadership`: by the own clock, at this very moment."""
        return self._held and self._term.lasts()

    def checks(self) -> list[Check]:
        """See `Leadership`. A standby is ready; one that cannot reach the Lease is not."""
        if self.leading:
            note = "leading"
        else:
            note = f"standby; held by {self._observed.holder!r}" if self._observed.holder else "standby"
        return [Check("lease", self._problem, note)]

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
            try:
                async with asyncio.timeout(left):
                    await self._give_back()
            except (TimeoutError, ApiFailure) as failure:
                self._log.warning("could not release the lease: it is left to expire", problem=failure)
            self._held = False

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
            lease = await self.leases.get()
            self._observed.see(lease, self._clock.now().ticks)
            if self._may_take(candidate):
                await self._take(lease, candidate)
            self._works()
        except LeaseConflictError:
            self._log.debug("another was faster", lease=self.leases.namespace)
        except ApiFailure as failure:
            self._fails(failure)

    def _may_take(self, candidate: Candidate) -> bool:
        if self._closing or not self._observed.free(self.identity, self._clock.now().ticks):
            return False
        why = candidate.why_not_begin()
        if why and why != self._waiting_for:
            self._log.info("the lease is free, and not taken yet", why=why)
        self._waiting_for = why
        return not why

    async def _take(self, lease: Lease | None, candidate: Candidate) -> None:
        """Write the record, and lead from when that was sent."""
        sent = self._clock.now()
        spec = held(lease, self.identity, self._durations.written_seconds, sent.wall)
        if lease is None:
            taken = await self.leases.create(spec)
        else:
            taken = await self.leases.replace(lease, spec, None)
        self._renewed(taken, sent.ticks)
        if not self._term.lasts():
            return
        self._held = True
        self.terms += 1
        self.since = self._clock.now().ticks
        self._log.info(
            "leading", namespace=self.leases.namespace, identity=self.identity, transitions=taken.transitions
        )
        candidate.changed()

    # Leading

    async def _lead(self, candidate: Candidate) -> None:
        """Renew until that fails for too long, or another is seen to hold the Lease."""
        while self._held and not self._closing:
            left = self._term.left_seconds
            if not left:
                self._step_down(candidate, "the lease was not renewed within the renew deadline")
                return
            until_due = (self._renew_at - self._clock.now().ticks) / SECOND
            why = candidate.why_not_go_on()
            if until_due > 0 or why:
                self._note_unfit(why)
                wait = min(until_due, _LOOK_SECONDS) if until_due > 0 else _LOOK_SECONDS
                await asyncio.sleep(min(wait, left))
                continue
            self._renew_at = self._clock.now().ticks + ticks(self._durations.retry)
            try:
                async with asyncio.timeout(left), self._writing:
                    await self._renew(candidate)
            except TimeoutError:
                self._lease = None

    def _note_unfit(self, why: str) -> None:
        if why and why != self._waiting_for:
            self._log.warning("the lease is not renewed any more", why=why)
        self._waiting_for = why

    async def _renew(self, candidate: Candidate) -> None:
        if not self._held or self._closing:
            return
        try:
            await self._replace(candidate)
            self._works()
        except LeaseConflictError:
            # Whoever wrote it: who holds it now is known by the next look, which is due at once.
            self._lease = None
            self._renew_at = min(self._renew_at, self._clock.now().ticks + ticks(_LOOK_SECONDS))
        except ApiFailure as failure:
            self._lease = None
            self._fails(failure)

    async def _replace(self, candidate: Candidate) -> None:
        lease = self._lease or await self.leases.get()
        self._observed.see(lease, self._clock.now().ticks)
        if lease is None or lease.holder != self.identity:
            self._step_down(candidate, "the lease is gone" if lease is None else "the lease is another's now")
            return
        self._lease = None
        sent = self._clock.now()
        spec = held(lease, self.identity, self._durations.written_seconds, sent.wall)
        self._renewed(await self.leases.replace(lease, spec, self._term.lasts), sent.ticks)

    def _renewed(self, lease: Lease, sent: int) -> None:
        """Others cannot have seen the record before it was sent, so all counts from then."""
        self._lease = lease
        self._observed.see(lease, self._clock.now().ticks)
        self._term.extend(sent + ticks(self._durations.deadline))
        self._renew_at = sent + ticks(self._durations.retry)

    def _step_down(self, candidate: Candidate, why: str) -> None:
        self._term.end()
        self._held = False
        self._lease = None
        self._log.warning("not leading any more", why=why)
        candidate.changed()

    # Ending

    async def _give_back(self) -> None:
        """Write that nobody holds it, unless somebody else does."""
        for _ in range(_RELEASE_TRIES):
            lease, self._lease = self._lease or await self.leases.get(), None
            if lease is None or lease.holder != self.identity:
                return
            try:
                await self.leases.replace(lease, released(lease, self._clock.now().wall), None)
            except LeaseConflictError:
                continue
            self._log.info("released the lease")
            return

    # What is wrong

    def _fails(self, failure: ApiFailure) -> None:
        if str(failure) != self._problem:
            self._log.warning(str(failure))
        self._problem = str(failure)

    def _works(self) -> None:
        if self._problem:
            self._log.info("the lease can be reached again")
        self._problem = ""
