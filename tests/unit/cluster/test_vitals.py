"""A part that has come to a standstill fails liveness; an API server that does not answer does not."""

from __future__ import annotations

import asyncio

import pytest
from memoryapi.calls import status, target
from memoryapi.site import Site

from kruntimes_core.cluster.client.transport import Call, Response
from tests.unit.cluster.played import scheduler_scene


def dead(site: Site) -> list[str]:
    return [check.name for check in site.host.alive() if not check.holds]


@scheduler_scene()
async def test_an_outage_is_no_reason_for_a_restart(site: Site) -> None:
    site.start()
    await site.passes(1)

    async def down(call: Call) -> Response | None:
        return status(503, "ServiceUnavailable")

    site.api.faults.append(down)
    for stream in site.api.streams:
        stream.cut = True
    await site.passes(300)
    assert dead(site) == []
    assert site.host.leadership.why_not_go_on() != ""
    site.api.faults.clear()
    await site.passes(10)
    assert site.host.leadership.why_not_go_on() == ""


@scheduler_scene()
async def test_a_watch_that_neither_works_nor_fails_is_one(site: Site) -> None:
    async def hangs(call: Call) -> Response | None:
        if target(call).verb == "watch" and target(call).plural == "pods":
            # Below the time limit that the transport should have kept.
            await asyncio.get_running_loop().create_future()
        return None

    site.api.faults.append(hangs)
    site.start()
    await site.passes(140)
    assert dead(site) == []
    await site.passes(20)
    assert dead(site) == ["watches"]
    assert "no list or watch ends any more: pods" in site.host.leadership.why_not_go_on()


@scheduler_scene()
async def test_a_request_that_does_not_end_at_its_limit_is_one(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = site.api.request

    async def endless(call: Call) -> Response:
        if call.method == "PATCH":
            await asyncio.get_running_loop().create_future()
        return await served(call)

    monkeypatch.setattr(site.api, "request", endless)
    site.pod("py-0", runs=1)
    site.run("r1")
    site.start()
    await site.passes(30)
    assert dead(site) == []
    await site.passes(5)
    assert dead(site) == ["api-dispatcher"]
    site.host.dispatcher.abandon()
    await site.passes(0.1)
    assert dead(site) == []
