"""What the host does around a placement: readings of the clock, and timers that are set and taken back."""

from collections.abc import Callable

import pytest
from counting.effort import CountedClock, counted_timers
from virtual.site import Site, play
from virtual.time import VirtualClock

from kruntimes_core.cluster.scheduler.scheduling_loop import SchedulingLoop
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.testing.builders import NOW

RUNS = 20


def counted(profiles: Profiles, runs: int, act: Callable[[Site, int], None]) -> tuple[int, int]:
    """Readings of the clock, and timers of the pump, in 20 s in which `runs` Runs come, one at a time."""
    counts: list[int] = []
    clock = CountedClock(VirtualClock(NOW))

    async def scene(site: Site) -> None:
        site.pod("py-0", runs=RUNS)
        site.start()
        await site.passes(1)
        before = clock.readings
        with counted_timers() as timers:
            for number in range(RUNS):
                if number < runs:
                    act(site, number)
                await site.passes(1)
        counts.extend((clock.readings - before, timers[SchedulingLoop]))

    play(profiles, scene, clock=clock)
    readings, timers = counts
    return readings, timers


def place(site: Site, number: int) -> None:
    site.run(f"r{number}")


def occupy(site: Site, number: int) -> None:
    site.run(f"r{number}", pod="py-9")


@pytest.mark.parametrize(
    ("act", "at_most"),
    [
        pytest.param(place, 12, id="placed"),
        pytest.param(occupy, 3, id="seen"),
    ],
)
def test_the_clock_is_read_a_few_times_for_a_run(
    profiles: Profiles, act: Callable[[Site, int], None], at_most: int
) -> None:
    """The clock is read for what an event or a decision needs, and not by every part for itself."""
    idle, _ = counted(profiles, 0, act)
    busy, _ = counted(profiles, RUNS, act)
    assert 0 < busy - idle <= at_most * RUNS


def test_the_pump_sets_one_timer_a_second_however_much_happens(profiles: Profiles) -> None:
    """A timer that is set and taken back for each event costs more than one turn without work a second."""
    _, timers = counted(profiles, RUNS, place)
    assert 0 < timers <= RUNS + 2
