"""What is said of an election, once for each change: a standby looks at the Lease twice a second."""

from __future__ import annotations

from kruntimes_core.cluster.failures import ApiFailure
from kruntimes_core.cluster.leading.observed import Observed
from kruntimes_core.cluster.leading.record import Lease
from kruntimes_core.cluster.observability.log import Log


class Saying:
    """Says who leads, why this process does not, and what is wrong with the Lease."""

    def __init__(self, log: Log, namespace: str, identity: str) -> None:
        self.problem = ""
        """Why the Lease could not be reached the last time; empty if it could."""
        self._log = log
        self._namespace = namespace
        self._identity = identity
        self._leader = ""
        """Whom it was said to stand by for."""
        self._rests_for = ""
        """Why it was said to leave the Lease alone."""

    def stands_by(self, observed: Observed) -> None:
        """Another holds the Lease, if one does: a standby says nothing else while all is well."""
        if observed.holder in ("", self._identity, self._leader):
            return
        self._log.info(
            "new leader elected" if self._leader else "standing by",
            namespace=self._namespace,
            holder=observed.holder,
            since=observed.acquired,
        )
        self._leader = observed.holder

    def leads(self, lease: Lease) -> None:
        """The Lease was taken by this process."""
        self._leader = ""
        self._log.info(
            "leading", namespace=self._namespace, identity=self._identity, transitions=lease.transitions
        )

    def not_taken(self, why: str) -> None:
        """The Lease is free. why: what keeps this process from taking it; empty for nothing."""
        if why and why != self._rests_for:
            self._log.info("the lease is free, and not taken yet", why=why)
        self._rests_for = why

    def not_renewed(self, why: str) -> None:
        """The Lease is held. why: what keeps this process from renewing it; empty for nothing."""
        if why and why != self._rests_for:
            self._log.warning("the lease is not renewed any more", why=why)
        self._rests_for = why

    def fails(self, failure: ApiFailure) -> None:
        """The Lease cannot be reached."""
        if str(failure) != self.problem:
            self._log.warning(str(failure))
        self.problem = str(failure)

    def works(self) -> None:
        """The Lease can be reached."""
        if self.problem:
            self._log.info("the lease can be reached again")
        self.problem = ""
