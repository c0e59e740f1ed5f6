"""What Runs with large selectors leave in the memory of an engine, and what many live ones take.

`python tests/support/large_selectors.py` prints the figures of the page on installation sizes: resident
memory after each of ten rounds of creating and deleting, and with 5,000 Runs of 96 terms each.
"""

from __future__ import annotations

import gc
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from kruntimes_core.engine.api_calls import Applied, Write, WriteKind
from kruntimes_core.engine.clock import SECOND, Now
from kruntimes_core.engine.engine import Engine, Settings
from kruntimes_core.engine.events import PodsListed, RunGone, RunObserved, RunsListed, WorkspacesListed
from kruntimes_core.engine.plugin_work import Runners
from kruntimes_core.framework.configuration import build_profiles, configuration_from
from kruntimes_core.framework.plugin_registry import PluginRegistry
from kruntimes_core.model.decode import Decoder
from kruntimes_core.testing.objects import Object, pod_object, run_object

NAMESPACE = "tests"
_PLENTY = "1000000000"
_START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
_TOPOLOGY = "kruntimes.io/runtime-pod"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_MEGABYTE = 1_000_000

Affinity = Callable[[], Object]
"""Makes `spec.affinity` anew each time."""


class Scheduler:
    """An engine with the default profile, driven as the scheduler drives it; every write is applied."""

    def __init__(self, pods: int = 20, slots: int = 1_000) -> None:
        configuration = configuration_from(None)
        self._now = Now(_START, 0)
        self._version = 1_000
        self._decoder = Decoder()
        self._runners = Runners()
        self._affinities: dict[str, Affinity] = {}
        self._labels: dict[str, dict[str, str]] = {}
        self._changes: dict[str, Callable[[Object], None]] = {}
        self.engine = Engine(
            build_profiles(configuration, PluginRegistry()), Settings.of(configuration), self._now
        )
        self._list_pods(pods, slots)
        self.engine.handle(RunsListed(observations=(), version="1"), self._now)
        self.engine.handle(WorkspacesListed(observations=()), self._now)
        self.engine.lead(self._now)
        self.placed: dict[str, str] = {}
        """The Pods that Runs were bound to, by the name of the Run."""

    def _list_pods(self, pods: int, slots: int) -> None:
        fresh = self._now.wall + timedelta(days=1)
        capacity = {"runs": str(slots), "cpu": _PLENTY}
        objects = [
            pod_object(f"py-{number}", namespace=NAMESPACE, capacity=capacity, probed_at=fresh)
            for number in range(pods)
        ]
        observed = [self._decoder.pod(obj) for obj in objects]
        listed = tuple(observation for observation in observed if observation is not None)
        self.engine.handle(PodsListed(observations=listed, version="1"), self._now)

    def create(
        self,
        name: str,
        affinity: Affinity,
        labels: dict[str, str] | None = None,
        change: Callable[[Object], None] = lambda _: None,
    ) -> None:
        """A Run is created, and observed. change: what its object has beside; made anew for each version."""
        self._affinities[name] = affinity
        self._labels[name] = labels or {"cohort": name}
        self._changes[name] = change
        self._observe(name, {"phase": "Pending"})

    def _observe(self, name: str, status: dict[str, Any]) -> None:
        """Each version is decoded from an object of its own, which is not kept, as of a watch."""
        obj = run_object(
            name,
            namespace=NAMESPACE,
            version=self._next(),
            labels=self._labels[name],
            requests={"runs": 1, "cpu": 1},
            affinity=self._affinities[name](),
            status=status,
        )
        self._changes[name](obj)
        self.engine.handle(RunObserved(self._decoder.run(obj)), self._now)

    def delete(self, name: str) -> None:
        """A Run is deleted."""
        gone = RunGone(namespace=NAMESPACE, name=name, uid=f"uid-{name}", version=self._next())
        del self._affinities[name], self._labels[name], self._changes[name]
        self.placed.pop(name, None)
        self.engine.handle(gone, self._now)

    def settle(self) -> None:
        """Decide and write until nothing is left to do."""
        while True:
            while (work := self.engine.take(self._now)) is not None:
                self.engine.finish(work, work.execute(self._runners), self._now)
            request = self.engine.next_request(self._now)
            if request is None:
                return
            if isinstance(request, Write):
                self._apply(request)

    def _apply(self, write: Write) -> None:
        self.engine.written(write, Applied(self._next()), self._now)
        status = write.body["status"]
        if write.kind is WriteKind.BIND:
            self.placed[write.name] = status["assignedPod"]
        self._observe(write.name, status)

    def pass_time(self, seconds: int = 2) -> None:
        """Let time pass: waiting texts, backoffs and the sweep are due."""
        self._now = Now(self._now.wall + timedelta(seconds=seconds), self._now.ticks + seconds * SECOND)
        self.engine.tick(self._now)
        self.settle()

    def _next(self) -> str:
        self._version += 1
        return str(self._version)


# Affinities


def one_large(number: int, values: int, seed: int = 0) -> Object:
    """One term of many values: required (it waits), anti-affinity, preferred, or required by `NotIn`."""
    named = [f"value-{seed}-{number}-{each}" for each in range(values)]
    match number % 4:
        case 0:
            return {"runAffinity": {_REQUIRED: [_term("cohort", "In", named)]}}
        case 1:
            return {"runAntiAffinity": {_REQUIRED: [_term("cohort", "In", named)]}}
        case 2:
            preferred = {"weight": 50, "runAffinityTerm": _term("cohort", "In", named)}
            return {"runAffinity": {_PREFERRED: [preferred]}}
        case _:
            return {"runAffinity": {_REQUIRED: [_term("cohort", "NotIn", named)]}}


def many_terms(name: str, met: bool = False) -> Object:
    """32 required, 32 anti-affinity and 32 preferred terms, as the API allows, each with its own selector.

    met: the Run itself meets what it requires, so each of its terms is looked at. Else it waits for the
    first one.
    """
    operator = "NotIn" if met else "In"
    near = [_term("cohort", operator, [f"near-{name}-{term}"]) for term in range(32)]
    apart = [_term("cohort", "In", [f"apart-{name}-{term}"]) for term in range(32)]
    rather = [
        {"weight": 1 + term, "runAffinityTerm": _term("cohort", "In", [f"rather-{name}-{term}"])}
        for term in range(32)
    ]
    return {
        "runAffinity": {_REQUIRED: near, _PREFERRED: rather},
        "runAntiAffinity": {_REQUIRED: apart},
    }


def _term(key: str, operator: str, values: list[str]) -> Object:
    expression = {"key": key, "operator": operator, "values": values}
    return {"labelSelector": {"matchExpressions": [expression]}, "topologyKey": _TOPOLOGY}


# What is measured


def rounds(scheduler: Scheduler, number: int, runs: int, values: int) -> Iterator[None]:
    """Create Runs with large selectors, let them be placed or wait, and delete them, `number` times."""
    for turn in range(number):
        names = [f"large-{turn}-{run}" for run in range(runs)]
        for run, name in enumerate(names):
            scheduler.create(name, partial(one_large, run, values, turn))
        scheduler.settle()
        scheduler.pass_time()
        for name in names:
            scheduler.delete(name)
        scheduler.settle()
        yield


def fill(scheduler: Scheduler, runs: int, met: bool, prefix: str = "terms") -> None:
    """Create Runs with 96 terms each. Those that meet their own terms wait for a slot."""
    for run in range(runs):
        name = f"{prefix}-{run}"
        scheduler.create(name, partial(many_terms, name, met))
    scheduler.settle()
    scheduler.pass_time()


def resident() -> float:
    """Megabytes of this process."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / _MEGABYTE


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - its answer


def _print_rounds() -> None:
    scheduler = Scheduler()
    _say(f"before: {resident():.0f} MB")
    for turn, _ in enumerate(rounds(scheduler, 10, 100, 30_000), 1):
        _say(f"after round {turn}: {resident():.0f} MB")


def _print_terms(met: bool) -> None:
    scheduler = Scheduler(slots=1)
    before = resident()
    fill(scheduler, 5_000, met)
    kind = "which the Run itself meets" if met else "which no Run meets"
    _say(f"5,000 Runs with 96 terms each, {kind}: {before:.0f} MB before, {resident():.0f} MB with them")


_PARTS: dict[str, Callable[[], None]] = {
    "rounds": _print_rounds,
    "unmet": partial(_print_terms, met=False),
    "met": partial(_print_terms, met=True),
}

if __name__ == "__main__":
    if sys.argv[1:]:
        _PARTS[sys.argv[1]]()
    else:
        for part in _PARTS:  # a process for each: what one leaves does not count for the next
            subprocess.run([sys.executable, __file__, part], check=True)
