"""Texts, endings and reads give way to binds, and are never starved by them."""

from __future__ import annotations

import asyncio

import pytest
from virtual.calls import status, target
from virtual.site import Site

from kruntimes_core.cluster.api_dispatcher import RequestShares
from kruntimes_core.cluster.client.transport import Call, Response
from kruntimes_core.engine.api_calls import CallPriority
from kruntimes_core.engine.clock import SECOND
from kruntimes_core.testing.harness import RUNS
from tests.unit.cluster.played import scheduler_scene

PLACEMENT, OTHER = CallPriority.PLACEMENT, CallPriority.OTHER
MS = SECOND // 1_000
CROWD = 100


class Traffic:
    """Holds each request for a time, and counts what is in flight: calls about `fits` Runs, and others."""

    def __init__(self, site: Site, seconds: float) -> None:
        self.others = self.most_others = 0
        self.answered_others = 0
        self._seconds = seconds
        site.api.faults.insert(0, self._hold)

    async def _hold(self, call: Call) -> Response | None:
        what = target(call)
        if what.plural != "runs" or what.verb not in ("patch", "get") or (what.name or "").startswith("fits"):
            if what.plural == "runs" and what.verb == "patch":
                await asyncio.sleep(self._seconds)
            return None
        self.others += 1
        self.most_others = max(self.most_others, self.others)
        await asyncio.sleep(self._seconds)
        self.others -= 1
        self.answered_others += 1
        return None


def texts(site: Site) -> None:
    """Many Runs that fit nowhere get their first text."""
    for number in range(CROWD):
        site.run(f"hopeless-{number:03}", requests={"gpu": 1})


def endings(site: Site) -> None:
    """Many Runs are cancelled at once."""
    for number in range(CROWD):
        site.run(f"cancelled-{number:03}", requests={"gpu": 1}, spec={"cancelRequested": True})


def failures(site: Site) -> None:
    """Many Runs are invalid."""
    for number in range(CROWD):
        site.run(f"invalid-{number:03}", requests={"gpu": "many"})


def reads(site: Site) -> None:
    """The texts of many Runs have an unknown outcome, so that each is read."""

    async def lost(call: Call) -> Response | None:
        what = target(call)
        return (
            status(503, "Unavailable")
            if what.verb == "patch" and (what.name or "").startswith("hop")
            else None
        )

    site.api.faults.append(lost)
    texts(site)


@pytest.mark.parametrize("crowd", [texts, endings, failures, reads])
@scheduler_scene(in_flight=16)
async def test_a_bind_is_sent_at_once_beside_many_other_calls(site: Site, crowd: object) -> None:
    site.pod("py-0", runs=200)
    traffic = Traffic(site, 0.5)
    crowd(site)  # type: ignore[operator]
    site.start()
    await site.passes(2)
    for number in range(12):
        name = f"fits-{number:02}"
        site.run(name)
        await site.passes(0.55)  # a request takes 500 ms
        assert site.pod_of(name) is not None
    assert traffic.most_others == 2  # an eighth of 16
    await site.passes(60)
    if crowd is not reads:
        assert traffic.answered_others == CROWD


@pytest.mark.parametrize("in_flight", [1, 4, 32])
def test_other_calls_get_a_fifth_beside_placements_without_end(in_flight: int) -> None:
    """A request takes 30 ms, and a call of each priority always waits."""
    shares = RequestShares(in_flight)
    under_way: list[tuple[CallPriority, int]] = []
    sent: list[CallPriority] = []
    for now in range(0, 20 * SECOND, MS):
        under_way = [(priority, end) for priority, end in under_way if end > now]
        while len(under_way) < in_flight:
            first = shares.turns(sum(priority is OTHER for priority, _ in under_way), now)[0]
            shares.sent(first, now)
            under_way.append((first, now + 30 * MS))
            sent.append(first)
    expected = min(len(sent) / 5, 20 * 40)
    assert expected * 0.95 <= sent.count(OTHER) <= expected * 1.05


def test_placements_go_first_and_others_have_a_pace_while_runs_are_placed() -> None:
    shares = RequestShares(32)
    assert shares.turns(3, 0) == (PLACEMENT, OTHER)
    assert shares.turns(4, 0) == (PLACEMENT,)
    shares.sent(OTHER, 0)
    assert shares.turns(1, 0) == (PLACEMENT, OTHER)  # nothing is being placed: no pace
    shares.sent(PLACEMENT, 10 * MS)
    assert shares.turns(1, 34 * MS) == (PLACEMENT,)
    assert shares.turns(1, 35 * MS) == (PLACEMENT, OTHER)
    shares.sent(OTHER, 35 * MS)
    assert shares.next_other_at == 60 * MS
    assert shares.turns(1, 1_100 * MS) == (PLACEMENT, OTHER)
    shares.sent(OTHER, 1_100 * MS)
    assert shares.next_other_at == 1_100 * MS


def test_after_four_placements_the_next_turn_is_of_the_others() -> None:
    shares = RequestShares(1)
    for number in range(4):
        assert shares.turns(0, number * SECOND // 2 + SECOND)[0] is PLACEMENT
        shares.sent(PLACEMENT, number * SECOND // 2 + SECOND)
    assert shares.turns(0, 10 * SECOND) == (OTHER, PLACEMENT)
    shares.sent(OTHER, 10 * SECOND)
    assert shares.turns(0, 10 * SECOND) == (PLACEMENT, OTHER)


@pytest.mark.parametrize("in_flight", [1, 8])
@scheduler_scene(in_flight=2)
async def test_texts_are_written_beside_binds_without_end(site: Site, in_flight: int) -> None:
    """More Runs fit than the server takes binds for, all the time."""
    site.pod("py-0", runs=1_000)
    traffic = Traffic(site, 0.1)
    for number in range(20):
        site.run(f"hopeless-{number:02}", requests={"gpu": 1})
    for number in range(300):
        site.run(f"fits-{number:03}")
    site.start()
    await site.passes(7)
    # 20 requests a second, of which a fifth writes texts.
    assert traffic.answered_others == 20
    phases = [run["status"].get("phase") for run in site.server.all(RUNS)]
    assert 100 <= phases.count("Scheduled") < 300


@scheduler_scene()
async def test_a_pace_that_gave_way_is_taken_up_without_any_event(site: Site) -> None:
    """The loop wakes for the next turn of the others by itself."""
    site.pod("py-0", runs=100)
    site.run("fits")
    for number in range(30):
        site.run(f"hopeless-{number:02}", requests={"gpu": 1})
    site.start()
    await site.passes(0.7)
    # 25 ms for each.
    assert 25 <= site.api.count("patch", "runs") <= 30
    await site.passes(0.2)
    assert site.api.count("patch", "runs") == 31
