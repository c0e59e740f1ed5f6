"""Any mixture of faults: nothing oversold, nothing bound twice, the binds of two terms never mixed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random

import pytest
from tests.unit.cluster.leader_election.replica import Replica
from tests.unit.cluster.leader_election.site import Site, play
from virtual.calls import Target, status

from kruntimes_core.cluster.client.transport import Call, Response
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.testing.harness import RUNS

_SECONDS = 40
_CODES = (403, 409, 429, 500, 503)


class Trouble:
    """What goes wrong for one replica, drawn anew now and then."""

    def __init__(self, random: Random, replica: Replica) -> None:
        self._random = random
        self._replica = replica
        for wire in (replica.wire, replica.lease_wire):
            wire.before.append(self._before)
            wire.after.append(self._refuse)
            wire.slow_seconds = self._slow
        self.draw()

    def draw(self) -> None:
        """Other troubles from now on."""
        draw = self._random.random
        self._wait = draw() * 12 if draw() < 0.3 else 0.0
        self._slowness = draw() * 6 if draw() < 0.3 else 0.0
        self._refused = draw() if draw() < 0.3 else 0.0
        self._lost = draw() if draw() < 0.2 else 0.0
        if draw() < 0.2:
            self._replica.clock.jump(draw() * 20 - 10)

    async def _before(self, call: Call) -> Response | None:
        if call.body is not None and self._wait:
            await asyncio.sleep(self._wait)
        return None

    async def _refuse(self, call: Call) -> Response | None:
        chance = self._random.random()
        if chance < self._lost:
            await asyncio.get_running_loop().create_future()
        return status(self._random.choice(_CODES), "No") if chance < self._refused else None

    def _slow(self, what: Target) -> float:
        return self._slowness if what.verb in ("patch", "put", "post", "list") else 0.0


def _ends(site: Site, random: Random) -> None:
    """Some Runs end, so that others can be placed; some come back as another attempt would."""
    for run in site.server.all(RUNS):
        if run["status"].get("phase") == "Scheduled" and random.random() < 0.3:
            site.end(run["metadata"]["name"])


async def _history(site: Site, seed: int) -> None:
    random = Random(seed)
    for number in range(3):
        site.pod(f"py-{number}", runs=2)
    number = 0
    troubles: dict[str, Trouble] = {}

    def start() -> None:
        nonlocal number
        number += 1
        replica = site.replica(f"host_{number}", skew_seconds=random.random() * 6 - 3)
        troubles[replica.identity] = Trouble(random, replica)

    start()
    start()
    led = 0
    for _ in range(_SECONDS):
        site.more_runs(random.randrange(3))
        _ends(site, random)
        for trouble in troubles.values():
            if random.random() < 0.2:
                trouble.draw()
        running = [one for one in site.replicas if not one.running.done()]
        if random.random() < 0.06:
            victim = random.choice(running)
            ending = victim.stop() if random.random() < 0.5 else victim.crash()
            await ending
            start()
        await site.passes(random.random() * 2)
        assert len(site.leaders()) <= 1
        led += len(site.leaders())
    assert led > _SECONDS / 5
    for one in site.replicas:
        if not one.running.done():
            await one.crash()
    await _comes_to_rest(site)


async def _comes_to_rest(site: Site) -> None:
    """After all trouble a fresh pair places whatever there is room for."""
    site.replica("late_1")
    site.replica("late_2")

    def all_placed() -> bool:
        for run in site.server.all(RUNS):
            if run["status"].get("phase") == "Scheduled":
                site.end(run["metadata"]["name"])
        return all(run["status"].get("phase") == "Succeeded" for run in site.server.all(RUNS))

    await site.until(_each_half_second(all_placed), 60)


def _each_half_second(holds: Callable[[], bool]) -> Callable[[], bool]:
    asked = [0]

    def look() -> bool:
        asked[0] += 1
        return asked[0] % 50 == 0 and holds()

    return look


@pytest.mark.parametrize("seed", range(4))
def test_no_history_of_faults_breaks_a_promise(profiles: Profiles, seed: int) -> None:
    play(profiles, lambda site: _history(site, seed))
