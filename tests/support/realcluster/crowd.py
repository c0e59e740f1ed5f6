"""How long Runs wait for their placement while many others that fit nowhere get their first waiting text.

`python -m realcluster.crowd KUBECONFIG [--hopeless N] [--rate N] [--seconds N]` measures it on a server of
`python -m realcluster serve KUBECONFIG`, and prints the figures.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from statistics import quantiles
from typing import Any

from pydantic_core import from_json

from kruntimes_core.cluster.client.connection import connect
from kruntimes_core.cluster.client.http import HttpTransport
from kruntimes_core.cluster.client.resources import PODS, RUNS, ApiResource
from kruntimes_core.cluster.client.transport import Call
from kruntimes_core.cluster.clock import SystemClock
from realcluster.scheduler import COMMAND, STEADY
from realcluster.workload import run_object

_NAMESPACES = ApiResource(plural="namespaces")
_SLOTS = 1_000
_PODS = 20
_CREATING = 32
_SEED = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """How much there is to do."""

    hopeless: int
    """Runs that ask for more than any Pod has."""
    rate: float = 20.0
    """Runs that fit, a second."""
    seconds: float = 30.0
    """For how long they come without the others. Beside those they come until each has its text."""
    longest: float = 600.0
    """For how long they come at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Latencies:
    """From when a Run was seen until it was seen placed, in milliseconds."""

    runs: int
    p50: float
    p99: float

    @classmethod
    def of(cls, seconds: list[float]) -> Latencies:
        """The quantiles of what was measured."""
        cuts = quantiles(seconds, n=100)
        return cls(runs=len(seconds), p50=cuts[49] * 1_000, p99=cuts[98] * 1_000)

    def __str__(self) -> str:
        return f"p50 {self.p50:.1f} ms, p99 {self.p99:.1f} ms ({self.runs} Runs)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What was measured."""

    alone: Latencies
    beside: Latencies
    texts_seconds: float
    """From the scheduler's start until the last text."""
    written: int
    """How many of the others have their text."""


@dataclass(slots=True)
class _Seen:
    """The Runs of the namespace, as a watch shows them."""

    added: dict[str, float] = field(default_factory=dict)
    placed: dict[str, float] = field(default_factory=dict)
    texts: set[str] = field(default_factory=set)
    last_text: float = 0.0

    def take(self, event: dict[str, Any]) -> None:
        """One event of the watch."""
        now, run = time.monotonic(), event["object"]
        name, status = run["metadata"]["name"], run.get("status", {})
        if name.startswith("hopeless"):
            if status.get("message") and name not in self.texts:
                self.texts.add(name)
                self.last_text = now
            return
        self.added.setdefault(name, now)
        if status.get("assignedPodUID"):
            self.placed.setdefault(name, now)


class _Site:
    """A namespace with Pods, and a watch of its Runs."""

    def __init__(self, transport: HttpTransport, namespace: str) -> None:
        self.seen = _Seen()
        self._transport = transport
        self._namespace = namespace
        self._random = Random(_SEED)

    async def create(self, resource: ApiResource, body: Any) -> Any:
        """Create an object."""
        where = None if resource is _NAMESPACES else self._namespace
        return await self._send("POST", resource.path(where), body, "application/json")

    async def pods(self) -> None:
        """Pods whose one heartbeat lasts."""
        common = {"status": "True", "reason": "Test", "message": "", "lastTransitionTime": _time(0)}
        ready = {"type": "kruntimes.io/RuntimedReady", "lastProbeTime": _time(3_600), **common}
        status = {"status": {"phase": "Running", "conditions": [{"type": "Ready", **common}, ready]}}
        for number in range(_PODS):
            name = f"pod-{number:02}"
            annotations = {"kruntimes.io/capacity.runs": str(_SLOTS)}
            metadata = {"name": name, "labels": {"runtime": "py"}, "annotations": annotations}
            spec = {"containers": [{"name": "runtime", "image": "example.invalid/runtime:1"}]}
            await self.create(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
            path = PODS.path(self._namespace, name, "status")
            await self._send("PATCH", path, status, "application/merge-patch+json")

    async def hopeless(self, count: int) -> None:
        """Runs that fit nowhere."""
        names = iter(range(count))

        async def some() -> None:
            for number in names:
                resources = {"requests": {"runs": _SLOTS + 1}}
                await self.create(RUNS, run_object(f"hopeless-{number:05}", resources=resources))

        await asyncio.gather(*(some() for _ in range(_CREATING)))

    async def load(self, title: str, rate: float, goes_on: Callable[[float], bool]) -> Latencies:
        """Runs at random moments of a rate, as long as `goes_on` (seconds since the first)."""
        began = moment = time.monotonic()
        names: list[str] = []
        async with asyncio.TaskGroup() as group:
            while goes_on(moment - began):
                moment += self._random.expovariate(rate)
                await asyncio.sleep(max(0.0, moment - time.monotonic()))
                names.append(f"{title}-{len(names):05}")
                group.create_task(self.create(RUNS, run_object(names[-1])))
        async with asyncio.timeout(60):
            while not self.seen.placed.keys() >= set(names):
                await asyncio.sleep(0.1)
        return Latencies.of([self.seen.placed[name] - self.seen.added[name] for name in names])

    async def watch(self) -> None:
        """Follow the Runs."""
        path, query = RUNS.path(self._namespace), (("watch", "true"), ("timeoutSeconds", "3600"))
        rest = b""
        call = Call(method="GET", path=path, query=query, timeout_seconds=3_600)
        async for piece in self._transport.stream(call):
            *lines, rest = (rest + piece).split(b"\n")
            for line in filter(None, lines):
                self.seen.take(from_json(line))

    async def _send(self, method: str, path: str, body: Any, content_type: str) -> Any:
        call = Call(
            method=method,
            path=path,
            headers={"content-type": content_type},
            body=json.dumps(body).encode(),
            timeout_seconds=60,
        )
        response = await self._transport.request(call)
        if response.status not in (200, 201):
            raise RuntimeError(f"{method} {path}: {response.status} {response.body!r}")
        return from_json(response.body)


@asynccontextmanager
async def _scheduler(kubeconfig: Path, namespace: str) -> AsyncIterator[None]:
    """A scheduler of the namespace that decides."""
    ports = ["--metrics-bind-address=127.0.0.1:0", "--health-probe-bind-address=127.0.0.1:0"]
    config = kubeconfig.with_name(f"{namespace}.yaml")
    config.write_text(STEADY)
    where = [f"--config={config}", f"--kubeconfig={kubeconfig}", f"--namespaces={namespace}"]
    process = await asyncio.create_subprocess_exec(
        COMMAND, "scheduler", *where, *ports, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    reading = None
    try:
        lines = []
        while line := await process.stderr.readline():
            lines.append(line)
            if b"deciding" in line:
                break
        else:
            raise RuntimeError(b"".join(lines).decode())
        reading = asyncio.create_task(process.stderr.read())
        yield
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()
        config.unlink()
        if reading is not None:
            await reading


async def measure(kubeconfig: Path, crowd: Crowd) -> Figures:
    """Measure it, in a namespace of its own."""
    clock = SystemClock()
    connection = await connect(str(kubeconfig), None, os.environ, clock)
    namespace = f"crowd-{secrets.token_hex(4)}"
    async with HttpTransport(connection, user_agent="crowd", connections=0) as transport:
        site = _Site(transport, namespace)
        await site.create(_NAMESPACES, {"metadata": {"name": namespace}})
        watching = asyncio.create_task(site.watch())
        await site.pods()
        async with _scheduler(kubeconfig, namespace):
            await site.load("warm", crowd.rate, lambda at: at < 1)
            alone = await site.load("alone", crowd.rate, lambda at: at < crowd.seconds)
        await site.hopeless(crowd.hopeless)
        began = time.monotonic()
        async with _scheduler(kubeconfig, namespace):
            beside = await site.load("beside", crowd.rate, lambda at: _goes_on(at, site.seen, crowd))
            texts, last = len(site.seen.texts), site.seen.last_text
        watching.cancel()
    return Figures(alone=alone, beside=beside, texts_seconds=last - began, written=texts)


def _goes_on(at: float, seen: _Seen, crowd: Crowd) -> bool:
    return at < crowd.seconds or (len(seen.texts) < crowd.hopeless and at < crowd.longest)


def _time(ahead: int) -> str:
    return (datetime.now(UTC) + timedelta(seconds=ahead)).strftime("%Y-%m-%dT%H:%M:%SZ")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kubeconfig", type=Path)
    parser.add_argument("--hopeless", type=int, default=3_000)
    parser.add_argument("--rate", type=float, default=20.0)
    parser.add_argument("--seconds", type=float, default=30.0)
    asked = parser.parse_args()
    figures = asyncio.run(
        measure(asked.kubeconfig, Crowd(hopeless=asked.hopeless, rate=asked.rate, seconds=asked.seconds))
    )
    sys.stdout.write(
        f"without others: {figures.alone}\nbeside {asked.hopeless} that get their text: {figures.beside}\n"
        f"{figures.written} texts within {figures.texts_seconds:.0f} s\n"
    )


if __name__ == "__main__":
    main()
