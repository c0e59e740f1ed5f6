"""What the bench makes of what its watches say: ends, gaps, and the order in which versions are judged."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Mapping
from random import Random
from typing import Any, cast

from kruntimes_core.cluster.client.transport import Transport
from kruntimes_core.cluster.clock import SystemClock
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.lab.bench.live.watch import BenchWatch


class Scene:
    """A bench's watch that is told by hand what happens."""

    def __init__(self) -> None:
        clock = SystemClock()
        self.watch = BenchWatch(cast("Transport", None), clock, Random(0), Log(io.StringIO(), clock), "b")
        self.runs, self.pods = (reflector.handler for reflector in self.watch._reflectors)

    def broken(self, *own: str) -> list[str]:
        """The rules that were broken by others than the bench."""
        return [violation.invariant.value for violation in self.watch.violations(own)]


def pod(version: int) -> dict[str, Any]:
    conditions = [{"type": one, "status": "True"} for one in ("Ready", "kruntimes.io/RuntimedReady")]
    return obj("p", version, phase="Running", conditions=conditions)


def run(version: int, phase: str = "Pending", name: str = "r") -> dict[str, Any]:
    placed = {} if phase == "Pending" else {"assignedPod": "p", "assignedPodUID": "uid-p"}
    return obj(name, version, phase=phase, **placed)


def obj(name: str, version: int, **status: Any) -> dict[str, Any]:
    metadata = {"namespace": "ns", "name": name, "uid": f"uid-{name}", "resourceVersion": str(version)}
    return {"metadata": metadata, "status": status}


def test_versions_are_judged_in_the_order_of_the_store_and_not_of_the_watches() -> None:
    scene = Scene()
    scene.runs.on_update(run(9))
    scene.runs.on_update(run(11, "Scheduled"))
    scene.pods.on_update(pod(10))
    assert scene.broken() == []


def test_what_the_bench_writes_and_deletes_is_its_own() -> None:
    scene = Scene()
    scene.runs.on_update(run(1))
    scene.runs.on_update(run(2, "Failed"))
    assert scene.broken() == ["runLost"]
    assert scene.broken("2") == []
    with scene.watch.clearing():
        scene.runs.on_delete(run(3, "Failed"))
    assert scene.broken("2") == []
    assert scene.watch.runs == {}
    scene.runs.on_update(run(4, name="other"))
    scene.runs.on_delete(run(5, name="other"))
    assert scene.broken("2") == ["runLost"]


def test_a_list_after_the_first_is_a_gap_and_shows_what_is_gone() -> None:
    scene = Scene()
    for handler in (scene.runs, scene.pods):
        handler.on_replace((), "1")
    scene.runs.on_update(run(2))
    assert scene.watch.gaps == 0
    scene.runs.on_replace((), "3")
    assert (scene.watch.gaps, scene.watch.runs, scene.watch.history[-1].gone) == (1, {}, True)


def test_listeners_hear_each_version_and_the_end_once() -> None:
    scene, heard = Scene(), list[tuple[str, bool]]()
    scene.watch.listeners.append(lambda seen, at: heard.append((seen.version, seen.gone)))
    listed: Mapping[str, Any] = run(2)
    scene.runs.on_replace((scene.runs.decode(listed),), "2")
    scene.runs.on_replace((scene.runs.decode(listed),), "2")
    scene.runs.on_delete(run(3))
    scene.runs.on_delete(run(4))
    assert heard == [("2", False), ("3", True)]


def test_a_wait_ends_with_what_it_waits_for_or_its_time() -> None:
    async def main() -> tuple[bool, bool]:
        scene = Scene()
        asyncio.get_running_loop().call_soon(lambda: scene.runs.on_update(run(1)))
        return await scene.watch.until(lambda: bool(scene.watch.runs), 5), await scene.watch.until(
            lambda: False, 0.01
        )

    assert asyncio.run(main()) == (True, False)
