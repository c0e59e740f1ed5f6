"""What a known Run and a known Pod take, in a process that does nothing else."""

from __future__ import annotations

import gc
import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from kruntimes_core.cluster.plugin_thread import AttendedCalls
from kruntimes_core.engine.engine import Settings
from kruntimes_core.framework.configuration import build_profiles, configuration_from
from kruntimes_core.framework.plugin_registry import PluginRegistry
from kruntimes_core.lab.bench.engine.cluster import MeasuredCluster
from kruntimes_core.lab.bench.engine.driver import EngineDriver, EngineSetup
from kruntimes_core.lab.bench.engine.shape import Shape
from kruntimes_core.lab.bench.figures import BYTES, MEGABYTES, Quantity, Sample
from kruntimes_core.model.messages import InputError

_MODULE = "kruntimes_core.lab.bench.engine.memory"
_MEGABYTE = 1_000_000
_STATM = Path("/proc/self/statm")


@dataclass(frozen=True, slots=True)
class Memory:
    """Resident memory before and after the lists; the plugins are those of the configuration file."""

    name: str = "memory"
    each: str = "process"

    def samples(self, shape: Shape, setup: EngineSetup, repeat: int) -> Iterator[Sample]:
        """Measure `repeat` times. Raises: `InputError` where that process fails."""
        for _ in range(repeat):
            found = _measured_by_a_process(shape, setup.config)
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


def _measured_by_a_process(shape: Shape, config: str | None) -> dict[str, int]:
    asked = json.dumps({"shape": asdict(shape), "config": config})
    command = [sys.executable, "-m", _MODULE, asked]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - ourselves
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise InputError(f"the process that measures memory failed: {last}")
    found: dict[str, int] = json.loads(done.stdout)
    return found


# In that process


def _measured(shape: Shape, setup: EngineSetup) -> Iterator[dict[str, int]]:
    """Bytes resident at the start, with the Pods listed, and with the Runs too; and how many there are."""
    driver = EngineDriver(MeasuredCluster(shape, setup.profiles), setup)
    start = _resident()
    driver.list_pods()
    pods = _resident()
    driver.list_runs(follow=False)
    driver.lead()
    driver.settle()
    yield {
        "start": start,
        "pods": pods,
        "runs": _resident(),
        "podsKnown": driver.cluster.pods_in_all,
        "runsKnown": driver.engine.sizes["runs"],
    }


def _resident() -> int:
    gc.collect()
    if _STATM.exists():
        return int(_STATM.read_text().split()[1]) * resource.getpagesize()
    # Where that cannot be read, the peak: nothing is given back before the end anyway.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _main(shape: dict[str, int], config: str | None) -> None:
    """Print what was measured. Raises: `InputError` for a bad configuration, or a plugin that hangs."""
    configuration = configuration_from(config)
    registry = PluginRegistry()
    calls = AttendedCalls(registry.current)
    profiles = calls.call(lambda: build_profiles(configuration, registry))
    setup = EngineSetup(profiles, Settings.of(configuration), under_way=registry.current)
    (measured,) = calls.values(_measured(Shape(**shape), setup))
    print(json.dumps(measured))  # noqa: T201 - its answer


if __name__ == "__main__":
    _main(**json.loads(sys.argv[1]))
