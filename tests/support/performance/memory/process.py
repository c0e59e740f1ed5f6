"""The process whose memory is measured: `kruntimes scheduler`, on an API server that knows so much."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from pathlib import Path

from kruntimes_core.lab.apiserver.http.embedded import EmbeddedServer, new_server
from kruntimes_core.lab.apiserver.server import ApiServer
from kruntimes_core.lab.bench.live.scheduler import Running, Usage, running
from performance.memory.known import Known

_STEADY = "heartbeatStalenessSeconds: 3600\n"
_LOOK_SECONDS = 0.5
_IDLE_SECONDS = 0.02
"""Processor time between two looks of a process that does nothing any more."""
_LOOKS = 4


def resident_bytes(known: Known) -> int:
    """Bytes resident of a scheduler that has listed all of it, decided, and come to rest.

    The server is the embedded one, which serves objects that nobody had to send to it one by one.
    """
    return asyncio.run(_resident_bytes(known))


async def _resident_bytes(known: Known) -> int:
    api = new_server(controllers=False)
    _fill(api, known)
    with tempfile.TemporaryDirectory(prefix="kruntimes-performance-") as name:
        folder = Path(name)
        async with EmbeddedServer(api) as server:
            command = _command(server.url, folder)
            async with running(command, None, folder / "scheduler.log") as scheduler:
                return (await _at_rest(scheduler, folder / "scheduler.log")).resident_bytes


def _fill(api: ApiServer, known: Known) -> None:
    tables = {
        kind: api.table(api.resources.named(plural)) for kind, plural in (("Pod", "pods"), ("Run", "runs"))
    }
    for obj in known.objects():
        tables[obj["kind"]].put(obj)


def _command(url: str, folder: Path) -> list[str]:
    kubeconfig, configuration = folder / "kubeconfig", folder / "scheduler.yaml"
    config = {
        "current-context": "here",
        "clusters": [{"name": "here", "cluster": {"server": url}}],
        "users": [{"name": "here", "user": {}}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "here"}}],
    }
    kubeconfig.write_text(json.dumps(config))
    configuration.write_text(_STEADY)
    return [
        *(sys.executable, "-m", "kruntimes_core.cli", "scheduler"),
        *(f"--kubeconfig={kubeconfig}", f"--config={configuration}"),
        *(f"--{what}-bind-address=127.0.0.1:0" for what in ("metrics", "health-probe")),
    ]


async def _at_rest(scheduler: Running, log: Path) -> Usage:
    """What it has used when it decides, and has nothing more to do."""
    before, looks = 0.0, 0
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        used = scheduler.usage()
        if used is None:
            raise OSError(f"the scheduler ended, or this is not Linux: {log.read_text()[-500:]}")
        idle = used.processor_seconds - before < _IDLE_SECONDS and "deciding" in log.read_text()
        before, looks = used.processor_seconds, looks + 1 if idle else 0
        if looks == _LOOKS:
            return used
