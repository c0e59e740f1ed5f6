"""Which requests a fault is about, how often it strikes, and gates that hold requests back."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from kruntimes_core.lab.apiserver.requests import RequestInfo


@dataclass(frozen=True, slots=True)
class Scope:
    """Requests by verb, plural, subresource, namespace and name; None means any.

    continued: only later pages of lists (True), only other requests (False).
    """

    verb: str | None = None
    plural: str | None = None
    namespace: str | None = None
    name: str | None = None
    subresource: str | None = None
    continued: bool | None = None

    def matches(self, call: RequestInfo) -> bool:
        """Whether the fault is about this request."""
        return (
            self.verb in (None, call.verb)
            and self.plural in (None, call.resource.plural)
            and self.namespace in (None, call.namespace)
            and self.name in (None, call.name)
            and self.subresource in (None, call.subresource)
            and self.continued in (None, call.continued)
        )


class Gate:
    """Closed until `open`; whoever comes waits there, and can be waited for."""

    def __init__(self) -> None:
        self._opened = asyncio.Event()
        self._came = asyncio.Condition()
        self.arrived = 0
        """How many have come."""

    @property
    def is_open(self) -> bool:
        """Whether it holds nobody any more."""
        return self._opened.is_set()

    def open(self) -> None:
        """Let everybody through, now and later."""
        self._opened.set()

    async def passage(self) -> None:
        """Come, and wait until it is open."""
        async with self._came:
            self.arrived += 1
            self._came.notify_all()
        await self._opened.wait()

    async def reached(self, count: int = 1) -> None:
        """Wait until that many have come."""
        async with self._came:
            await self._came.wait_for(lambda: self.arrived >= count)


@dataclass(slots=True, eq=False)
class Fault:
    """One fault. times: how often it strikes, None for always."""

    scope: Scope
    times: int | None = None
    used: int = field(default=0, init=False)

    def stop(self) -> None:
        """Strike no more."""
        self.times = self.used

    def strikes(self, call: RequestInfo) -> bool:
        """Whether it strikes this request; counts it if so."""
        if (self.times is not None and self.used >= self.times) or not self.scope.matches(call):
            return False
        self.used += 1
        return True
