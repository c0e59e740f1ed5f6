"""Measures workloads one after another, and how their cost grows with the cluster."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from math import log, log1p
from typing import Any

from kruntimes_core import __version__
from kruntimes_core.engine.decisions import plugin_document
from kruntimes_core.lab.bench.engine.driver import EngineSetup, calmed
from kruntimes_core.lab.bench.engine.hook_costs import NO_HOOKS, hook_pass
from kruntimes_core.lab.bench.engine.shape import Shape
from kruntimes_core.lab.bench.engine.workloads import Timed, Workload
from kruntimes_core.lab.bench.figures import (
    MICROSECONDS,
    NANOSECONDS,
    Figures,
    Sample,
    figures_of,
    rounded,
)

API_VERSION = "kruntimes.io/bench-engine/v1"
Document = dict[str, Any]
"""The report, or a part of it; docs/reference/cli/bench-engine.md says what each key means."""
_DIGITS = 3
_SMALLEST_LARGEST = 8


class EngineBench:
    """Measures some workloads on one shape of cluster. Raises `InputError` where a plugin fails."""

    def __init__(
        self,
        workloads: Sequence[Workload],
        shape: Shape,
        setup: EngineSetup,
        repeat: int,
        growth: bool = False,
    ) -> None:
        """repeat: how often each figure is measured. growth: also how the figures grow."""
        self.shape = shape
        self._workloads = workloads
        self._setup = setup
        self._repeat = repeat
        self._growth = growth
        self._done = 0
        self.measured: list[Document] = []
        """What each workload came to, as in the report, but with all digits."""
        self.growth: list[Document] = []
        """How each grows with each dimension, in the same way."""

    @property
    def steps(self) -> int:
        """How many steps `run` takes."""
        sizes = sum(len(workload.grows_with) for workload in self._timed) * len(sizes_up_to(1)) * self._growth
        return (len(self._workloads) + sizes) * self._repeat + len(self._timed) + sizes

    def run(self) -> Iterator[int]:
        """Measure; yields how many steps are done."""
        with calmed():
            for workload in self._workloads:
                yield from self._measure(workload)
            for timed in self._timed if self._growth else ():
                for dimension in timed.grows_with:
                    yield from self._grow(timed, dimension)

    def document(self) -> Document:
        """The report (`kruntimes.io/bench-engine/v1`)."""
        document: Document = rounded(
            {
                "apiVersion": API_VERSION,
                "kruntimes": __version__,
                "python": platform.python_version(),
                "shape": asdict(self.shape),
                "repeat": self._repeat,
                "plugins": [
                    {**plugin_document(plugin), "profile": profile.name}
                    for profile in self._setup.profiles.all
                    for plugin in profile.plugins
                ],
                "workloads": self.measured,
                "growth": self.growth,
            },
            _DIGITS,
        )
        return document

    @property
    def _timed(self) -> list[Timed]:
        return [workload for workload in self._workloads if isinstance(workload, Timed)]

    def _measure(self, workload: Workload) -> Iterator[int]:
        """The figures first, undisturbed, then what the hooks cost."""
        samples: list[Sample] = []
        for sample in workload.samples(self.shape, self._setup, self._repeat):
            samples.append(sample)
            yield self._step()
        figures = [
            {**quantity._asdict(), **asdict(spread)} for quantity, spread in figures_of(samples).items()
        ]
        hooks = NO_HOOKS
        if isinstance(workload, Timed):
            hooks = hook_pass(workload, self.shape, self._setup)
            yield self._step()
        self.measured.append({"name": workload.name, "each": workload.each, "figures": figures, **hooks})

    def _grow(self, workload: Timed, dimension: str) -> Iterator[int]:
        sizes = sizes_up_to(getattr(self.shape, dimension))
        shapes = [self.shape.sized(dimension, size) for size in sizes]
        samples: list[list[Sample]] = [[] for _ in sizes]
        running = [workload.samples(shape, self._setup, self._repeat) for shape in shapes]
        for _ in range(self._repeat):
            # At each size in turn, so that whatever slows the machine for a while slows all of them.
            for taken, more in zip(samples, running, strict=True):
                taken.append(next(more))
                yield self._step()
        costs = []
        for shape in shapes:
            costs.append(hook_pass(workload, shape, self._setup)["hooks"])
            yield self._step()
        figures = grown_figures(sizes, [figures_of(taken) for taken in samples])
        hooks = [_grown_hook(sizes, each) for each in zip(*costs, strict=True)]
        about = {"workload": workload.name, "with": dimension, "sizes": sizes}
        self.growth.append({**about, "figures": figures, "hooks": hooks})

    def _step(self) -> int:
        self._done += 1
        return self._done


# How cost grows with the cluster: a power of its size, fitted over several sizes


def sizes_up_to(largest: int) -> tuple[int, ...]:
    """Four sizes, each twice the one before. Where `largest` has no room for them, up to 8."""
    largest = max(largest, _SMALLEST_LARGEST)
    return tuple(largest // part for part in (8, 4, 2, 1))


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The power of the size that a value grows with: the slope of log(1 + value) over log(size).

    By least squares. 0: it does not grow; 1: it doubles with the size. The 1 lets values be 0, and
    hardly matters beside nanoseconds or many calls. In: positive sizes, not all the same.
    """
    places = [log(size) for size in sizes]
    heights = [log1p(value) for value in values]
    middle, level = sum(places) / len(places), sum(heights) / len(heights)
    slope = sum((x - middle) * (y - level) for x, y in zip(places, heights, strict=True))
    return slope / sum((x - middle) ** 2 for x in places)


def grown_figures(sizes: Sequence[int], found: Sequence[Figures]) -> list[Document]:
    """Each quantity over the sizes; found: the figures at each. A part with nothing to do took no time."""
    grown = []
    for quantity in dict.fromkeys(quantity for figures in found for quantity in figures):
        medians = [figures[quantity].median if quantity in figures else 0.0 for figures in found]
        power = _exponent_of_times(sizes, medians, quantity.unit)
        grown.append({**quantity._asdict(), "medians": medians, "exponent": power})
    return grown


def _grown_hook(sizes: Sequence[int], costs: Sequence[Document]) -> Document:
    """costs: of one hook, at each size."""
    calls, spent = ([cost[key] for cost in costs] for key in ("calls", "microseconds"))
    return {
        "plugin": costs[0]["plugin"],
        "hook": costs[0]["hook"],
        "calls": calls,
        "callsExponent": exponent(sizes, calls),
        "microseconds": spent,
        "exponent": _exponent_of_times(sizes, spent, MICROSECONDS),
    }


def _exponent_of_times(sizes: Sequence[int], values: Sequence[float], unit: str) -> float:
    return exponent(sizes, [value * NANOSECONDS[unit] for value in values])
