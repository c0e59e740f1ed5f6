"""What one process does to the Lease: look at it, take it, renew it, give it back. It decides nothing."""

from __future__ import annotations

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.leading.durations import Durations
from kruntimes_core.cluster.leading.leases import LeaseConflictError, Leases
from kruntimes_core.cluster.leading.observed import Observed
from kruntimes_core.cluster.leading.record import Lease, held, released
from kruntimes_core.cluster.leading.term import Term
from kruntimes_core.engine.clock import SECOND, ticks

_RELEASE_TRIES = 3


class Holding:
    """The Lease as it was seen last, and the term that its renewals extend."""

    def __init__(
        self, *, leases: Leases, clock: Clock, term: Term, durations: Durations, identity: str
    ) -> None:
        self.observed = Observed(durations.lease_ticks, durations.absent_ticks)
        self._leases = leases
        self._clock = clock
        self._term = term
        self._durations = durations
        self._identity = identity
        self._lease: Lease | None = None
        """As it stands for certain; None when that has to be read."""
        self._due = 0

    @property
    def free(self) -> bool:
        """Whether it may be taken, by all that was seen until now."""
        return self.observed.free(self._identity, self._clock.now().ticks)

    @property
    def due_seconds(self) -> float:
        """How long until it is to be renewed."""
        return max(self._due - self._clock.now().ticks, 0) / SECOND

    def renew_in(self, seconds: float) -> None:
        """Renew it after so long."""
        self._due = self._clock.now().ticks + ticks(seconds)

    def forget(self) -> None:
        """How it stands is not known for certain any more."""
        self._lease = None

    async def look(self) -> Lease | None:
        """Read it, and take note of what is seen. Raises `ApiFailure`."""
        lease = await self._leases.get()
        self.observed.see(lease, self._clock.now().ticks)
        return lease

    async def take(self, before: Lease | None) -> Lease:
        """Write the own record in the place of the one that was just read.

        Raises `LeaseConflictError` if another was faster, and `ApiFailure`.
        """
        now = self._clock.now()
        spec = held(before, self._identity, self._durations.written_seconds, now.wall)
        if before is None:
            taken = await self._leases.create(spec)
        else:
            taken = await self._leases.replace(before, spec, None)
        self._written(taken, now.ticks)
        return taken

    async def renew(self) -> str:
        """Write the record anew. Returns why that cannot be: it is gone, or another's; else nothing.

        Raises `LeaseConflictError` if it was changed meanwhile, and `ApiFailure`.
        """
        before, self._lease = self._lease or await self.look(), None
        if before is None:
            return "the lease is gone"
        if before.holder != self._identity:
            return "the lease is another's now"
        now = self._clock.now()
        spec = held(before, self._identity, self._durations.written_seconds, now.wall)
        self._written(await self._leases.replace(before, spec, self._term.lasts), now.ticks)
        return ""

    async def give_back(self) -> bool:
        """Write that nobody holds it; False if somebody else does, or it changes all the time.

        Raises `ApiFailure`.
        """
        for _ in range(_RELEASE_TRIES):
            before, self._lease = self._lease or await self.look(), None
            if before is None or before.holder != self._identity:
                return False
            try:
                await self._leases.replace(before, released(before, self._clock.now().wall), None)
            except LeaseConflictError:
                continue
            return True
        return False

    def _written(self, lease: Lease, sent: int) -> None:
        """Others cannot have seen the record before it was sent, so all counts from then."""
        self._lease = lease
        self.observed.see(lease, self._clock.now().ticks)
        self._term.extend(sent + ticks(self._durations.deadline))
        self._due = sent + ticks(self._durations.retry)
