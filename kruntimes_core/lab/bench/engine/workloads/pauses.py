"""How long the garbage collector stops everything while Runs are placed."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kruntimes_core.lab.bench.engine.collector import laid_aside
from kruntimes_core.lab.bench.engine.figures import MILLISECONDS, NANOSECONDS, Quantity, Sample
from kruntimes_core.lab.bench.engine.lives import Life
from kruntimes_core.lab.bench.engine.shape import Shape
from kruntimes_core.lab.bench.engine.site import Means, Site, prepared
from kruntimes_core.lab.bench.engine.stopwatch import Clock
from kruntimes_core.lab.bench.engine.workloads.placing import plain

# So many times the Runs of a repeat stay known: what stays is what a collection looks through.
_ROUNDS = 20


@dataclass(frozen=True, slots=True)
class Pauses:
    """The pauses of the collector, where what is known is set aside as the scheduler does it."""

    name: str = "pauses"
    each: str = "collection"

    def samples(self, shape: Shape, means: Means, repeat: int) -> Iterator[Sample]:
        """See `Workload`."""
        site = prepared(shape, means)
        for _ in range(repeat):
            with laid_aside():
                with _noted(means.clock) as placing:
                    for place in range(_ROUNDS * shape.runs):
                        _place(site, plain(site, place))
                with _noted(means.clock) as aside:
                    gc.collect()
            with _noted(means.clock) as everything:
                gc.collect()
            yield {
                _longest("longest while placing"): _milliseconds(placing),
                _longest("full, what is known set aside"): _milliseconds(aside),
                _longest("full, nothing set aside"): _milliseconds(everything),
            }


def _place(site: Site, life: Life) -> None:
    """A Run is placed and ends, and is not deleted."""
    site.known([life])
    site.tell(life.seen())
    site.settle()
    if life.pod is not None:
        site.tell(life.ended())
        site.settle()
    del site.lives[life.name]


@contextmanager
def _noted(clock: Clock) -> Iterator[list[int]]:
    """The pauses within this context, in nanoseconds."""
    pauses: list[int] = []
    begun = [0]

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            begun[0] = clock()
        else:
            pauses.append(clock() - begun[0])

    gc.callbacks.append(note)
    try:
        yield pauses
    finally:
        gc.callbacks.remove(note)


def _longest(name: str) -> Quantity:
    return Quantity(name, MILLISECONDS)


def _milliseconds(pauses: list[int]) -> float:
    return max(pauses, default=0) / NANOSECONDS[MILLISECONDS]
