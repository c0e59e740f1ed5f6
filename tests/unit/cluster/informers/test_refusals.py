"""A server that refuses is asked less, and what it misses is named until it is there."""

from __future__ import annotations

import pytest
from memoryapi.calls import line, status, target
from memoryapi.faults import always, one_by_one
from memoryapi.site import Site

from kruntimes_core.cluster.client.transport import Call, Response
from kruntimes_core.testing.harness import RUNS
from tests.unit.cluster.informers.scene import started
from tests.unit.cluster.played import scheduler_scene

GONE = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}


@scheduler_scene()
async def test_an_overloaded_server_is_asked_less_and_less_and_recovers(site: Site) -> None:
    await started(site)
    site.api.faults.append(always(("watch", "runs"), status(500, "InternalError", "boom")))
    for stream in site.api.streams:
        stream.cut = True
    before = site.api.count("watch", "runs")
    site.run("r1")
    await site.passes(60)
    assert 10 < site.api.count("watch", "runs") - before < 45
    assert any("cannot watch runs.kruntimes.io" in why and "boom" in why for why in site.why_not_ready())
    assert not site.host.deciding
    site.api.faults.clear()
    await site.passes(5)
    assert site.pod_of("r1") == "py-0"
    assert site.why_not_ready() == []


@pytest.mark.parametrize(
    ("asked", "waited"), [("2", 2), ("3600", 30), ("nonsense", 0), ("Fri, 02 Jan 2026 03:04:25 GMT", 15)]
)
@scheduler_scene()
async def test_retry_after_is_honoured_within_a_cap(site: Site, asked: str, waited: int) -> None:
    site.api.faults.append(
        one_by_one(("list", "pods"), status(429, "TooManyRequests", "", retry_after=asked))
    )
    site.start()
    await site.passes(60)
    first, second = (when for when, what, _ in site.api.calls if what.kind == ("list", "pods"))
    assert waited - 6 <= second - first <= waited + 6
    assert second - first >= min(waited, 2)


@pytest.mark.parametrize("verb", ["list", "watch"])
@pytest.mark.parametrize("plural", ["pods", "runs", "persistentworkspaces"])
@scheduler_scene()
async def test_a_missing_right_is_named_and_recovers_when_it_is_granted(
    site: Site, verb: str, plural: str
) -> None:
    site.pod("py-0")
    site.run("r1")
    site.api.faults.append(always((verb, plural), status(403, "Forbidden", "user cannot")))
    site.start()
    await site.passes(10)
    (why,) = (why for why in site.why_not_ready() if "forbidden" in why)
    assert why.startswith(f"cannot {verb} {plural}")
    assert site.log.count("forbidden") == 1
    assert site.pod_of("r1") is None
    assert site.status("r1").get("message") is None
    site.api.faults.clear()
    await site.passes(5)
    assert site.pod_of("r1") == "py-0"


@scheduler_scene()
async def test_credentials_that_are_refused_keep_the_host_from_deciding(site: Site) -> None:
    site.api.faults.append(always(("list", "runs"), status(401, "Unauthorized")))
    site.start()
    await site.passes(5)
    assert any("the credentials are not accepted" in why for why in site.why_not_ready())


@scheduler_scene()
async def test_workspaces_that_are_not_served_are_none_until_they_are(site: Site) -> None:
    site.api.missing.add("persistentworkspaces")
    await started(site, runs=2)
    site.run("r1")
    site.run("tied", workspace="ws")
    await site.passes(3)
    assert site.pod_of("r1") == "py-0"
    assert site.pod_of("tied") is None
    assert site.api.count("list", "persistentworkspaces") == 1
    site.api.missing.clear()
    site.workspace("ws", bound_pod="py-0")
    await site.passes(62)
    assert site.pod_of("tied") == "py-0"


@scheduler_scene()
async def test_runs_that_are_not_served_are_no_empty_cluster(site: Site) -> None:
    site.api.missing.add("runs")
    site.start()
    await site.passes(5)
    assert any("install the CRDs" in why for why in site.why_not_ready())
    assert not site.host.deciding


@scheduler_scene(namespaces=["team-a", "team-b"])
async def test_namespaces_are_followed_one_by_one(site: Site) -> None:
    for namespace in ("team-a", "team-b", "team-c"):
        site.pod("py-0", namespace=namespace)
        site.run("r1", namespace=namespace, uid=f"uid-in-{namespace}")
    denied = always(("list", "pods"), status(403, "Forbidden"))

    async def in_team_b(call: Call) -> Response | None:
        return await denied(call) if target(call).namespace == "team-b" else None

    site.api.faults.append(in_team_b)
    site.start()
    await site.passes(3)
    assert not site.host.deciding
    site.api.faults.clear()
    await site.passes(6)
    placed = [site.pod_of("r1", namespace) for namespace in ("team-a", "team-b", "team-c")]
    assert placed == ["py-0", "py-0", None]
    assert all(what.namespace for _, what, _ in site.api.calls)


@scheduler_scene(namespaces=["team-a", "team-b"])
async def test_a_list_of_one_namespace_leaves_the_others_alone(site: Site) -> None:
    for namespace in ("team-a", "team-b"):
        site.pod("py-0", namespace=namespace)
        site.run("x", namespace=namespace, pod="py-0")
    site.start()
    await site.passes(1)
    stream = next(one for one in site.api.streams if one.plural == "runs")
    stream.inject.append(line("ERROR", GONE))
    await site.passes(2)
    assert site.host.engine.sizes["runs"] == 2
    assert site.server.list(RUNS).objects
