"""The workload of `--demo`: short scenes, each of which shows one thing that placement does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from random import Random
from typing import Any

from kruntimes_core.lab.dev import manifests
from kruntimes_core.lab.dev.manifests import Object, preferred, required
from kruntimes_core.lab.dev.workload import Arrival

RUNTIMES = ("py", "node", "sql")
_KEPT_SECONDS = 30
"""How long an ended Run stays, so that an endless demo does not fill the memory."""
_PAUSE_SECONDS = (1.0, 2.5)
_RETRIES = {"maxAttempts": 4, "backoff": "1s"}
_IDLE_SECONDS = 12

Scene = Callable[["_Stage"], list[Object]]


class _Stage:
    """Where one scene plays: its number, its Runtime, and what its Runs may ask for."""

    def __init__(
        self, number: int, runtime: str, pods: int, capacity: Mapping[str, int], random: Random
    ) -> None:
        self.number = number
        self.runtime = runtime
        self.pods = pods
        self.capacity = capacity
        self.random = random

    def run(self, name: str, labels: Mapping[str, str] | None = None, share: int = 0, **spec: Any) -> Object:
        """A Run of this scene. share: the part (2: half) of a Pod's processors that it takes, if any."""
        cpu = self.capacity.get("cpu", 0) // share if share else 0
        if cpu:
            spec["resources"] = {"requests": {"cpu": str(cpu)}}
        policy = {"retryPolicy": _RETRIES, "ttlSecondsAfterFinished": _KEPT_SECONDS}
        return manifests.run(f"{name}-{self.number}", self.runtime, labels, **policy, **spec)


def demo(seed: int, runtimes: Sequence[str], pods: int, capacity: Mapping[str, int]) -> Iterator[Arrival]:
    """Scenes without end, at a gentle rate; the same for the same arguments.

    pods: of each Runtime. capacity: of each Pod, in whole units.
    """
    random = Random(f"demo/{seed}")  # noqa: S311 - a demonstration
    for number in count(1):
        # All scenes at each Runtime in turn, whatever the numbers of both.
        scene = _SCENES[(number - 1) % len(_SCENES)]
        runtime = runtimes[(number - 1) % len(runtimes)]
        objects = scene(_Stage(number, runtime, max(pods, 1), capacity, random))
        yield Arrival(random.uniform(*_PAUSE_SECONDS) if number > 1 else 0.0, tuple(objects))


def _batch(stage: _Stage) -> list[Object]:
    """Runs without wishes go to the least loaded Pods."""
    return [stage.run(f"batch-{letter}", share=8) for letter in "abcd"[: stage.random.randint(2, 4)]]


def _replicas(stage: _Stage) -> list[Object]:
    """Replicas of one service keep apart: each on a Pod of its own."""
    app = {"app": f"web-{stage.number}"}
    wish = {"runAntiAffinity": required(app)}
    return [stage.run(f"web-{letter}", app, affinity=wish) for letter in "abc"[: stage.pods]]


def _cohort(stage: _Stage) -> list[Object]:
    """A cohort stays together: the first goes where it likes, the others join it."""
    team = {"team": f"etl-{stage.number}"}
    wish = {"runAffinity": required(team)}
    return [stage.run(f"etl-{letter}", team, affinity=wish) for letter in "abc"]


def _notebook(stage: _Stage) -> list[Object]:
    """Runs of one workspace go to the Pod on which its files lie."""
    name = f"notebook-{stage.runtime}"
    tied = {"workspace": {"name": name}}
    cells = [stage.run(f"cell-{letter}", share=8, **tied) for letter in "ab"]
    return [manifests.workspace(name, stage.runtime), *cells]


def _function(stage: _Stage) -> list[Object]:
    """A function stays ready for a while; who calls it would rather be beside it."""
    app = {"app": f"api-{stage.number}"}
    mode = {"function": {"handler": "api.handle", "idleTimeoutSeconds": _IDLE_SECONDS}}
    source = {"inline": "def handle(event): ...", "inlinePath": "api.py"}
    caller = stage.run("caller", share=8, affinity={"runAffinity": preferred(app)})
    return [stage.run("api", app, mode=mode, source=source), caller]


def _rush(stage: _Stage) -> list[Object]:
    """More than there is room for: the last ones wait until others end."""
    return [stage.run(f"train-{number + 1}", share=2) for number in range(2 * stage.pods + 2)]


_SCENES: tuple[Scene, ...] = (_batch, _replicas, _cohort, _notebook, _rush, _function, _batch)
