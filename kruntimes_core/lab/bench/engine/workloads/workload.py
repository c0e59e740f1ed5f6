"""What a workload is: how to prepare it, what one repeat does, and what its figures are for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from kruntimes_core.lab.bench.engine.collector import laid_aside
from kruntimes_core.lab.bench.engine.figures import MICROSECONDS, NANOSECONDS, Quantity, Sample
from kruntimes_core.lab.bench.engine.shape import Shape
from kruntimes_core.lab.bench.engine.site import Means, Site, complain, prepared
from kruntimes_core.lab.bench.engine.stopwatch import Stopwatch

WHOLE = "whole"
"""The sum of the parts of a workload."""


class Workload(Protocol):
    """Something that can be measured."""

    @property
    def name(self) -> str:
        """What users call it."""

    @property
    def each(self) -> str:
        """What its figures are for: one placement, one heartbeat."""

    def samples(self, shape: Shape, means: Means, repeat: int) -> Iterator[Sample]:
        """Measure `repeat` times. Raises: `InputError` where a plugin fails."""


class Round(NamedTuple):
    """One repeat."""

    spent: dict[str, int]
    """Nanoseconds by part."""
    units: int
    """How many placements, heartbeats and so on it did."""
    placed: int
    """How many Runs were bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """A workload whose figures are times: each part's share of one placement, heartbeat, and so on."""

    name: str
    each: str
    repeat: Callable[[Site, Stopwatch], int]
    """One repeat: leaves the site as it was. Returns how many it did."""
    grows_with: tuple[str, ...] = ()
    """The dimensions of `Shape` that are tried by `--growth`."""
    prepare: Callable[[Shape, Means], Site] = prepared
    unit: str = MICROSECONDS
    places: bool = True
    """Whether a Run is bound each time, if the plugins let it be."""

    def samples(self, shape: Shape, means: Means, repeat: int) -> Iterator[Sample]:
        """See `Workload`. The first repeat is not counted: after it, plugin states have been met before."""
        for done in self.rounds(shape, means, repeat):
            yield self._sample(done)

    def rounds(
        self, shape: Shape, means: Means, repeat: int, begin: Callable[[], None] = lambda: None
    ) -> Iterator[Round]:
        """What each repeat came to, on one site. Raises: `InputError` where a plugin fails.

        begin: called when everything is prepared, before the first repeat that counts.
        """
        site, watch = self.prepare(shape, means), Stopwatch(means.clock)
        with laid_aside():
            self.repeat(site, watch)
            complain(site)
            watch.taken()
            begin()
            for _ in range(repeat):
                placed = site.placed
                units = self.repeat(site, watch)
                yield Round(watch.taken(), units, site.placed - placed)

    def _sample(self, done: Round) -> Sample:
        spent = done.spent
        parts = spent if len(spent) == 1 else {**spent, WHOLE: sum(spent.values())}
        scale = NANOSECONDS[self.unit] * done.units
        return {Quantity(part, self.unit): nanoseconds / scale for part, nanoseconds in parts.items()}
