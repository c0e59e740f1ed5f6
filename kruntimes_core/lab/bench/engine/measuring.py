"""Measuring workloads one after another: their figures first, undisturbed, then what the hooks cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kruntimes_core.lab.bench.engine.collector import calmed
from kruntimes_core.lab.bench.engine.figures import Figure, Sample, figures_of
from kruntimes_core.lab.bench.engine.growth import Growth, grown_figures, grown_hooks, sizes_up_to
from kruntimes_core.lab.bench.engine.hooks import HookPass, hook_pass
from kruntimes_core.lab.bench.engine.shape import Shape
from kruntimes_core.lab.bench.engine.site import Means
from kruntimes_core.lab.bench.engine.workloads import Timed, Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What one workload came to."""

    workload: Workload
    figures: tuple[Figure, ...]
    hooks: HookPass | None = None
    """What the hooks cost; None where no hook is timed."""


class Bench:
    """Measures some workloads on one shape of cluster. Raises `InputError` where a plugin fails."""

    def __init__(
        self, workloads: Sequence[Workload], shape: Shape, means: Means, repeat: int, growth: bool = False
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
