"""C4, C9, E5, E6: what a list may say, and what it must not make the host believe."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import pytest
from memoryapi.calls import Fault, line, status, target
from memoryapi.faults import cut, inject, one_by_one
from memoryapi.site import Site

from kruntimes_core.cluster.client.transport import Call, Response
from kruntimes_core.testing.harness import PODS, RUNS
from tests.unit.cluster.played import scheduler_scene

GONE = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}
LIST, WATCH = ("list", "runs"), ("watch", "runs")


def listed_at(site: Site, plural: str = "runs") -> float:
    """When a resource was asked for the last time."""
    return max(at for at, what, _ in site.api.calls if (what.verb, what.plural) == ("list", plural))


def bound_at(site: Site, name: str) -> float:
    """When a Run was bound."""
    return max(at for at, what, _ in site.api.calls if (what.verb, what.name) == ("patch", name))


async def missed(site: Site, what_happens: Callable[[], None]) -> None:
    """All watches are down while something happens, and their versions have expired when they are back."""
    site.api.oldest = 10**9
    for stream in site.api.streams:
        stream.cut = True
    what_happens()
    await site.passes(0.5)
    site.api.oldest = 0
    await site.passes(10)


@scheduler_scene()
async def test_an_active_run_that_vanished_unseen_frees_its_room_with_the_list(site: Site) -> None:
    site.pod("py-0", runs=1)
    site.run("x", pod="py-0")
    site.run("r")
    site.start()
    await site.passes(1)
    await missed(site, lambda: site.delete("x"))
    assert site.pod_of("r") == "py-0"
    assert bound_at(site, "r") == listed_at(site)


@scheduler_scene()
async def test_a_reserved_run_that_vanished_unseen_frees_its_room_with_the_list(site: Site) -> None:
    """Its bind is on its way, and is never answered."""

    async def silent(call: Call) -> Response | None:
        if target(call).verb == "patch" and target(call).name == "reserved":
            await asyncio.get_running_loop().create_future()
        return None

    site.api.faults.append(silent)
    site.pod("py-0", runs=1)
    site.start()
    await site.passes(1)
    site.run("reserved")
    await site.passes(0.5)
    site.run("r")
    await site.passes(0.5)
    assert (site.host.dispatcher.in_flight, site.pod_of("r")) == (1, None)
    await missed(site, lambda: site.delete("reserved"))
    assert site.pod_of("r") == "py-0"
    # As soon as it decides again, with the last of the lists.
    lists = ("runs", "pods", "persistentworkspaces")
    assert bound_at(site, "r") == max(listed_at(site, plural) for plural in lists)


@scheduler_scene()
async def test_a_pod_that_vanished_unseen_is_never_bound_to(site: Site) -> None:
    site.pod("py-0", runs=1, ready=False)
    site.pod("py-1", runs=9)
    site.start()
    await site.passes(1)

    def happens() -> None:
        site.delete("py-1", kind=PODS)
        site.ready("py-0", True)
        site.run("r")

    await missed(site, happens)
    assert site.pod_of("r") == "py-0"
    assert site.server.invariants.binds.total() == 1


@pytest.mark.parametrize("times", [1, 3])
@scheduler_scene()
async def test_a_list_from_a_minute_ago_neither_frees_room_nor_binds_again(site: Site, times: int) -> None:
    """In it `r1` is still Pending and its Pod is empty; the server answers so once, or three times."""
    site.pod("py-0", runs=1)
    site.run("r1", uid="U1")
    past = site.server.list(RUNS)
    old = {"metadata": {"resourceVersion": past.version}, "items": list(past.objects)}
    site.start()
    await site.passes(1)
    assert site.pod_of("r1") == "py-0"
    site.change("r1", status={"phase": "Running"})
    site.run("r2")
    await site.passes(60)
    answers = [Response(200, json.dumps(old).encode())] * times
    site.api.faults.append(one_by_one(LIST, *answers))
    inject(site, "runs", line("ERROR", GONE))
    for _ in range(60):
        await site.passes(0.5)
        assert site.pod_of("r2") is None
    assert site.server.invariants.binds == {("U1", 1): 1}
    assert site.why_not_ready() == []
    site.end("r1")
    await site.passes(2)
    assert site.pod_of("r2") == "py-0"


@scheduler_scene()
async def test_an_overloaded_server_is_asked_again_when_it_wants_to_be(site: Site) -> None:
    """The list is refused with 429 and Retry-After 2, then with 503, and then works."""
    site.pod("py-0", runs=1)
    site.start()
    await site.passes(1)
    busy = [status(429, "TooManyRequests", retry_after="2"), status(503, "ServiceUnavailable")]
    site.api.faults.append(one_by_one(LIST, *busy))
    inject(site, "runs", line("ERROR", GONE))
    site.run("r")
    await site.passes(1)
    assert any("cannot list runs.kruntimes.io" in why for why in site.why_not_ready())
    await site.passes(9)
    lists = [at for at, what, _ in site.api.calls if (what.verb, what.plural) == LIST][1:]
    assert len(lists) == 3
    assert lists[1] - lists[0] == pytest.approx(2)
    assert bound_at(site, "r") == lists[2]
    assert site.why_not_ready() == []


@scheduler_scene()
async def test_a_watch_that_ends_at_once_fifty_times_is_opened_again_without_a_storm(site: Site) -> None:
    site.pod("py-0", runs=1)
    ends = [50]

    async def at_once(call: Call) -> Response | None:
        if (target(call).verb, target(call).plural) == WATCH and ends[0]:
            ends[0] -= 1
            query = {**dict(call.query), "timeoutSeconds": "0"}
            object.__setattr__(call, "query", tuple(query.items()))
        return None

    site.api.faults.append(at_once)
    site.start()
    while ends[0]:
        before = site.api.count(*WATCH)
        await site.passes(10)
        assert site.api.count(*WATCH) - before <= 10
    site.run("r")
    await site.passes(6)
    assert site.pod_of("r") == "py-0"
    assert site.api.count(*LIST) == 1


# 1,200 Runs: 300 active on 30 full Pods, 10 that wait, the others ended long ago.


def crowd(site: Site) -> None:
    """Everything is there before the host is."""
    for number in range(30):
        site.pod(f"py-{number:02}", runs=10)
    for number in range(890):
        site.run(f"done-{number:03}", phase="Succeeded")
    for number in range(300):
        site.run(f"active-{number:03}", pod=f"py-{number % 30:02}")
    for number in range(10):
        site.run(f"waits-{number}")


def in_use(site: Site) -> int:
    """How many Runs the host counts on its Pods."""
    pods = site.host.engine.cache.snapshot("team-a", "py", site.clock.now().wall).pods
    return sum(pod.usage.get("runs", 0) for pod in pods.values())


async def _no_limit(call: Call) -> Response | None:
    """A server that ignores the limit."""
    query = tuple(pair for pair in call.query if pair[0] != "limit")
    object.__setattr__(call, "query", query)
    return None


async def _as_asked(call: Call) -> Response | None:
    return None


SECOND_PAGES: dict[str, Callable[[], Fault]] = {
    "410": lambda: one_by_one(LIST, None, status(410, "Expired")),
    "410 with a token": lambda: one_by_one(LIST, None, _continued(410)),
    "reset": lambda: one_by_one(LIST, None, cut()),
    "fewer keys": lambda: one_by_one(LIST, None, Response(200, b'{"items": []}')),
    "ignored limit": lambda: _no_limit,
    "short pages": lambda: _as_asked,
}


def _continued(code: int) -> Response:
    """A refusal that offers to go on at another version, which would be neither the one nor the other."""
    body = {**GONE, "metadata": {"continue": "another-version", "remainingItemCount": 700}}
    return Response(code, json.dumps(body).encode())


@pytest.mark.parametrize("second_page", SECOND_PAGES)
@scheduler_scene()
async def test_no_part_of_a_list_is_ever_believed(site: Site, second_page: str) -> None:
    site.api.page_size = 500
    crowd(site)
    site.start()
    await site.passes(2)
    known = site.host.engine.sizes
    assert in_use(site) == 300
    site.api.page_size = 137 if second_page == "short pages" else 500
    site.api.faults.append(SECOND_PAGES[second_page]())
    inject(site, "runs", line("ERROR", GONE))
    for _ in range(200):
        await site.passes(0.05)
        assert in_use(site) == 300
        assert not any(site.pod_of(f"waits-{number}") for number in range(10))
    lists = [dict(call.query) for at, what, call in site.api.calls if at > 2 and what.verb == "list"]
    begun = sum("continue" not in query for query in lists)
    assert begun == (1 if second_page in ("ignored limit", "short pages") else 2)
    assert "another-version" not in {query.get("continue") for query in lists}
    assert site.host.engine.sizes == known
    assert site.why_not_ready() == []
    assert not site.server.invariants.binds
