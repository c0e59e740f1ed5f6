"""A list counts whole or not at all."""

from __future__ import annotations

import json

import pytest
from memoryapi.calls import line, status
from memoryapi.faults import one_by_one
from memoryapi.site import Site

from kruntimes_core.cluster.client.transport import MaybeSentError, Response
from tests.unit.cluster.informers.scene import started
from tests.unit.cluster.played import scheduler_scene

NAMESPACE = "team-a"
GONE = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}


def _many(site: Site) -> None:
    for number in range(30):
        site.run(f"a{number:02}", pod="py-0")
    for number in range(5):
        site.run(f"w{number}")


@pytest.mark.parametrize("broken", [status(410, "Expired"), MaybeSentError("reset"), Response(200, b"{}")])
@scheduler_scene()
async def test_half_a_list_is_no_list(site: Site, broken: Response | Exception) -> None:
    site.api.page_size = 10
    await started(site, runs=30)
    _many(site)
    await site.passes(1)
    (stream,) = (one for one in site.api.streams if one.plural == "runs")
    # The first page comes, the second one breaks: twice, and then all is asked for at once.
    site.api.faults.append(one_by_one(("list", "runs"), None, broken, None, broken))
    stream.inject.append(line("ERROR", GONE))
    for _ in range(100):
        await site.passes(0.1)
        assert len(site.host.engine.cache.targets(NAMESPACE)) == 1
        assert not any(site.pod_of(f"w{number}") for number in range(5))
    lists = [dict(call.query) for _, what, call in site.api.calls if what.kind == ("list", "runs")][-5:]
    assert [("limit" in query, "continue" in query) for query in lists] == [
        (True, False),
        (True, True),
        (True, False),
        (True, True),
        (False, False),
    ]
    assert site.host.engine.sizes["runs"] == 35
    assert site.why_not_ready() == []


@scheduler_scene()
async def test_a_page_of_another_version_breaks_the_list(site: Site) -> None:
    site.api.page_size = 10
    site.pod("py-0", runs=30)
    _many(site)
    other = Response(200, json.dumps({"metadata": {"resourceVersion": "999"}, "items": []}).encode())
    site.api.faults.append(one_by_one(("list", "runs"), None, other))
    site.start()
    await site.passes(3)
    assert "of another version" in site.log
    assert site.host.engine.sizes["runs"] == 35


@scheduler_scene()
async def test_short_pages_and_a_server_without_pages_are_fine(site: Site) -> None:
    site.api.page_size = 1
    site.pod("py-0", runs=31)
    _many(site)
    site.start()
    await site.passes(3)
    assert site.host.engine.sizes["runs"] == 35
    assert sum(site.pod_of(f"w{number}") is not None for number in range(5)) == 1
