"""What a known Run and a known Pod take, in a process that does nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from kruntimes_core.lab.bench.engine import resident
from kruntimes_core.lab.bench.engine.figures import BYTES, MEGABYTES, Quantity, Sample
from kruntimes_core.lab.bench.engine.shape import Shape
from kruntimes_core.lab.bench.engine.site import Means
from kruntimes_core.model.messages import InputError

_MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Memory:
    """Resident memory before and after the lists; the plugins are those of the configuration file."""

    name: str = "memory"
    each: str = "process"

    def samples(self, shape: Shape, means: Means, repeat: int) -> Iterator[Sample]:
        """See `Workload`. Raises: `InputError` where that process fails."""
        for _ in range(repeat):
            found = _measured(shape, means.config)
            pods, runs = found["pods"] - found["start"], found["runs"] - found["pods"]
            yield {
                Quantity("a Pod", BYTES): _each(pods, found["podsKnown"]),
                Quantity("a Run", BYTES): _each(runs, found["runsKnown"]),
                Quantity("before the lists", MEGABYTES): found["start"] / _MEGABYTE,
                Quantity("in all", MEGABYTES): found["runs"] / _MEGABYTE,
            }


def _each(taken: int, number: int) -> float:
    """What each took; the little that a few take is lost in what the process gave back meanwhile."""
    return max(taken / number, 0.0) if number else 0.0


def _measured(shape: Shape, config: str | None) -> dict[str, int]:
    asked = json.dumps({"shape": shape.document(), "config": config})
    command = [sys.executable, "-m", resident.__name__, asked]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - ourselves
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise InputError(f"the process that measures memory failed: {last}")
    found: dict[str, int] = json.loads(done.stdout)
    return found
