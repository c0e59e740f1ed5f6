"""Faults of the embedded API server: of requests and their answers, of lists, watches and connections.

A fault is about the requests of a `Scope`, strikes a number of times, and can be stopped. A new `Faults`
changes nothing.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TypeVar

from kruntimes_core.lab.apiserver.encoding import encode, encode_event
from kruntimes_core.lab.apiserver.errors import ApiError, expired, timeout
from kruntimes_core.lab.apiserver.http.middleware import ConnectionDropped, Middleware
from kruntimes_core.lab.apiserver.http.serving import ReceivedRequest, Sent, sent_error
from kruntimes_core.lab.apiserver.http.watching import WatchHandler
from kruntimes_core.lab.apiserver.requests import RequestInfo
from kruntimes_core.testing.access_rules import denied

_LOGGED = 100_000
"""Requests kept in a log; the oldest go first."""
_REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    410: "Expired",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


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

    def matches(self, info: RequestInfo) -> bool:
        """Whether the fault is about this request."""
        return (
            self.verb in (None, info.verb)
            and self.plural in (None, info.resource.plural)
            and self.namespace in (None, info.namespace)
            and self.name in (None, info.name)
            and self.subresource in (None, info.subresource)
            and self.continued in (None, info.continued)
        )


class Gate:
    """Closed until `open`; what comes waits there, and can be waited for."""

    def __init__(self) -> None:
        self._opened = asyncio.Event()
        self._came = asyncio.Condition()
        self.arrived = 0
        """How many have come."""

    @property
    def is_open(self) -> bool:
        """Whether it holds nothing any more."""
        return self._opened.is_set()

    def open(self) -> None:
        """Let everything through, now and later."""
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


class When(Enum):
    """Before a request is served, or after it and before its answer."""

    BEFORE = "before"
    AFTER = "after"


@dataclass(slots=True, eq=False)
class Fault:
    """One fault. times: how often it strikes, None for always."""

    scope: Scope
    times: int | None = None
    used: int = field(default=0, init=False)

    def stop(self) -> None:
        """Strike no more."""
        self.times = self.used

    def strikes(self, info: RequestInfo) -> bool:
        """Whether it strikes this request; counts it if so."""
        if (self.times is not None and self.used >= self.times) or not self.scope.matches(info):
            return False
        self.used += 1
        return True


@dataclass(slots=True, eq=False)
class RequestFault(Fault):
    """Hold at a gate, take time, then answer an error, or drop the connection."""

    when: When = When.BEFORE
    gate: Gate | None = None
    seconds: float = 0.0
    error: Callable[[RequestInfo], ApiError] | None = None
    retry_after: str | None = None
    drops: bool = False


Query = Mapping[str, str]


@dataclass(slots=True, eq=False)
class ListFault(Fault):
    """A list is served as if its query were another."""

    changed: Callable[[Query], Query] = dict


@dataclass(slots=True, eq=False)
class EmptyWatch(Fault):
    """These watches end cleanly before any event."""


@dataclass(slots=True, eq=False)
class WatchHold(Fault):
    """Events of these watches are held back while the gate is closed."""

    gate: Gate = field(default_factory=Gate)

    def holds(self, info: RequestInfo) -> bool:
        """Whether it holds a watch back now; one of all namespaces too, for its events come in order."""
        whole = replace(self.scope, namespace=None)
        return not self.gate.is_open and (
            self.scope.matches(info) or (not info.namespace and whole.matches(info))
        )


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """One request. code: the HTTP status, 0 when the connection was dropped instead.

    body_bytes: the size of what the client sent; the request holds it only where a log keeps bodies.
    """

    request: ReceivedRequest
    code: int
    body_bytes: int


class RequestLog:
    """The requests in order. `keep_bodies` keeps what clients sent, for tests that look into it."""

    def __init__(self, *, keep_bodies: bool = False) -> None:
        self._keep_bodies = keep_bodies
        self._entries: deque[LoggedRequest] = deque(maxlen=_LOGGED)

    def add(self, request: ReceivedRequest, code: int) -> None:
        """Take one request and the status of its answer."""
        kept = request if self._keep_bodies else replace(request, body=b"")
        self._entries.append(LoggedRequest(kept, code, len(request.body)))

    def clear(self) -> None:
        """Forget all entries."""
        self._entries.clear()

    def __iter__(self) -> Iterator[LoggedRequest]:
        return iter(tuple(self._entries))

    def __len__(self) -> int:
        return len(self._entries)

    def calls(self, verb: str | None = None, plural: str | None = None) -> list[LoggedRequest]:
        """The requests for a resource, optionally only of a verb or a plural."""
        scope = Scope(verb, plural)
        return [one for one in self if one.request.info is not None and scope.matches(one.request.info)]


_F = TypeVar("_F", bound=Fault)


class Faults(Middleware):
    """All faults of one server. `log` has its requests without any fault too."""

    def __init__(self, *, keep_bodies: bool = False) -> None:
        self.log = RequestLog(keep_bodies=keep_bodies)
        self._faults: list[Fault] = []
        self._watches: list[WatchHandler] = []
        self._silent: set[object] = set()

    # Requests

    def refuse(
        self,
        scope: Scope,
        code: int,
        *,
        reason: str = "",
        message: str = "",
        retry_after: int | str | None = None,
        times: int | None = None,
    ) -> Fault:
        """Answer with an error and do nothing. retry_after: the header as it is, a number or any text.

        403 is worded as RBAC words it, unless there is a message.
        """

        def error(info: RequestInfo) -> ApiError:
            if not message and code == 403:
                return denied("faults", info)
            if not message and code == 410:
                return expired("The provided continue parameter is too old")
            return ApiError(code, reason or _REASONS.get(code, ""), message or f"refused with {code}")

        header = None if retry_after is None else str(retry_after)
        return self._add(RequestFault(scope, times, error=error, retry_after=header))

    def lose_request(self, scope: Scope, times: int | None = 1) -> Fault:
        """Drop the connection before anything is done."""
        return self._add(RequestFault(scope, times, drops=True))

    def lose_answer(self, scope: Scope, times: int | None = 1) -> Fault:
        """Do it, then drop the connection."""
        return self._add(RequestFault(scope, times, when=When.AFTER, drops=True))

    def time_out(self, scope: Scope, times: int | None = 1) -> Fault:
        """Do it, then answer 504."""
        problem = "request did not complete within requested timeout - context deadline exceeded"
        return self._add(RequestFault(scope, times, when=When.AFTER, error=lambda _: timeout(problem)))

    def hold(self, scope: Scope, times: int | None = None, when: When = When.BEFORE) -> Gate:
        """Hold requests (or their answers) at a gate. Those held go on though their client gives up."""
        gate = Gate()
        self._add(RequestFault(scope, times, when=when, gate=gate))
        return gate

    def slow(self, scope: Scope, seconds: float, times: int | None = None, when: When = When.BEFORE) -> Fault:
        """Let requests (or their answers) take time."""
        return self._add(RequestFault(scope, times, when=when, seconds=seconds))

    # Lists

    def ignore_limit(self, scope: Scope, times: int | None = None) -> Fault:
        """Answer whole lists whatever the limit."""
        return self._add(ListFault(scope, times, _without_limit))

    def short_pages(self, scope: Scope, size: int, times: int | None = None) -> Fault:
        """Answer fewer objects than the client wants, with a token to go on."""

        def changed(query: Query) -> Query:
            limit = int(query.get("limit") or 0)
            return {**query, "limit": str(min(limit, size))} if limit else query

        return self._add(ListFault(scope, times, changed))

    def old_lists(self, scope: Scope, version: int, times: int | None = None) -> Fault:
        """Answer lists of version 0 from the state of an old version, as a lagging replica would."""
        old = {"resourceVersion": str(version), "resourceVersionMatch": "Exact"}

        def changed(query: Query) -> Query:
            return {**_without_limit(query), **old} if query.get("resourceVersion") == "0" else query

        return self._add(ListFault(scope, times, changed))

    # Watches

    def hold_watch(self, plural: str | None = None, namespace: str | None = None) -> Gate:
        """Hold back the events of open and new watches of a kind (and namespace) until the gate opens."""
        hold = self._add(WatchHold(Scope("watch", plural, namespace)))
        self._hold()
        return hold.gate

    def release_watch(self, gate: Gate) -> None:
        """Open a gate of `hold_watch`, and let what was held back go out."""
        gate.open()
        self._hold()

    def end_next_watches(self, scope: Scope, times: int) -> Fault:
        """Let the next watches end cleanly at once."""
        return self._add(EmptyWatch(scope, times))

    def end_watches(self, scope: Scope) -> None:
        """End open watches cleanly."""
        for watch in self._open(scope):
            watch.end()

    def inject(self, scope: Scope, line: bytes) -> None:
        """Send any text in open watches."""
        for watch in self._open(scope):
            watch.inject(line)

    def inject_error(self, scope: Scope, error: ApiError) -> None:
        """Send an ERROR event in open watches, and end them, as the API server does."""
        self.inject(scope, encode_event("ERROR", encode(error.as_object())))
        self.end_watches(scope)

    def send_bookmarks(self, scope: Scope) -> None:
        """Send a bookmark in open watches now."""
        for watch in self._open(scope):
            watch.bookmark()

    # Connections

    def black_hole(self, connections: Iterable[object]) -> None:
        """Let connections be silent for ever, without closing them; see `EmbeddedServer.connections`."""
        self._silent.update(connections)

    # As middleware

    async def handle(self, request: ReceivedRequest, serve: Callable[[ReceivedRequest], Sent]) -> Sent:
        """Answer a request, with what strikes it."""
        info = request.info
        if info is None:
            return serve(request)
        refused = await self._strike(info, When.BEFORE)
        if refused is not None:
            return refused
        changes = (one.changed for one in self._faults if isinstance(one, ListFault) and one.strikes(info))
        changed = next(changes, None) if info.verb == "list" else None
        sent = serve(request if changed is None else replace(request, query=changed(request.query)))
        after = await self._strike(info, When.AFTER) if info.verb != "watch" else None
        return sent if after is None else after

    def watch_began(self, watch: WatchHandler) -> None:
        """Hold or end it, if a fault says so."""
        if any(isinstance(fault, EmptyWatch) and fault.strikes(watch.info) for fault in self._faults):
            watch.hold(True)
            watch.end()
        else:
            self._watches.append(watch)
            self._hold()

    def watch_ended(self, watch: WatchHandler) -> None:
        """Forget it."""
        self._watches = [one for one in self._watches if one is not watch]

    def answered(self, request: ReceivedRequest, code: int) -> None:
        """Log it."""
        self.log.add(request, code)

    def is_silent(self, connection: object) -> bool:
        """Whether it is one of those of a `black_hole`."""
        return connection in self._silent

    async def _strike(self, info: RequestInfo, when: When) -> Sent | None:
        """Go through what strikes a request; returns the answer in place of the true one, if any."""
        found = [one for one in self._faults if isinstance(one, RequestFault) and one.when is when]
        for fault in [one for one in found if one.strikes(info)]:
            if fault.gate is not None:
                await fault.gate.passage()
            if fault.seconds:
                await asyncio.sleep(fault.seconds)
            if fault.drops:
                raise ConnectionDropped
            if fault.error is not None:
                return sent_error(fault.error(info), fault.retry_after)
        return None

    def _open(self, scope: Scope) -> list[WatchHandler]:
        return [watch for watch in self._watches if scope.matches(watch.info)]

    def _hold(self) -> None:
        holds = [fault for fault in self._faults if isinstance(fault, WatchHold)]
        for watch in self._watches:
            watch.hold(any(hold.holds(watch.info) for hold in holds))

    def _add(self, fault: _F) -> _F:
        self._faults.append(fault)
        return fault


def _without_limit(query: Query) -> Query:
    return {name: value for name, value in query.items() if name != "limit"}
