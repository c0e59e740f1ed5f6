"""How fast Runs are bound on a real API server, as a share of what that server takes in the same minute."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence

from kruntimes_core.cluster.clock import SystemClock
from kruntimes_core.cluster.connection.opening import connect
from kruntimes_core.cluster.resources import RUNS
from kruntimes_core.cluster.transport.http import HttpTransport
from kruntimes_core.cluster.transport.protocol import Call
from realcluster.hosts import Start
from realcluster.servers import Cluster
from realcluster.workload import Workload, in_phase

COUNT, PODS = 400, 20
IN_FLIGHT = 32
LEAST_SHARE = 0.3
MOST_PROCESSOR_SECONDS = 0.01
"""Bounds that a machine which does ten things at once keeps too; what was measured is printed."""


def test_placements_a_second_and_their_cost(cluster: Cluster, work: Workload, start: Start) -> None:
    names = [f"r{number:03}" for number in range(COUNT)]
    scheduler = start()
    for name in names:
        work.run(name)
    work.wait(lambda now: all("message" in status for status in now.values()))
    before = scheduler.processor_seconds
    for number in range(PODS):
        work.pod(f"py-{number:02}", runs=COUNT // PODS)
    work.wait(lambda now: len(in_phase(now, "Scheduled")) == COUNT)
    processor_seconds = (scheduler.processor_seconds - before) / COUNT
    binds = _rate(_bound_at(work))
    assert scheduler.stop() == 0
    ceiling = _rate(asyncio.run(_bare_patches(cluster, work.namespace, names)))
    # `pytest -rP` shows it.
    print(  # noqa: T201
        f"{binds:.0f} binds a second, {binds / ceiling:.0%} of {ceiling:.0f} bare patches a second;"
        f" {processor_seconds * 1_000:.2f} ms of processor a placement"
    )
    assert binds / ceiling >= LEAST_SHARE
    assert processor_seconds <= MOST_PROCESSOR_SECONDS


def _bound_at(work: Workload) -> list[float]:
    """When each Run was seen bound, in order."""
    bound = {
        event.object["metadata"]["name"]: event.heard_at
        for event in reversed(work.ledger.events)
        if event.resource == "runs" and event.object.get("status", {}).get("phase") == "Scheduled"
    }
    return sorted(bound.values())


def _rate(moments: Sequence[float]) -> float:
    return (len(moments) - 1) / (moments[-1] - moments[0])


async def _bare_patches(cluster: Cluster, namespace: str, names: Sequence[str]) -> list[float]:
    """Patch every Run as a bind would, without deciding anything; when each patch was answered."""
    connection = await connect(str(cluster.kubeconfig), None, {}, SystemClock())
    places = asyncio.Semaphore(IN_FLIGHT)
    answered = [time.monotonic()]

    async def patch(transport: HttpTransport, name: str) -> None:
        call = Call(
            method="PATCH",
            path=RUNS.path(namespace, name, "status"),
            headers={"content-type": "application/merge-patch+json"},
            body=json.dumps({"status": {"phase": "Running", "message": "a bare patch"}}).encode(),
            timeout_seconds=30,
        )
        async with places:
            response = await transport.request(call)
        assert response.status == 200, response
        answered.append(time.monotonic())

    async with HttpTransport(connection, user_agent="test", connections=IN_FLIGHT) as transport:
        await asyncio.gather(*(patch(transport, name) for name in names))
    return answered
