"""Whole histories beside a scheduler that does as it likes: no write, and nothing held for ever."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from dryrun.site import PATIENCE_SECONDS, Beside
from memoryapi.site import Site

from kruntimes_core.testing.harness import PODS, RUNS
from tests.unit.cluster.played import dry_run_scene

_ACTIVE = ("Scheduled", "Running", "Ready")
_TERMINAL = ("Succeeded", "Failed", "Cancelled")


class Chaos:
    """Runs and Pods that come and go, a scheduler without rules, and watches that break."""

    def __init__(self, site: Site, other: Beside, random: Random) -> None:
        self._site = site
        self._other = other
        self._random = random
        self._made = 0

    async def step(self) -> None:
        """Something happens, and then some time passes."""
        actions: list[Callable[[], None]] = [
            self._run, self._run, self._run, self._bind, self._bind, self._bind, self._pod, self._end,
            self._end, self._verdict, self._text, self._relabel, self._cancel, self._delete, self._drop_pod,
            self._retry, self._break, self._lag,
        ]  # fmt: skip
        self._random.choice(actions)()
        await self._site.passes(self._random.choice([0, 0, 0, 0.001, 0.05, 0.5, 2]))

    def _named(self, *phases: str) -> str | None:
        names = [
            run["metadata"]["name"] for run in self._site.server.all(RUNS) if run["status"]["phase"] in phases
        ]
        return self._random.choice(names) if names else None

    def _pods(self) -> list[str]:
        return [pod["metadata"]["name"] for pod in self._site.server.all(PODS)]

    def _run(self) -> None:
        self._made += 1
        spec = {"cancelRequested": True} if self._random.random() < 0.1 else {}
        requests = {"runs": "-1"} if self._random.random() < 0.1 else None
        self._site.run(f"r{self._made}", spec=spec, requests=requests)

    def _pod(self) -> None:
        name = f"py-{self._random.randrange(4)}"
        self._made += 1
        self._site.pod(name, uid=f"{name}-{self._made}", runs=self._random.randrange(1, 4))

    def _drop_pod(self) -> None:
        if self._pods() and self._random.random() < 0.3:
            self._site.delete(self._random.choice(self._pods()), kind=PODS)

    def _bind(self) -> None:
        name = self._named("Pending")
        if name and self._pods():
            self._other.binds(name, self._random.choice(self._pods()))

    def _verdict(self) -> None:
        if name := self._named("Pending"):
            self._other.ends(name, self._random.choice(["Failed", "Cancelled"]))

    def _text(self) -> None:
        if name := self._named("Pending"):
            self._other.lets_wait(name, self._random.choice(["waiting for a", "waiting for b"]))

    def _relabel(self) -> None:
        if name := self._named("Pending", *_ACTIVE):
            self._site.change(name, metadata={"labels": {"app": self._random.choice("ab")}})

    def _cancel(self) -> None:
        if name := self._named("Pending"):
            self._site.change(name, spec={"cancelRequested": True})

    def _end(self) -> None:
        if name := self._named(*_ACTIVE):
            self._site.end(name)

    def _retry(self) -> None:
        if name := self._named(*_ACTIVE):
            again = {"phase": "Pending", "assignedPod": None, "assignedPodUID": None, "attempt": 2}
            self._site.change(name, status=again)

    def _delete(self) -> None:
        if name := self._named("Pending", *_ACTIVE, *_TERMINAL):
            self._site.delete(name)

    def _break(self) -> None:
        if self._random.random() < 0.5:
            self._site.api.oldest = int(self._site.server.list(RUNS).version) + 1
        for stream in self._site.api.streams:
            stream.cut = self._random.random() < 0.5

    def _lag(self) -> None:
        self._site.api.lag_seconds = {
            kind: self._random.choice([0.0, 0.0, 0.5, 3.0]) for kind in ("runs", "pods")
        }


def held_room(site: Site) -> dict[str, int]:
    """What the dry run believes that each Pod has in use."""
    pods = site.host.engine.cache.snapshot("team-a", "py", site.clock.now().wall).pods
    return {name: pod.usage.get("runs", 0) for name, pod in pods.items()}


def used_room(site: Site) -> dict[str, int]:
    """What each Pod has in use at the server."""
    used = {pod["metadata"]["uid"]: 0 for pod in site.server.all(PODS)}
    for run in site.server.all(RUNS):
        uid = run["status"].get("assignedPodUID")
        if run["status"]["phase"] in _ACTIVE and uid in used:
            used[uid] += 1
    return {pod["metadata"]["name"]: used[pod["metadata"]["uid"]] for pod in site.server.all(PODS)}


@pytest.mark.parametrize("seed", range(10))
@dry_run_scene()
async def test_nothing_is_written_and_nothing_is_held_for_ever(site: Site, other: Beside, seed: int) -> None:
    site.pod("py-0", runs=2)
    site.start()
    chaos = Chaos(site, other, Random(seed))
    for _ in range(120):
        await chaos.step()
    # Nobody is left who waits: what is in use is what really runs.
    site.api.lag_seconds = {}
    for run in list(site.server.all(RUNS)):
        if run["status"]["phase"] == "Pending":
            site.end(run["metadata"]["name"], phase="Failed")
    await site.passes(PATIENCE_SECONDS + 2)
    assert site.why_not_ready() == []
    assert other.comparer.held == 0
    assert held_room(site) == used_room(site)
    assert site.host.engine.sizes["allocations"] == len(
        [run for run in site.server.all(RUNS) if run["status"]["phase"] in _ACTIVE]
    )
    assert other.report.agreed > 0
    assert other.report.differed > 0
