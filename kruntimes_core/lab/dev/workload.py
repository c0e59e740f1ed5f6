"""What arrives at a development cluster and when: plain Runs, or the demo, whose scenes show placement."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import Any

from kruntimes_core.cluster.client.resources import RUNS
from kruntimes_core.lab.apiserver.errors import ApiError
from kruntimes_core.lab.apiserver.objects import Object
from kruntimes_core.lab.apiserver.server import ApiServer

NAMESPACE = "default"
DEMO_RUNTIMES = ("py", "node", "sql")
# Never pulled: its Pods are simulated. The CRD asks for one.
_CONTAINER = {"name": "runtime", "image": "simulated"}
_API_VERSION = f"{RUNS.group}/{RUNS.version}"
_PLURALS = {"Run": "runs", "PersistentWorkspace": "persistentworkspaces"}
_CAPACITY = "kruntimes.io/capacity."
_TOPOLOGY = "kruntimes.io/runtime-pod"
_CONFLICT = 409

_KEPT_SECONDS = 30
"""How long an ended Run of the demo stays, so that an endless demo does not fill the memory."""
_PAUSE_SECONDS = (1.0, 2.5)
_RETRIES = {"maxAttempts": 4, "backoff": "1s"}
_IDLE_SECONDS = 12


# Objects


def runtime(name: str, replicas: int, capacity: Mapping[str, str]) -> Object:
    """A Runtime whose Pods advertise a capacity: resource to quantity."""
    annotations = {_CAPACITY + resource: amount for resource, amount in capacity.items()}
    template = {"metadata": {"annotations": annotations}, "spec": {"containers": [_CONTAINER]}}
    return _object("Runtime", name, {}, {"replicas": replicas, "template": template})


def workspace(name: str, of_runtime: str) -> Object:
    """A PersistentWorkspace."""
    return _object("PersistentWorkspace", name, {}, {"runtime": of_runtime})


def run(name: str, of_runtime: str, labels: Mapping[str, str] | None = None, **spec: Any) -> Object:
    """A Run: a task, unless `spec` has another `mode`."""
    mode = {"task": {"entrypoint": "main.py"}}
    return _object("Run", name, labels or {}, {"runtime": of_runtime, "mode": mode, **spec})


def _object(kind: str, name: str, labels: Mapping[str, str], spec: Object) -> Object:
    metadata = {"namespace": NAMESPACE, "name": name, **({"labels": dict(labels)} if labels else {})}
    return {"apiVersion": _API_VERSION, "kind": kind, "metadata": metadata, "spec": spec}


def _required(labels: Mapping[str, str]) -> Object:
    """A required affinity to Runs with these labels; the first of them goes anywhere."""
    return {"requiredDuringSchedulingIgnoredDuringExecution": [_term(labels)]}


def _preferred(labels: Mapping[str, str]) -> Object:
    """A preferred affinity to Runs with these labels."""
    term = {"weight": 100, "runAffinityTerm": _term(labels)}
    return {"preferredDuringSchedulingIgnoredDuringExecution": [term]}


def _term(labels: Mapping[str, str]) -> Object:
    return {"labelSelector": {"matchLabels": dict(labels)}, "topologyKey": _TOPOLOGY}


# Arrivals


@dataclass(frozen=True, slots=True)
class Arrival:
    """Objects that are created together, some seconds after the arrival before."""

    after_seconds: float
    objects: tuple[Object, ...]


def plain_runs(runtimes: Sequence[str]) -> Iterator[Arrival]:
    """Runs without constraints, all at once, for each Runtime in turn. Endless."""
    for number in count():
        yield Arrival(0.0, (run(f"run-{number + 1:04}", runtimes[number % len(runtimes)]),))


def first_runs(arrivals: Iterable[Arrival], number: int) -> Iterator[Arrival]:
    """The arrivals up to the Run of this number, which is the last."""
    left = number
    for arrival in arrivals:
        objects = []
        for obj in arrival.objects:
            is_run = obj["kind"] == "Run"
            if is_run and not left:
                continue
            left -= is_run
            objects.append(obj)
        yield Arrival(arrival.after_seconds, tuple(objects))
        if not left:
            return


async def feed(api: ApiServer, arrivals: Iterable[Arrival]) -> None:
    """Create the objects of each arrival. A workspace that already exists is used again."""
    for arrival in arrivals:
        await asyncio.sleep(arrival.after_seconds)
        for obj in arrival.objects:
            try:
                api.create(api.resources.named(_PLURALS[obj["kind"]]), NAMESPACE, obj)
            except ApiError as error:
                if error.code != _CONFLICT:
                    raise


# The demo


def demo(seed: int, runtimes: Sequence[str], pods: int, capacity: Mapping[str, int]) -> Iterator[Arrival]:
    """Scenes without end, at a gentle rate; the same for the same arguments.

    pods: of each Runtime. capacity: of each Pod, in whole units.
    """
    random = Random(f"demo/{seed}")  # noqa: S311 - a demonstration
    for number in count(1):
        # Scenes and Runtimes both take turns, whatever the numbers of both.
        scene = _SCENES[(number - 1) % len(_SCENES)]
        stage = _Stage(number, runtimes[(number - 1) % len(runtimes)], max(pods, 1), capacity, random)
        yield Arrival(random.uniform(*_PAUSE_SECONDS) if number > 1 else 0.0, tuple(scene(stage)))


@dataclass(frozen=True, slots=True)
class _Stage:
    """What one scene is made for: its number, its Runtime, and what its Runs may ask for."""

    number: int
    runtime: str
    pods: int
    capacity: Mapping[str, int]
    random: Random

    def run(self, name: str, labels: Mapping[str, str] | None = None, share: int = 0, **spec: Any) -> Object:
        """A Run of this scene. share: the part (2: half) of a Pod's processors that it requests, if any."""
        cpu = self.capacity.get("cpu", 0) // share if share else 0
        if cpu:
            spec["resources"] = {"requests": {"cpu": str(cpu)}}
        policy = {"retryPolicy": _RETRIES, "ttlSecondsAfterFinished": _KEPT_SECONDS}
        return run(f"{name}-{self.number}", self.runtime, labels, **policy, **spec)


def _batch(stage: _Stage) -> list[Object]:
    """Runs without constraints go to the least loaded Pods."""
    return [stage.run(f"batch-{letter}", share=8) for letter in "abcd"[: stage.random.randint(2, 4)]]


def _replicas(stage: _Stage) -> list[Object]:
    """Replicas of one service keep apart: each runs on a Pod of its own."""
    app = {"app": f"web-{stage.number}"}
    affinity = {"runAntiAffinity": _required(app)}
    return [stage.run(f"web-{letter}", app, affinity=affinity) for letter in "abc"[: stage.pods]]


def _cohort(stage: _Stage) -> list[Object]:
    """A cohort stays together: the first goes anywhere, the others join it."""
    team = {"team": f"etl-{stage.number}"}
    affinity = {"runAffinity": _required(team)}
    return [stage.run(f"etl-{letter}", team, affinity=affinity) for letter in "abc"]


def _notebook(stage: _Stage) -> list[Object]:
    """Runs of one workspace go to the Pod that holds its files."""
    name = f"notebook-{stage.runtime}"
    cells = [stage.run(f"cell-{letter}", share=8, workspace={"name": name}) for letter in "ab"]
    return [workspace(name, stage.runtime), *cells]


def _function(stage: _Stage) -> list[Object]:
    """A function stays ready for a while; its caller prefers the same Pod."""
    app = {"app": f"api-{stage.number}"}
    mode = {"function": {"handler": "api.handle", "idleTimeoutSeconds": _IDLE_SECONDS}}
    source = {"inline": "def handle(event): ...", "inlinePath": "api.py"}
    caller = stage.run("caller", share=8, affinity={"runAffinity": _preferred(app)})
    return [stage.run("api", app, mode=mode, source=source), caller]


def _rush(stage: _Stage) -> list[Object]:
    """More Runs than there is room for: the last ones wait until others end."""
    return [stage.run(f"train-{number + 1}", share=2) for number in range(2 * stage.pods + 2)]


_SCENES: tuple[Callable[[_Stage], list[Object]], ...] = (
    *(_batch, _replicas, _cohort, _notebook, _rush, _function, _batch),
)
