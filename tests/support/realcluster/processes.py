"""A server process of a test session: started under a guard, awaited by condition, stopped for sure.

It may be killed and started again, or stand still for a while, as servers in a cluster do.
"""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

_GUARD = Path(__file__).with_name("guard.py")
_PAUSE_SECONDS = 0.05
_LOG_TAIL = 3_000
_STOP_SECONDS = 10
_FIRST_PORT, _LAST_PORT = 15_000, 32_000
"""Below what Linux gives to outgoing connections (from 32768), above what services like to have."""


class ServerError(Exception):
    """A server that ended or did not get ready; the text ends with what it logged last."""


class ServerProcess:
    """One running server; its output goes to `log`."""

    def __init__(self, name: str, command: Sequence[str], log: Path) -> None:
        self.name, self.log = name, log
        self._guarded = [sys.executable, "-I", "-S", str(_GUARD), *command]
        self._guard = self._started()

    def start(self) -> None:
        """Start it again after `stop`, by the same command; its log goes on."""
        self._guard = self._started()

    def wait_until(self, holds: Callable[[], bool], seconds: float, what: str) -> None:
        """Ask `holds` again and again; a ServerError when the server ends, or after `seconds`."""
        deadline = time.monotonic() + seconds
        while not holds():
            if self._ended_within(_PAUSE_SECONDS):
                raise ServerError(f"{self.name} ended before {what}{self._tail()}")
            if time.monotonic() > deadline:
                raise ServerError(f"{self.name}: no {what} within {seconds} s{self._tail()}")

    def stop(self) -> None:
        """Kill the server (SIGKILL); returns when it is gone."""
        assert self._guard.stdin is not None
        self._guard.stdin.close()
        self._guard.wait(_STOP_SECONDS)

    @contextmanager
    def killed(self) -> Iterator[None]:
        """It is gone within the block, and is started at its end."""
        self.stop()
        try:
            yield
        finally:
            self.start()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """It stands still within the block (SIGSTOP): it takes connections and answers nothing."""
        (child,) = Path(f"/proc/{self._guard.pid}/task/{self._guard.pid}/children").read_text().split()
        os.kill(int(child), signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(int(child), signal.SIGCONT)

    def _started(self) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as output:
            # A session of its own: Ctrl-C in the terminal is for pytest, which then stops the servers.
            return subprocess.Popen(
                self._guarded, stdin=subprocess.PIPE, stdout=output, stderr=output, start_new_session=True
            )

    def _ended_within(self, seconds: float) -> bool:
        try:
            self._guard.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _tail(self) -> str:
        return f"; {self.log} ends with:\n{self.log.read_text(errors='replace')[-_LOG_TAIL:]}"


def free_ports(count: int) -> list[int]:
    """Ports of 127.0.0.1 that nobody listens on now, all different.

    None of those that the kernel gives to outgoing connections: a server that is started again wants its
    own port back, and a client that finds nobody at such a port can end up connected to itself.
    """
    found: set[int] = set()
    while len(found) < count:
        port = _FIRST_PORT + secrets.randbelow(_LAST_PORT - _FIRST_PORT)
        with suppress(OSError):
            socket.create_server(("127.0.0.1", port)).close()
            found.add(port)
    return sorted(found)
