"""Measures workloads one after another, and how their cost grows with the cluster."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log, log1p
from typing import Any

from kruntimes_core import __version__
from kruntimes_core.engine.explain import plugin_document
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.lab.bench.engine.cluster import Shape
from kruntimes_core.lab.bench.engine.driver import EngineSetup, calmed
from kruntimes_core.lab.bench.engine.hook_costs import HookCost, HookName, HookPass, hook_pass
from kruntimes_core.lab.bench.engine.workloads import Timed, Workload
from kruntimes_core.lab.bench.figures import MICROSECONDS, NANOSECONDS, Figure, Quantity, Sample, figures_of

_SMALLEST_LARGEST = 8


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


@dataclass(frozen=True, slots=True)
class GrownFigure:
    """A figure at each size, and the power of its growth."""

    quantity: Quantity
    values: tuple[float, ...]
    exponent: float

    def document(self) -> dict[str, Any]:
        """The growth as the report says it."""
        return {
            "name": self.quantity.name,
            "unit": self.quantity.unit,
            "medians": [round(value, 3) for value in self.values],
            "exponent": round(self.exponent, 3),
        }


@dataclass(frozen=True, slots=True)
class GrownHook:
    """Calls and time of one hook at each size, and the powers of their growth."""

    name: HookName
    calls: tuple[float, ...]
    calls_exponent: float
    microseconds: tuple[float, ...]
    exponent: float

    def document(self) -> dict[str, Any]:
        """The growth as the report says it."""
        return {
            **self.name._asdict(),
            "calls": [round(value, 3) for value in self.calls],
            "callsExponent": round(self.calls_exponent, 3),
            "microseconds": [round(value, 3) for value in self.microseconds],
            "exponent": round(self.exponent, 3),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """How one workload grows with one dimension of the cluster."""

    workload: str
    dimension: str
    sizes: tuple[int, ...]
    figures: tuple[GrownFigure, ...]
    hooks: tuple[GrownHook, ...]

    def document(self) -> dict[str, Any]:
        """The growth as the report says it."""
        return {
            "workload": self.workload,
            "with": self.dimension,
            "sizes": list(self.sizes),
            "figures": [figure.document() for figure in self.figures],
            "hooks": [hook.document() for hook in self.hooks],
        }


def grown_figures(sizes: Sequence[int], found: Sequence[Sequence[Figure]]) -> tuple[GrownFigure, ...]:
    """Each quantity over the sizes; found: the figures at each. A part with nothing to do took no time."""
    medians = [{figure.quantity: figure.median for figure in figures} for figures in found]
    return tuple(
        _grown_figure(sizes, quantity, tuple(one.get(quantity, 0.0) for one in medians))
        for quantity in dict.fromkeys(quantity for one in medians for quantity in one)
    )


def grown_hooks(sizes: Sequence[int], found: Sequence[Sequence[HookCost]]) -> tuple[GrownHook, ...]:
    """Each hook over the sizes; found: the costs at each, of the same hooks in the same order."""
    return tuple(_grown_hook(sizes, costs) for costs in zip(*found, strict=True))


def _grown_figure(sizes: Sequence[int], quantity: Quantity, values: tuple[float, ...]) -> GrownFigure:
    return GrownFigure(quantity, values, exponent(sizes, [v * NANOSECONDS[quantity.unit] for v in values]))


def _grown_hook(sizes: Sequence[int], costs: Sequence[HookCost]) -> GrownHook:
    calls = tuple(cost.calls for cost in costs)
    spent = tuple(cost.microseconds for cost in costs)
    return GrownHook(
        costs[0].name,
        calls,
        exponent(sizes, calls),
        spent,
        exponent(sizes, [value * NANOSECONDS[MICROSECONDS] for value in spent]),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What one workload came to."""

    workload: Workload
    figures: tuple[Figure, ...]
    hooks: HookPass | None = None
    """What the hooks cost; None where no hook is timed."""


class EngineBench:
    """Measures some workloads on one shape of cluster. Raises `InputError` where a plugin fails."""

    def __init__(
        self,
        workloads: Sequence[Workload],
        shape: Shape,
        means: EngineSetup,
        repeat: int,
        growth: bool = False,
    ) -> None:
        """repeat: how often each figure is measured. growth: also how the figures grow."""
        self._workloads = workloads
        self._shape = shape
        self._means = means
        self._repeat = repeat
        self._growth = growth
        self._done = 0
        self.measured: list[Measured] = []
        self.growth: list[Growth] = []

    @property
    def steps(self) -> int:
        """How many steps `run` takes."""
        sizes = sum(len(workload.grows_with) for workload in self._timed) * len(sizes_up_to(1)) * self._growth
        return (len(self._workloads) + sizes) * self._repeat + len(self._timed) + sizes

    @property
    def _timed(self) -> list[Timed]:
        return [workload for workload in self._workloads if isinstance(workload, Timed)]

    def run(self) -> Iterator[int]:
        """Measure; yields how many steps are done."""
        with calmed():
            for workload in self._workloads:
                yield from self._measure(workload)
            for timed in self._timed if self._growth else ():
                for dimension in timed.grows_with:
                    yield from self._grow(timed, dimension)

    def _measure(self, workload: Workload) -> Iterator[int]:
        samples: list[Sample] = []
        for sample in workload.samples(self._shape, self._means, self._repeat):
            samples.append(sample)
            yield self._step()
        hooks: HookPass | None = None
        if isinstance(workload, Timed):
            hooks = hook_pass(workload, self._shape, self._means)
            yield self._step()
        self.measured.append(Measured(workload=workload, figures=figures_of(samples), hooks=hooks))

    def _grow(self, workload: Timed, dimension: str) -> Iterator[int]:
        sizes = sizes_up_to(getattr(self._shape, dimension))
        shapes = [self._shape.sized(dimension, size) for size in sizes]
        samples: list[list[Sample]] = [[] for _ in sizes]
        yield from self._take_turns(workload, shapes, samples)
        costs = []
        for shape in shapes:
            costs.append(hook_pass(workload, shape, self._means).costs)
            yield self._step()
        self.growth.append(
            Growth(
                workload=workload.name,
                dimension=dimension,
                sizes=sizes,
                figures=grown_figures(sizes, [figures_of(taken) for taken in samples]),
                hooks=grown_hooks(sizes, costs),
            )
        )

    def _take_turns(
        self, workload: Timed, shapes: Sequence[Shape], samples: Sequence[list[Sample]]
    ) -> Iterator[int]:
        """Measure at each size in turn, so that whatever slows the machine for a while slows all of them."""
        running = [workload.samples(shape, self._means, self._repeat) for shape in shapes]
        for _ in range(self._repeat):
            for taken, more in zip(samples, running, strict=True):
                taken.append(next(more))
                yield self._step()

    def _step(self) -> int:
        self._done += 1
        return self._done


API_VERSION = "kruntimes.io/bench-engine/v1"


def report(bench: EngineBench, shape: Shape, profiles: Profiles, repeat: int) -> dict[str, Any]:
    """The report (`kruntimes.io/bench-engine/v1`)."""
    return {
        "apiVersion": API_VERSION,
        "kruntimes": __version__,
        "python": platform.python_version(),
        "shape": shape.document(),
        "repeat": repeat,
        "plugins": [
            {**plugin_document(plugin), "profile": profile.name}
            for profile in profiles.all
            for plugin in profile.plugins
        ],
        "workloads": [_workload(measured) for measured in bench.measured],
        "growth": [growth.document() for growth in bench.growth],
    }


def _workload(measured: Measured) -> dict[str, Any]:
    hooks = measured.hooks
    return {
        "name": measured.workload.name,
        "each": measured.workload.each,
        "figures": [figure.document() for figure in measured.figures],
        "units": hooks.units if hooks is not None else None,
        "placed": hooks.placed if hooks is not None else None,
        "waited": round(hooks.waited, 3) if hooks is not None else None,
        "hooks": [cost.document() for cost in hooks.costs] if hooks is not None else [],
    }
