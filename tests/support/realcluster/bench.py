"""A fixture for tests that measure: the bench on the real API server, of our scheduler or of another one."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Protocol

import pytest

from kruntimes_core.cluster.clock import SystemClock
from kruntimes_core.cluster.observability.log import Level, Log
from kruntimes_core.lab.bench.live.bench import measure
from kruntimes_core.lab.bench.live.load import BenchLoad, BenchSettings, Waits
from kruntimes_core.lab.bench.live.results import Results
from realcluster.servers import Cluster

__all__ = ["Bench", "bench"]

# No controller ends the deletion of namespaces here.
WAITS = Waits(other_scheduler=0.5, quiet=0.5, namespaces=0.0)


class Bench(Protocol):
    """What the fixture `bench` gives."""

    def __call__(
        self,
        load: BenchLoad,
        *,
        command: str | None = None,
        repeat: int = 1,
        patches: int = 100,
        waits: Waits = WAITS,
    ) -> Results:
        """Measure. command: of another scheduler than ours. patches: that measure the ceiling."""


@pytest.fixture
def bench(cluster: Cluster, tmp_path: Path) -> Bench:
    """Measure schedulers on the real API server."""

    def run(
        load: BenchLoad,
        *,
        command: str | None = None,
        repeat: int = 1,
        patches: int = 100,
        waits: Waits = WAITS,
    ) -> Results:
        settings = BenchSettings(
            load=load,
            command=command,
            repeat=repeat,
            kubeconfig=str(cluster.kubeconfig),
            ceiling_patches=patches,
            waits=waits,
        )
        log = Log(sys.stderr, SystemClock(), Level.WARNING)
        return asyncio.run(measure(settings, tmp_path, _tell, log))

    return run


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")
