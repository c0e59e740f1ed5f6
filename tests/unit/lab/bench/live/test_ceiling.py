"""The bare patches that a ceiling is made of go to many Runs in turn."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any, cast

import pytest

from kruntimes_core.cluster.client.transport import Transport
from kruntimes_core.lab.bench.live.ceiling import Ceiling
from kruntimes_core.lab.bench.live.cluster import LoadedCluster
from kruntimes_core.lab.bench.live.load import BenchLoad, cells


class Server:
    """A site and its API in one, which notes the patches and takes each in a turn of the loop."""

    def __init__(self) -> None:
        self.cells = cells(BenchLoad())
        self.api = self
        self.patched: list[str] = []
        self.under_way = 0
        self.most_under_way = 0

    def namespace(self, _: object) -> str:
        return "bench"

    def lane(self, _: int) -> Server:
        return self

    async def add_run(self, _: object, name: str, role: str) -> None:
        assert name.startswith(role)

    async def patch_status(self, _: str, namespace: str, name: str, body: Any) -> dict[str, str]:
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        await asyncio.sleep(0)
        self.under_way -= 1
        self.patched.append(name)
        return {"resourceVersion": str(len(self.patched))}


def measured(patches: int, in_flight: int) -> tuple[Server, Counter[str]]:
    """The server after one measurement, and how often it patched each Run in it."""
    server = Server()

    async def measure() -> Counter[str]:
        ceiling = Ceiling(cast("LoadedCluster", server), cast("Transport", None), patches, in_flight)
        await ceiling.prepare()
        prepared = len(server.patched)
        server.most_under_way = 0
        assert len(await ceiling.measure(alone=False)) == 3
        return Counter(server.patched[prepared:])

    return server, asyncio.run(measure())


def test_a_run_is_not_patched_again_before_fifteen_others() -> None:
    server, patched = measured(patches=3 * 320, in_flight=2)
    assert server.most_under_way == 2
    assert patched.total() == 960
    assert len(patched) == 32
    assert set(patched.values()) == {30}


@pytest.mark.parametrize(("patches", "runs"), [(1, 4), (9, 9), (10_000, 64)])
def test_there_are_no_more_runs_than_patches(patches: int, runs: int) -> None:
    server, patched = measured(patches, in_flight=4)
    assert len(set(server.patched)) == runs
    assert len(patched) <= runs
