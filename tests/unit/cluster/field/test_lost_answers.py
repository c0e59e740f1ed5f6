"""C1: a bind that was applied and not answered holds its room, however long nobody knows."""

from __future__ import annotations

import pytest
from memoryapi.calls import status
from memoryapi.faults import applied_first, cut, one_by_one
from memoryapi.site import Site

from kruntimes_core.cluster.client.transport import Response
from tests.unit.cluster.played import scheduler_scene

READ = ("get", "runs")
LATE_SECONDS = 10.0


async def contested(site: Site) -> None:
    """A Pod for one, a watch of Runs that is late, and a host that is ready."""
    site.pod("py-0", runs=1)
    site.api.lag_seconds["runs"] = LATE_SECONDS
    site.start()
    await site.passes(1)


def binds(site: Site, name: str) -> int:
    """How many writes for a Run were accepted that assigned it."""
    return site.server.invariants.binds[f"uid-{name}", 1]


@pytest.mark.parametrize("reads", [(), (status(503), cut())], ids=["a read tells", "two reads fail"])
@pytest.mark.parametrize("fate", [cut(), status(504, "Timeout")], ids=["cut", "504"])
@scheduler_scene()
async def test_unknown_is_not_failed(
    site: Site, fate: Response | Exception, reads: tuple[Response | Exception, ...]
) -> None:
    await contested(site)
    site.api.faults += [applied_first(site, "r1", fate), one_by_one(READ, *reads)]
    site.run("r1", uid="uid-r1")
    site.run("r2", uid="uid-r2")
    for _ in range(60):
        await site.passes(0.5)
        assert site.pod_of("r2") is None
    assert site.pod_of("r1") == "py-0"
    assert binds(site, "r1") == 1
    assert site.api.count(*READ) > len(reads)
    # The doubt has ended: what ends the Run frees its room.
    site.api.lag_seconds.clear()
    site.end("r1")
    await site.passes(2)
    assert site.pod_of("r2") == "py-0"


@pytest.mark.parametrize("code", [400, 404, 409, 422, 499])
@scheduler_scene()
async def test_a_definite_refusal_frees_the_room_at_once(site: Site, code: int) -> None:
    await contested(site)
    refusal = status(code, {404: "NotFound", 409: "Conflict", 422: "Invalid"}.get(code, "BadRequest"))
    site.api.faults.append(one_by_one(("patch", "runs"), refusal, name="r1"))
    site.run("r1", uid="uid-r1")
    site.run("r2", uid="uid-r2")
    await site.passes(LATE_SECONDS + 2)
    assert site.pod_of("r2") == "py-0"
    assert site.pod_of("r1") is None
    await site.passes(60)
    assert binds(site, "r1") == 0
