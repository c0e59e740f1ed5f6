"""Watches that go silent, expire, talk nonsense or end: they resume, and cause no storm."""

from __future__ import annotations

import re

import pytest
from memoryapi.calls import Fault, line, target
from memoryapi.site import Site

from kruntimes_core.cluster.client.transport import Call, Response
from tests.unit.cluster.informers.scene import started
from tests.unit.cluster.played import scheduler_scene

NAMESPACE = "team-a"


@pytest.mark.parametrize("plural", ["runs", "pods"])
@scheduler_scene()
async def test_a_half_open_watch_is_found_within_a_minute(site: Site, plural: str) -> None:
    await started(site, runs=2)
    silent = next(stream for stream in site.api.streams if stream.plural == plural)
    silent.silent = True
    if plural == "pods":
        site.pod("js-0", runtime="js")
    site.run("r1", runtime="js" if plural == "pods" else "py")
    await site.passes(20)
    assert site.pod_of("r1") is None
    await site.passes(40)
    assert site.pod_of("r1") is not None


@scheduler_scene()
async def test_the_age_of_the_last_watch_event_is_visible(site: Site) -> None:
    await started(site)
    for stream in site.api.streams:
        stream.silent = True
    await site.passes(30)
    shown = site.host.metrics.exposition().decode()
    ages = re.findall(r'watch_event_age_seconds{resource="(\w+)"} ([0-9.]+)', shown)
    assert {resource for resource, _ in ages} == {"runs", "pods", "persistentworkspaces"}
    assert all(float(age) > 25 for _, age in ages)


GONE = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}


@pytest.mark.parametrize("form", ["event", "answer"])
@scheduler_scene()
async def test_an_expired_version_leads_to_a_new_list_and_to_no_storm(site: Site, form: str) -> None:
    await started(site)
    lists = site.api.count("list", "runs")
    if form == "event":
        (stream,) = (one for one in site.api.streams if one.plural == "runs")
        stream.inject.append(line("ERROR", GONE))
    else:
        site.api.oldest = 10**9
        for one in site.api.streams:
            one.cut = True
    await site.passes(30)
    again = site.api.count("list", "runs") - lists
    assert again == 1 if form == "event" else 1 < again < 20
    site.api.oldest = 0
    site.run("r1")
    await site.passes(5)
    assert site.pod_of("r1") == "py-0"


@scheduler_scene()
async def test_an_error_event_is_no_object_and_the_watch_resumes(site: Site) -> None:
    await started(site)
    lists, watches = site.api.count("list", "runs"), site.api.count("watch", "runs")
    (stream,) = (one for one in site.api.streams if one.plural == "runs")
    stream.inject.append(line("ERROR", {"kind": "Status", "code": 500, "message": "etcd hiccup"}))
    site.run("r1")
    await site.passes(2)
    assert site.pod_of("r1") == "py-0"
    assert site.api.count("list", "runs") == lists
    assert site.api.count("watch", "runs") == watches + 1
    assert "etcd hiccup" in site.log


@scheduler_scene()
async def test_a_bookmark_moves_the_version_and_is_no_run(site: Site) -> None:
    await started(site)
    (stream,) = (one for one in site.api.streams if one.plural == "runs")
    stream.inject.append(line("BOOKMARK", {"kind": "Run", "metadata": {"resourceVersion": "5000"}}))
    await site.passes(1)
    stream.cut = True
    await site.passes(1)
    call = [call for _, what, call in site.api.calls if what.kind == ("watch", "runs")][-1]
    assert dict(call.query)["resourceVersion"] == "5000"
    assert site.host.engine.sizes["runs"] == 0


@scheduler_scene()
async def test_unknown_event_types_are_ignored_and_logged_once(site: Site) -> None:
    await started(site)
    (stream,) = (one for one in site.api.streams if one.plural == "runs")
    strange = {"metadata": {"name": "x", "namespace": NAMESPACE, "uid": "u", "resourceVersion": "9000"}}
    stream.inject += [line("SHUFFLED", strange), line("DREAMT", strange), b"\n", b"\r\n"]
    site.run("r1")
    await site.passes(1)
    assert site.pod_of("r1") == "py-0"
    assert site.log.count("unknown type") == 1


@pytest.mark.parametrize(
    "nonsense", [b"no json\n", b'{"type": "ADDED"}\n', b"[]\n", b'{"type": 1, "object": {}}\n', b"\xff\n"]
)
@scheduler_scene()
async def test_nonsense_in_a_stream_is_a_broken_connection(site: Site, nonsense: bytes) -> None:
    await started(site)
    (stream,) = (one for one in site.api.streams if one.plural == "runs")
    stream.inject.append(nonsense)
    site.run("r1")
    await site.passes(2)
    assert site.pod_of("r1") == "py-0"
    assert "an event cannot be read" in site.log


@scheduler_scene()
async def test_objects_of_wrong_types_stop_nobody(site: Site) -> None:
    await started(site)
    for stream in site.api.streams:
        stream.inject += [
            line("ADDED", {"metadata": []}),
            line("DELETED", {"metadata": None}),
            line("MODIFIED", {"metadata": {"name": 5, "resourceVersion": 7}}),
        ]
    site.run("r1")
    await site.passes(2)
    assert site.pod_of("r1") == "py-0"


@scheduler_scene()
async def test_clean_ends_in_a_row_do_not_become_a_storm(site: Site) -> None:
    site.pod("py-0", runs=1)
    site.api.faults.append(_ended_at_once("runs"))
    site.start()
    await site.passes(60)
    assert 10 < site.api.count("watch", "runs") < 40
    site.run("r1")
    await site.passes(6)
    assert site.pod_of("r1") == "py-0"


def _ended_at_once(plural: str) -> Fault:
    """Watches of a resource end as soon as they have said what there was to say."""

    async def fault(call: Call) -> Response | None:
        if target(call).kind == ("watch", plural):
            query = dict(call.query)
            assert query["timeoutSeconds"] == "40"
            object.__setattr__(call, "query", tuple({**query, "timeoutSeconds": "0"}.items()))
        return None

    return fault
