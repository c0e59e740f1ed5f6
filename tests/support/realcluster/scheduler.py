"""The scheduler as its own process, under an account of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

from realcluster.client import Reachable

COMMAND = str(Path(sys.executable).with_name("kruntimes"))
"""The console script, as it was installed beside this interpreter."""

STEADY = "heartbeatStalenessSeconds: 3600\n"
"""A configuration for tests that have something else in mind than heartbeats."""
HASTY = f"{STEADY}events: {{afterSeconds: 1, repeatSeconds: 1, perSecond: 100}}\n"
"""A configuration with which what lasts for a second is announced, and again after another.

A scheduler of all namespaces announces the Runs that other tests left waiting, too."""

IMPATIENT = (sys.executable, "-m", "realcluster.impatient")
"""The same with short watches."""

_PAUSE_SECONDS = 0.05


class Scheduler:
    """A running `kruntimes scheduler`, and its log lines."""

    def __init__(self, arguments: Sequence[str], program: Sequence[str] = (COMMAND,)) -> None:
        command = [*program, "scheduler", "--log-format=json", *arguments]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.lines: list[dict[str, Any]] = []
        self._changed = threading.Condition()
        self._ended = False
        threading.Thread(target=self._read, daemon=True).start()

    def says(self, message: str, seconds: float = 30) -> dict[str, Any]:
        """The first line with this message, once it was written; fails after `seconds`."""
        with self._changed:
            self._changed.wait_for(lambda: self._said(message) is not None or self._ended, seconds)
        found = self._said(message)
        assert found is not None, f"did not say {message!r}: {self.lines}"
        return found

    def says_like(self, pattern: str, seconds: float = 30) -> None:
        """Wait for a line whose message matches; fails after `seconds`."""

        def said() -> bool:
            return any(re.search(pattern, line["message"]) for line in list(self.lines))

        with self._changed:
            self._changed.wait_for(lambda: said() or self._ended, seconds)
        assert said(), f"did not say {pattern!r}: {self.lines}"

    def all_lines(self) -> list[dict[str, Any]]:
        """All lines of a process that has ended."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended, 30)
        return self.lines

    def get(self, endpoint: str, path: str) -> tuple[int, str]:
        """Ask an endpoint, `probes` or `metrics`: status and text."""
        try:
            with urllib.request.urlopen(f"http://{self.address(endpoint)}{path}", timeout=10) as answer:
                return answer.status, answer.read().decode()
        except HTTPError as refused:
            with refused:
                return refused.code, refused.read().decode()

    def address(self, endpoint: str) -> str:
        """Where it serves an endpoint, as `host:port`."""
        return next(
            str(line["address"])
            for line in self.lines
            if line["message"] == "listening" and line["endpoint"] == endpoint
        )

    def wait_until(self, holds: Callable[[], bool], seconds: float = 20) -> None:
        """Ask something of it again and again until it holds; fails when it ends, or after `seconds`."""
        deadline = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < deadline, f"still not so after {seconds} s: {self.lines}"
            with suppress(subprocess.TimeoutExpired):
                code = self._process.wait(_PAUSE_SECONDS)
                raise AssertionError(f"ended with {code}: {self.lines}")

    def metric(self, name: str, **labels: str) -> float:
        """The value of a metric; name: without the prefix of all."""
        _, text = self.get("metrics", "/metrics")
        inside = ",".join(f'{label}="{value}"' for label, value in sorted(labels.items()))
        start = f"kruntimes_scheduler_{name}{{{inside}}} " if labels else f"kruntimes_scheduler_{name} "
        (line,) = (line for line in text.splitlines() if line.startswith(start))
        return float(line.removeprefix(start))

    def series(self) -> int:
        """How many series of metrics it shows."""
        _, text = self.get("metrics", "/metrics")
        return sum(not line.startswith("#") for line in text.splitlines())

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def stop(self) -> int:
        """Ask it to stop, and give its exit code."""
        self._process.send_signal(signal.SIGTERM)
        return self.wait()

    def wait(self) -> int:
        """Its exit code, when it has ended."""
        return self._process.wait(timeout=30)

    def kill(self) -> None:
        """End it at once, if it still runs."""
        self._process.kill()
        self._process.wait(timeout=30)

    @property
    def ended(self) -> bool:
        """Whether its process is gone."""
        return self._process.poll() is not None

    def said(self, message: str) -> bool:
        """Whether it has written a line with this message."""
        return self._said(message) is not None

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    @property
    def processor_seconds(self) -> float:
        """The processor time that it has used so far."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _said(self, message: str) -> dict[str, Any] | None:
        return next((line for line in list(self.lines) if line["message"] == message), None)

    def _read(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as stream:
            for line in stream:
                with self._changed:
                    self.lines.append(_parsed(line))
                    self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()


def _parsed(line: str) -> dict[str, Any]:
    try:
        parsed: dict[str, Any] = json.loads(line)
    except ValueError:
        return {"message": line.rstrip()}
    return parsed


@contextmanager
def running_scheduler(
    cluster: Reachable,
    token: str,
    folder: Path,
    *arguments: str,
    program: Sequence[str] = (COMMAND,),
    configuration: str = STEADY,
) -> Iterator[Scheduler]:
    """A scheduler that acts for the bearer of `token`, on free ports; program: what is started for it."""
    config = folder / "scheduler.yaml"
    config.write_text(configuration)
    scheduler = Scheduler(
        [
            f"--kubeconfig={cluster.kubeconfig_of(token, folder)}",
            f"--config={config}",
            "--debug-bind-address=127.0.0.1:0",
            "--metrics-bind-address=127.0.0.1:0",
            "--health-probe-bind-address=127.0.0.1:0",
            *arguments,
        ],
        program,
    )
    try:
        yield scheduler
    finally:
        scheduler.kill()
