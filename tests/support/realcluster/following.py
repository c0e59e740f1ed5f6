"""A watch that one thread reads and another ends."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any


class ExpiredError(Exception):
    """The server cannot tell any more what happened since a version."""


class Following:
    """An open watch: read by one thread, closed by any."""

    def __init__(self, connection: HTTPConnection, response: HTTPResponse) -> None:
        self._connection = connection
        self._response = response

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The events, until the server or `close` ends it."""
        try:
            # A socket that another thread shut down ends in one of several ways.
            with suppress(OSError, ValueError, HTTPException):
                while line := self._response.readline():
                    yield json.loads(line)
        finally:
            self._response.close()  # it holds the socket open, whatever becomes of the connection
            self._connection.close()

    def close(self) -> None:
        """End it; whoever reads it sees its end."""
        with suppress(OSError):
            if self._connection.sock is not None:
                self._connection.sock.shutdown(socket.SHUT_RDWR)
