"""What may stand between clients and the server: authorization, and whatever changes requests and answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from kruntimes_core.lab.apiserver.http.serving import ReceivedRequest, Sent
from kruntimes_core.lab.apiserver.http.watching import WatchHandler
from kruntimes_core.lab.apiserver.requests import RequestInfo


class Authorizer(Protocol):
    """Who may do what."""

    def user(self, authorization: str) -> str:
        """The user of an `Authorization` header. Raises `ApiError` (401)."""

    def check(self, user: str, info: RequestInfo) -> None:
        """That the user may do it. Raises `ApiError` (403)."""


class ConnectionDropped(Exception):  # noqa: N818 - an order to the server, not an error
    """Raised by a middleware: the connection is closed without an answer."""


class Middleware:
    """Passes everything through; a subclass may refuse, delay, drop and change."""

    async def handle(self, request: ReceivedRequest, serve: Callable[[ReceivedRequest], Sent]) -> Sent:
        """Answer a request. What stands for a watch is an answer of 200 without a body.

        Raises `ConnectionDropped`.
        """
        return serve(request)

    def watch_began(self, watch: WatchHandler) -> None:
        """A watch is about to be told."""

    def watch_ended(self, watch: WatchHandler) -> None:
        """A watch is over."""

    def answered(self, request: ReceivedRequest, code: int) -> None:
        """A request got an answer of this HTTP status; 0: its connection was dropped."""

    def is_silent(self, connection: object) -> bool:
        """Whether nothing is read from and sent on a connection any more."""
        return False
