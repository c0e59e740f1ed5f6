"""What a whole host does for one thing does not grow with what it knows: watch, pump and writer included."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from counting.actions import LINES
from counting.effort import counted_lines
from virtual.site import Site, play

from kruntimes_core.framework.configuration import Profiles

SIZE = 150
_SERVER = ("kruntimes_core.testing", "virtual.transport")
Act = Callable[[Site], None]


def lines(profiles: Profiles, act: Act, *, pods: int, ended: int, waiting: int) -> int:
    """Lines of the host that run in the three seconds after something happened, between two heartbeats."""
    counted: list[int] = []

    async def scene(site: Site) -> None:
        site.pod("free", runs=5)
        for number in range(pods):
            site.pod(f"py-{number}", runs=1)
            site.run(f"x{number}", pod=f"py-{number}")
        for number in range(ended):
            site.run(f"e{number}", pod="py-0", phase="Succeeded")
        for number in range(waiting):
            site.run(f"w{number}", requests={"gpu": "1"})
        site.start()
        await site.passes(11)
        # What is met for the first time is asked about all Pods; the second one is as any other.
        site.run("first")
        await site.passes(0.5)
        with counted_lines(_SERVER) as so_far:
            act(site)
            await site.passes(3)
            counted.append(so_far())

    play(profiles, scene)
    return counted[0]


def nothing(site: Site) -> None:
    """Nothing happens."""


def place(site: Site) -> None:
    """A Run comes that has room."""
    site.run("new")


def end(site: Site) -> None:
    """A Run ends for whose room nobody waits."""
    site.end("first")


@pytest.mark.parametrize("act", [nothing, place, end])
@pytest.mark.parametrize("dimension", ["pods", "ended", "waiting"])
def test_twice_as_much_known_costs_no_more(profiles: Profiles, act: Act, dimension: str) -> None:
    sizes = {"pods": SIZE, "ended": SIZE, "waiting": SIZE}
    small = lines(profiles, act, **sizes)
    large = lines(profiles, act, **sizes | {dimension: 2 * SIZE})
    assert 0 < large <= small * LINES
