"""What happened while nobody watched is noticed, and the past is not believed."""

from __future__ import annotations

import json

import pytest
from memoryapi.calls import line, status
from memoryapi.faults import always, one_by_one
from memoryapi.site import Site

from kruntimes_core.cluster.client.transport import Response
from kruntimes_core.testing.harness import PODS
from tests.unit.cluster.informers.scene import started
from tests.unit.cluster.played import scheduler_scene

NAMESPACE = "team-a"
GONE = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}


@scheduler_scene()
async def test_what_vanished_while_the_watch_was_down_is_noticed(site: Site) -> None:
    await started(site)
    site.run("x", pod="py-0")
    site.run("r1")
    await site.passes(1)
    assert site.pod_of("r1") is None
    site.api.oldest = 10**9
    for stream in site.api.streams:
        stream.cut = True
    site.delete("x")
    await site.passes(1)
    site.api.oldest = 0
    await site.passes(5)
    assert site.pod_of("r1") == "py-0"
    assert site.host.engine.find(NAMESPACE, "x") is None


@scheduler_scene()
async def test_a_pod_that_vanished_unseen_is_never_chosen(site: Site) -> None:
    await started(site)
    site.pod("py-1", runs=5)
    await site.passes(1)
    site.api.faults.append(always(("watch", "pods"), status(503)))
    for stream in site.api.streams:
        stream.cut = True
    site.delete("py-1", kind=PODS)
    site.run("r1")
    site.api.oldest = 10**9
    await site.passes(2)
    site.api.faults.clear()
    site.api.oldest = 0
    await site.passes(8)
    assert site.pod_of("r1") == "py-0"


@scheduler_scene()
async def test_a_list_from_the_past_is_not_believed(site: Site) -> None:
    await started(site)
    site.run("r1")
    await site.passes(1)
    old = Response(200, json.dumps({"metadata": {"resourceVersion": "2"}, "items": []}).encode())
    site.api.faults.append(one_by_one(("list", "runs"), *[old] * 3))
    (stream,) = (one for one in site.api.streams if one.plural == "runs")
    stream.inject.append(line("ERROR", GONE))
    await site.passes(1)
    assert "answered from the past" in " ".join(site.why_not_ready())
    assert site.host.engine.find(NAMESPACE, "r1") is not None
    site.run("r2")
    await site.passes(15)
    assert site.why_not_ready() == []
    assert site.pod_of("r2") is None


@scheduler_scene()
async def test_a_server_that_was_restored_to_an_older_state_is_found_and_calls_for_a_restart(
    site: Site,
) -> None:
    await started(site)
    (stream,) = (one for one in site.api.streams if one.plural == "runs")
    stream.inject.append(line("BOOKMARK", {"metadata": {"resourceVersion": "5000"}}))
    await site.passes(1)
    stream.cut = True
    await site.passes(45)
    assert "answered from the past" in " ".join(site.why_not_ready())
    assert site.host.leadership.why_not_go_on() == ""
    site.run("r1")
    await site.passes(65)
    assert site.log.count("answered from the past") == 1
    assert [check.name for check in site.host.alive() if not check.holds] == ["versions"]
    assert "more was seen than the API server has: runs" in site.host.leadership.why_not_go_on()
    assert site.pod_of("r1") is None


@pytest.mark.parametrize(("seconds", "dead"), [(3, []), (30, ["versions"])])
@scheduler_scene()
async def test_a_history_that_was_rewritten_stays_so_when_its_versions_have_caught_up(
    site: Site, seconds: float, dead: list[str]
) -> None:
    await started(site)
    site.run("r1")
    await site.passes(1)
    old = Response(200, json.dumps({"metadata": {"resourceVersion": "2"}, "items": []}).encode())
    site.api.faults.append(always(("list", "runs"), old))
    (stream,) = (one for one in site.api.streams if one.plural == "runs")
    stream.inject.append(line("ERROR", GONE))
    await site.passes(seconds)
    assert "answered from the past" in " ".join(site.why_not_ready())
    site.api.faults.clear()
    await site.passes(70)
    assert site.why_not_ready() == []
    assert [check.name for check in site.host.alive() if not check.holds] == dead


@scheduler_scene()
async def test_a_watch_that_tells_of_nothing_but_a_bookmark_is_no_reason_to_list(site: Site) -> None:
    await started(site)
    await site.passes(130)
    assert site.api.count("watch", "runs") == 4
    assert site.api.count("list", "runs") == 1


@scheduler_scene()
async def test_a_version_that_expired_in_an_outage_is_no_reason_to_wait_on(site: Site) -> None:
    await started(site)
    for plural in ("runs", "pods", "persistentworkspaces"):
        site.api.faults.append(always(("watch", plural), status(503)))
    for stream in site.api.streams:
        stream.cut = True
    site.api.oldest = 10**9
    await site.passes(60)
    site.api.faults.clear()
    await site.passes(10)
    calls = [(at, what.verb) for at, what, _ in site.api.calls if what.plural == "runs"]
    listed = next(at for at, verb in calls if verb == "list" and at > 60)
    expired = max(at for at, verb in calls if verb == "watch" and at < listed)
    assert listed - expired < 0.3


@scheduler_scene()
async def test_no_list_is_asked_for_in_a_version_of_the_clients_choice(site: Site) -> None:
    await started(site)
    lists = [call for _, what, call in site.api.calls if what.verb == "list"]
    assert len(lists) == 3
    assert not any("resourceVersion" in dict(call.query) for call in lists)
