"""Which rights are refused now. Each is named until a request shows that it was given."""

from __future__ import annotations

import re

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.failures import forbidden
from kruntimes_core.cluster.observability.health import HealthCheck
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.observability.metrics import Samples
from kruntimes_core.cluster.rights.needed import NEEDED, READ_RUN, WRITE_STATUS, Right, right_of
from kruntimes_core.cluster.statuses import status_of
from kruntimes_core.cluster.transport.protocol import Call, Response
from kruntimes_core.engine.clock import SECOND

_UNSEEN = (READ_RUN, WRITE_STATUS)
"""Without these a Run is tried again by itself, and no other check says so."""
_OF_AN_AUTHORIZER = re.compile(r"\bcannot \S+ resource ")
"""How API servers word a 403 that is about rights. A webhook's denial of one object is worded otherwise."""
_NO_VERDICT = (401, 408, 429)
_FORGOTTEN_TICKS = 300 * SECOND
"""A right that is not asked for any more is not known to be missing. The longest usual backoff is 60 s."""


class MissingRights:
    """Hears every answer of the API server; made for one host and all who send for it."""

    def __init__(self, clock: Clock, log: Log) -> None:
        self._clock = clock
        self._log = log
        self._refused_at: dict[tuple[Right, str], int] = {}

    def answered(self, call: Call, response: Response) -> None:
        """An answer came. It costs a comparison while nothing is missing."""
        if response.status == 403:
            self._refused(call, response)
        elif self._refused_at and response.status < 500 and response.status not in _NO_VERDICT:
            self._granted(call)

    def check(self) -> HealthCheck:
        """What a readiness probe should know beside what lists, watches and elections say themselves."""
        self._forget()
        said = [_text(right, namespace) for right, namespace in self._refused_at if right in _UNSEEN]
        return HealthCheck("rights", "; ".join(sorted(said)))

    def samples(self) -> Samples:
        """For each right that is needed, in how many namespaces it is refused."""
        self._forget()
        counts: dict[tuple[str, ...], float] = {(right.verb, right.title): 0.0 for right in NEEDED}
        for right, _ in self._refused_at:
            if right in NEEDED:
                counts[right.verb, right.title] += 1
        return counts

    # Inside

    def _refused(self, call: Call, response: Response) -> None:
        now = self._clock.now()
        if _OF_AN_AUTHORIZER.search(status_of(response, now.wall).message) is None:
            return
        key = right_of(call)
        if key not in self._refused_at and key[0] in _UNSEEN:
            self._log.warning(_text(*key))
        self._refused_at[key] = now.ticks

    def _granted(self, call: Call) -> None:
        right, namespace = right_of(call)
        if self._refused_at.pop((right, namespace), None) is not None and right in _UNSEEN:
            self._log.info(f"can {right.verb} {_place(right, namespace)} again")

    def _forget(self) -> None:
        oldest = self._clock.now().ticks - _FORGOTTEN_TICKS
        self._refused_at = {key: at for key, at in self._refused_at.items() if at > oldest}


def _text(right: Right, namespace: str) -> str:
    return str(forbidden(right.verb, _place(right, namespace)))


def _place(right: Right, namespace: str) -> str:
    return f"{right.title} in {namespace}" if namespace else right.title
