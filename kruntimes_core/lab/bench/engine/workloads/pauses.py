"""How long the garbage collector stops everything while Runs are placed."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kruntimes_core.lab.bench.engine.collector import laid_aside
from kruntimes_core.lab.bench.engine.figures import MILLISECONDS, NANOSECONDS, Quantity, Sample
from kruntimes_core.lab.bench.engine.shape import Shape
from kruntimes_core.lab.bench.engine.site import Means, prepared
from kruntimes_core.lab.bench.engine.stopwatch import Clock, Stopwatch
from kruntimes_core.lab.bench.engine.workloads.placing import one_by_one, plain


@dataclass(frozen=True, slots=True)
class Pauses:
    """The pauses of the collector, where what is known is set aside as the scheduler does it."""

    name: str = "pauses"
    each: str = "collection"

    def samples(self, shape: Shape, means: Means, repeat: int) -> Iterator[Sample]:
        """See `Workload`."""
        site, place = prepared(shape, means), one_by_one(plain)
        for _ in range(repeat):
            with laid_aside():
                with _noted(means.fine_clock) as placing:
                    place(site, Stopwatch(means.clock))
                with _noted(means.fine_clock) as aside:
                    gc.collect()
            with _noted(means.fine_clock) as everything:
                gc.collect()
            yield {
                _longest("longest while placing"): _milliseconds(placing),
                _longest("full, what is known set aside"): _milliseconds(aside),
                _longest("full, nothing set aside"): _milliseconds(everything),
            }


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
