"""The faults that the HTTP layer asks for: before a request is served, after it, and in a watch.

A fault is about the requests of a `Scope`, strikes a number of times, and can be stopped. What is not
asked for does not happen: a new `Faults` changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from kruntimes_core.lab.apiserver.encoding import encode, encode_event
from kruntimes_core.lab.apiserver.errors import ApiError, timeout
from kruntimes_core.lab.apiserver.faults.kinds import (
    EmptyWatch,
    ListTrouble,
    Trouble,
    WatchHold,
    When,
    refusal,
)
from kruntimes_core.lab.apiserver.faults.log import RequestLog
from kruntimes_core.lab.apiserver.faults.scope import Fault, Gate, Scope
from kruntimes_core.lab.apiserver.faults.streams import OpenWatches
from kruntimes_core.lab.apiserver.requests import RequestInfo

_F = TypeVar("_F", bound=Fault)


class Faults:
    """All faults of one server. `log` and `watches` are there without any fault."""

    def __init__(self, *, keep_bodies: bool = False) -> None:
        self.log = RequestLog(keep_bodies=keep_bodies)
        self.watches = OpenWatches()
        self._faults: list[Fault] = []
        self.open_connections: Callable[[], Iterable[object]] = lambda: ()
        """Set by the HTTP layer: the transports that are open now."""
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

        403 is worded as RBAC words it, 410 as an expired list, unless there is a message.
        """
        header = None if retry_after is None else str(retry_after)
        return self._add(Trouble(scope, times, error=refusal(code, reason, message), retry_after=header))

    def lose_request(self, scope: Scope, times: int | None = 1) -> Fault:
        """Drop the connection before anything is done."""
        return self._add(Trouble(scope, times, drops=True))

    def lose_answer(self, scope: Scope, times: int | None = 1) -> Fault:
        """Do it, then drop the connection."""
        return self._add(Trouble(scope, times, when=When.AFTER, drops=True))

    def time_out(self, scope: Scope, times: int | None = 1) -> Fault:
        """Do it, then answer 504."""
        problem = "request did not complete within requested timeout - context deadline exceeded"
        return self._add(Trouble(scope, times, when=When.AFTER, error=lambda _: timeout(problem)))

    def hold(self, scope: Scope, times: int | None = None, when: When = When.BEFORE) -> Gate:
        """Hold requests (or their answers) at a gate. Those held go on though their client gives up."""
        gate = Gate()
        self._add(Trouble(scope, times, when=when, gate=gate))
        return gate

    def slow(self, scope: Scope, seconds: float, times: int | None = None, when: When = When.BEFORE) -> Fault:
        """Let requests (or their answers) take time."""
        return self._add(Trouble(scope, times, when=when, seconds=seconds))

    # Lists

    def ignore_limit(self, scope: Scope, times: int | None = None) -> Fault:
        """Answer whole lists whatever the limit."""
        return self._add(ListTrouble(scope, times, ignores_limit=True))

    def short_pages(self, scope: Scope, size: int, times: int | None = None) -> Fault:
        """Answer fewer objects than asked for, with a token to go on."""
        return self._add(ListTrouble(scope, times, page_size=size))

    def old_lists(self, scope: Scope, version: int, times: int | None = None) -> Fault:
        """Answer lists of version 0 from the state of an old version, as a lagging replica would."""
        return self._add(ListTrouble(scope, times, old_version=version))

    # Watches

    def hold_watch(self, plural: str | None = None, namespace: str | None = None) -> Gate:
        """Hold back the events of open and new watches of a kind (and namespace) until the gate opens.

        A watch of all namespaces is held for a namespace too: its events come in order.
        """
        gate = Gate()
        self._add(WatchHold(Scope("watch", plural, namespace), gate=gate))
        return gate

    def release_watch(self, gate: Gate) -> None:
        """Open a gate of `hold_watch`, and let what was held back go out."""
        gate.open()
        for watch in self.watches.of(Scope()):
            watch.wake()

    def end_next_watches(self, scope: Scope, times: int) -> Fault:
        """Let the next watches end cleanly at once."""
        return self._add(EmptyWatch(scope, times))

    def end_watches(self, scope: Scope) -> None:
        """End open watches cleanly."""
        for watch in self.watches.of(scope):
            watch.end()

    def inject(self, scope: Scope, line: bytes) -> None:
        """Send any text in open watches."""
        for watch in self.watches.of(scope):
            watch.inject(line)

    def inject_error(self, scope: Scope, error: ApiError) -> None:
        """Send an ERROR event in open watches, and end them, as the API server does."""
        line = encode_event("ERROR", encode(error.as_object()))
        for watch in self.watches.of(scope):
            watch.inject(line)
            watch.end()

    def send_bookmarks(self, scope: Scope) -> None:
        """Send a bookmark in open watches now."""
        for watch in self.watches.of(scope):
            watch.bookmark()

    # Connections

    def black_hole(self) -> None:
        """Let all connections that are open now be silent for ever, without closing them."""
        self._silent |= set(self.open_connections())

    def is_silent(self, transport: object) -> bool:
        """Whether nothing is sent on a connection any more."""
        return transport in self._silent

    # What the HTTP layer asks

    def troubles(self, call: RequestInfo, when: When) -> list[Trouble]:
        """The faults that strike a request now, in the order in which they were asked for."""
        found = (fault for fault in self._faults if isinstance(fault, Trouble) and fault.when is when)
        return [fault for fault in found if fault.strikes(call)]

    def list_trouble(self, call: RequestInfo) -> ListTrouble | None:
        """The fault that strikes a list, None for none."""
        found = (fault for fault in self._faults if isinstance(fault, ListTrouble))
        return next((fault for fault in found if fault.strikes(call)), None)

    def ends_at_once(self, call: RequestInfo) -> bool:
        """Whether a watch ends before any event."""
        return any(isinstance(fault, EmptyWatch) and fault.strikes(call) for fault in self._faults)

    def is_held(self, call: RequestInfo) -> bool:
        """Whether the events of a watch are held back now."""
        holds = (fault for fault in self._faults if isinstance(fault, WatchHold))
        return any(
            hold.gate is not None and not hold.gate.is_open and _concerns(hold.scope, call) for hold in holds
        )

    def _add(self, fault: _F) -> _F:
        self._faults.append(fault)
        return fault


def _concerns(scope: Scope, call: RequestInfo) -> bool:
    return scope.matches(call) or (
        not call.namespace and scope.plural in (None, call.resource.plural) and scope.verb == call.verb
    )
