"""The leader elector: acquires the Lease, leads while it renews that, steps down, and stands by again."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from math import ceil

from kruntimes_core.cluster.client.errors import ApiFailure
from kruntimes_core.cluster.client.resources import LEASE_VERBS
from kruntimes_core.cluster.client.transport import Gate, Transport
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.leader_election.lease_lock import (
    OUTCOMES,
    Lease,
    LeaseConflictError,
    LeaseLock,
    ObservedLease,
    held,
    released,
)
from kruntimes_core.cluster.leader_election.protocol import LeaderCallbacks, WriteLimits
from kruntimes_core.cluster.observability.endpoints import HealthCheck
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.observability.metrics import Metrics, Samples, counted
from kruntimes_core.engine.clock import SECOND, ticks
from kruntimes_core.model.messages import InputError

JITTER = 1.2
"""Electors in Go stretch the retry period by at most this factor, and check the deadline against it."""
_LONGEST_WRITE_SECONDS = 4.0
_MARGIN_SECONDS = 1.0
_SHORTEST_WRITE_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseDurations:
    """The three durations of an election, in seconds; the defaults are those of Go electors."""

    lease: float = 15.0
    """How long a record must be unchanged before another elector acquires the Lease."""
    deadline: float = 10.0
    """How long the holder writes after it sent the last renewal that was applied."""
    retry: float = 2.0
    """How often it renews."""

    def check(self) -> None:
        """Raises `InputError` for durations with which two could lead, or none would for long."""
        if self.retry <= 0:
            raise InputError("--leader-elect-retry-period must be longer than 0")
        if self.deadline <= self.retry * JITTER:
            raise InputError(
                f"--leader-elect-renew-deadline {self.deadline:g}s is too short:"
                f" make it longer than {JITTER:g} times --leader-elect-retry-period ({self.retry:g}s)"
            )
        shortest = self.deadline + _MARGIN_SECONDS + _SHORTEST_WRITE_SECONDS
        if self.lease < shortest:
            raise InputError(
                f"--leader-elect-lease-duration {self.lease:g}s is too short: make it {shortest:g}s or"
                " longer, so that a write that began before --leader-elect-renew-deadline"
                f" ({self.deadline:g}s) ends before it"
            )

    @property
    def write_seconds(self) -> float:
        """The limit of each write: one begun just before the deadline ends well before the Lease."""
        return min(self.lease - self.deadline - _MARGIN_SECONDS, _LONGEST_WRITE_SECONDS)

    @property
    def request_seconds(self) -> float:
        """The limit of each request for the Lease: half the deadline, as in Go, so that two fit in."""
        return min(self.deadline / 2, self.write_seconds)

    @property
    def absent_ticks(self) -> int:
        """How long a Lease must be missing before it is created: a leader renews in that time."""
        return ticks(self.retry * JITTER + _MARGIN_SECONDS)

    @property
    def written_seconds(self) -> int:
        """`lease` in a record: whole seconds, rounded up."""
        return ceil(self.lease)


class LeaseTerm:
    """The time for which a Lease entitles its holder to write.

    It ends by itself at the renew deadline, by a clock that goes on while the machine is suspended.
    """

    def __init__(self, *, clock: Clock, durations: LeaseDurations) -> None:
        self.durations = durations
        self._clock = clock
        self._until = 0

    def lasts(self) -> bool:
        """Whether a write may be handed to the socket at this very moment: a gate of `HttpTransport`."""
        return self._clock.now().ticks < self._until

    @property
    def left_seconds(self) -> float:
        """How long the term lasts from now; 0 when it has ended."""
        return max(self._until - self._clock.now().ticks, 0) / SECOND

    def renewed(self, sent: int) -> None:
        """A record was applied that was sent at this moment, in ticks. That never makes a term shorter."""
        self._until = max(self._until, sent + ticks(self.durations.deadline))

    def end(self) -> None:
        """End the term now."""
        self._until = 0


_POLL_SECONDS = 0.5
"""How often a standby reads the Lease (semantics, Leading), and a leader looks at its clock: timers of
the loop stand still while the machine is suspended."""
_RELEASE_TRIES = 3


class LeaderElector:
    """A `Leadership` by Lease. A process has one elector, which campaigns once."""

    def __init__(
        self,
        *,
        transport: Transport,
        clock: Clock,
        log: Log,
        term: LeaseTerm,
        namespace: str,
        identity: str,
    ) -> None:
        """transport: for the Lease alone, so that a renewal waits behind nothing.

        term: the gate of every other write.
        """
        self._durations = durations = term.durations
        self.limits = WriteLimits(durations.write_seconds, durations.lease)
        self.identity = identity
        self.lock = LeaseLock(
            transport=transport,
            clock=clock,
            namespace=namespace,
            timeout_seconds=durations.request_seconds,
        )
        self.since = 0
        self.terms = 0
        """How often it began to lead."""
        self._clock = clock
        self._log = log
        self._lines = ElectionLog(log, namespace, identity)
        self.term = term
        self._observed = ObservedLease(ticks(durations.lease), durations.absent_ticks)
        self._lease: Lease | None = None
        """The Lease as it stands for certain; None when it has to be read first."""
        self._renewal_due = 0
        self._held = False
        self._closing = False
        self._writing = asyncio.Lock()

    @property
    def leading(self) -> bool:
        """See `Leadership`: by the own clock, at this very moment."""
        return self._held and self.term.lasts()

    def checks(self) -> list[HealthCheck]:
        """See `Leadership`. A standby is ready; one that cannot reach the Lease is not."""
        failure = self._lines.failure
        if failure is not None:
            return [HealthCheck("lease", str(failure), without_names=failure.without_names)]
        if self.leading:
            return [HealthCheck("lease", note="leading")]
        holder = self._observed.holder
        held = f"standby; held by {holder!r}" if holder else "standby"
        return [HealthCheck("lease", note=held, without_names="standby")]

    async def campaign(self, callbacks: LeaderCallbacks) -> None:
        """See `Leadership`."""
        while not self._closing:
            await self._acquire(callbacks)
            await self._lead(callbacks)
        await asyncio.get_running_loop().create_future()

    async def release(self) -> None:
        """See `Leadership`. A Lease that cannot be released is left to expire."""
        self._closing = True
        async with self._writing:
            if not self.leading:
                return
            left = self.term.left_seconds
            self.term.end()
            self._held = False
            try:
                async with asyncio.timeout(left):
                    if await self._give_back():
                        self._log.info("released the lease")
            except TimeoutError:
                self._log.warning("could not release the lease: it is left to expire", problem="no answer")
            except ApiFailure as failure:
                self._log.warning("could not release the lease: it is left to expire", problem=failure)

    # Standing by

    async def _acquire(self, callbacks: LeaderCallbacks) -> None:
        """Read the Lease until this process holds it."""
        while not (self._held or self._closing):
            began = self._clock.now().ticks
            async with self._writing:
                await self._try_to_acquire(callbacks)
            if not self._held:
                passed = (self._clock.now().ticks - began) / SECOND
                await asyncio.sleep(max(_POLL_SECONDS - passed, 0.0))

    async def _try_to_acquire(self, callbacks: LeaderCallbacks) -> None:
        try:
            lease = await self._read()
            self._lines.standing_by(self._observed)
            if self._may_acquire(callbacks):
                self._acquired(await self._write_own_record(lease, None), callbacks)
            self._lines.reachable()
        except LeaseConflictError:
            self._log.debug("another was faster", namespace=self.lock.namespace)
        except ApiFailure as failure:
            self._lines.unreachable(failure)

    def _may_acquire(self, callbacks: LeaderCallbacks) -> bool:
        if self._closing or not self._observed.free(self.identity, self._clock.now().ticks):
            return False
        why = callbacks.why_not_begin()
        self._lines.not_acquired(why)
        return not why

    def _acquired(self, lease: Lease, callbacks: LeaderCallbacks) -> None:
        """Lead, unless the answer came so late that the term has ended already."""
        if not self.term.lasts():
            return
        self._held = True
        self.terms += 1
        self.since = self._clock.now().ticks
        self._lines.leading(lease)
        callbacks.changed()

    # Leading

    async def _lead(self, callbacks: LeaderCallbacks) -> None:
        """Renew until that fails for too long, or another is seen to hold the Lease."""
        while self._held and not self._closing:
            left = self.term.left_seconds
            if not left:
                self._step_down(callbacks, "the lease was not renewed within the renew deadline")
            elif self._rests(callbacks):
                due = self._seconds_to_renewal or _POLL_SECONDS
                await asyncio.sleep(min(due, _POLL_SECONDS, left))
            else:
                await self._renew_within(left, callbacks)

    def _rests(self, callbacks: LeaderCallbacks) -> bool:
        """Whether no renewal is sent now: none is due, or this host should not go on."""
        why = callbacks.why_not_go_on()
        self._lines.not_renewed(why)
        return bool(why) or self._seconds_to_renewal > 0

    async def _renew_within(self, seconds: float, callbacks: LeaderCallbacks) -> None:
        self._renew_in(self._durations.retry)
        try:
            async with asyncio.timeout(seconds), self._writing:
                if self._held and not self._closing:
                    await self._try_to_renew(callbacks)
        except TimeoutError:
            self._lease = None

    async def _try_to_renew(self, callbacks: LeaderCallbacks) -> None:
        try:
            why = await self._renew()
        except LeaseConflictError:
            # Another process wrote the Lease: the next read, which is due soon, says who holds it now.
            self._renew_in(min(_POLL_SECONDS, self._durations.retry))
        except ApiFailure as failure:
            self._lines.unreachable(failure)
        else:
            self._lines.reachable()
            if why:
                self._step_down(callbacks, why)

    def _step_down(self, callbacks: LeaderCallbacks, why: str) -> None:
        self.term.end()
        self._held = False
        self._lease = None
        self._log.warning("not leading any more", why=why)
        callbacks.changed()

    # The Lease

    @property
    def _seconds_to_renewal(self) -> float:
        return max(self._renewal_due - self._clock.now().ticks, 0) / SECOND

    def _renew_in(self, seconds: float) -> None:
        self._renewal_due = self._clock.now().ticks + ticks(seconds)

    async def _read(self) -> Lease | None:
        lease = await self.lock.get()
        self._observed.see(lease, self._clock.now().ticks)
        return lease

    async def _renew(self) -> str:
        """Write the own record anew. Returns why the Lease is lost; empty if it was renewed.

        Raises `LeaseConflictError` if the Lease changed meanwhile, and `ApiFailure`.
        """
        # Until the answer is here, the Lease does not stand for certain.
        before, self._lease = self._lease or await self._read(), None
        if before is None:
            return "the lease is gone"
        if before.holder != self.identity:
            return "the lease is another's now"
        await self._write_own_record(before, self.term.lasts)
        return ""

    async def _write_own_record(self, before: Lease | None, gate: Gate | None) -> Lease:
        """Acquire or renew in the version that was read; None for no Lease. gate: see `LeaseLock.replace`.

        Raises `LeaseConflictError` if another was faster, and `ApiFailure`.
        """
        sent = self._clock.now()
        spec = held(before, self.identity, self._durations.written_seconds, sent.wall)
        if before is None:
            lease = await self.lock.create(spec)
        else:
            lease = await self.lock.replace(before, spec, gate)
        self._lease = lease
        self._observed.see(lease, self._clock.now().ticks)
        # Others cannot have seen the record before it was sent, so all counts from then.
        self.term.renewed(sent.ticks)
        self._renewal_due = sent.ticks + ticks(self._durations.retry)
        return lease

    async def _give_back(self) -> bool:
        """Empty the record; False if another holds the Lease, or the Lease changes all the time.

        Raises `ApiFailure`.
        """
        for _ in range(_RELEASE_TRIES):
            before, self._lease = self._lease or await self._read(), None
            if before is None or before.holder != self.identity:
                return False
            try:
                await self.lock.replace(before, released(before, self._clock.now().wall), None)
            except LeaseConflictError:
                continue
            return True
        return False


class ElectionLog:
    """Logs each change of an election once, because a standby reads the Lease twice a second."""

    def __init__(self, log: Log, namespace: str, identity: str) -> None:
        self.failure: ApiFailure | None = None
        """Why the Lease could not be reached the last time; empty if it could."""
        self._log = log
        self._namespace = namespace
        self._identity = identity
        self._leader = ""
        """The other leader that was logged last."""
        self._idle_because = ""
        """The last logged reason for which the Lease was left alone."""

    def standing_by(self, observed: ObservedLease) -> None:
        """Another may hold the Lease: a standby logs nothing else while all is well."""
        if observed.holder in ("", self._identity, self._leader):
            return
        self._log.info(
            "new leader elected" if self._leader else "standing by",
            namespace=self._namespace,
            holder=observed.holder,
            since=observed.acquired,
        )
        self._leader = observed.holder

    def leading(self, lease: Lease) -> None:
        """The Lease was acquired by this process."""
        self._leader = ""
        self._log.info(
            "leading", namespace=self._namespace, identity=self._identity, transitions=lease.transitions
        )

    def not_acquired(self, why: str) -> None:
        """The Lease is free. why: what keeps this process from acquiring it; empty for nothing."""
        if why and why != self._idle_because:
            self._log.info("the lease is free, and not taken yet", why=why)
        self._idle_because = why

    def not_renewed(self, why: str) -> None:
        """The Lease is held. why: what keeps this process from renewing it; empty for nothing."""
        if why and why != self._idle_because:
            self._log.warning("the lease is not renewed any more", why=why)
        self._idle_because = why

    def unreachable(self, failure: ApiFailure) -> None:
        """A request for the Lease failed."""
        if str(failure) != str(self.failure):
            self._log.warning(str(failure))
        self.failure = failure

    def reachable(self) -> None:
        """A request for the Lease succeeded."""
        if self.failure is not None:
            self._log.info("the lease can be reached again")
        self.failure = None


def register_election_metrics(metrics: Metrics, elector: LeaderElector) -> None:
    """Add the metrics of an election; every series stands from the beginning."""
    requests: Samples = {(verb, outcome): 0.0 for verb in LEASE_VERBS for outcome in OUTCOMES}
    metrics.gauge("leading", "Whether this scheduler leads.", (), lambda: {(): elector.leading})
    metrics.counter("lease_terms", "How often this scheduler began to lead.", (), lambda: {(): elector.terms})
    metrics.counter(
        "lease_requests",
        "Requests for the Lease, by verb and what came of them.",
        ("verb", "outcome"),
        lambda: {**requests, **counted(elector.lock.outcomes)},
    )
