"""What was measured, as tables: the figures, what the hooks cost, and how both grow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kruntimes_core.cli.output.screen import Screen
from kruntimes_core.cli.output.table import TableColumn, table
from kruntimes_core.lab.bench.engine.figures import MICROSECONDS, Figure
from kruntimes_core.lab.bench.engine.growth import GrownHook, Growth
from kruntimes_core.lab.bench.engine.measuring import Bench, Measured
from kruntimes_core.lab.bench.engine.shape import Shape
from kruntimes_core.lab.bench.engine.workloads.workload import WHOLE, Timed
from kruntimes_core.model.messages import counted

_A_SECOND = 1_000_000
# Microseconds: how many of something shorter fit in a second is no news.
_SHORTEST = 0.5
FIGURES = ("WORKLOAD", "FIGURE", "MEDIAN", "LOWEST", "HIGHEST", "UNIT", "A SECOND")
HOOKS = ("WORKLOAD", "PLUGIN", "HOOK", "CALLS", "MICROSECONDS", "NANOSECONDS A CALL")
GROWTH = ("WORKLOAD", "GROWS WITH", "FROM", "TO", "FIGURE", "FIRST", "LAST", "UNIT", "EXPONENT", "OF CALLS")
# A hook is shown where it grows, by time or by calls, and takes more than next to nothing.
_GROWS, _COUNTS_MICROSECONDS = 0.2, 1.0
# The figures of a quiet machine scatter by as much.
_WAITED = 0.1


def tables(bench: Bench, shape: Shape, screen: Screen) -> Iterator[str]:
    """The lines of the whole report."""
    yield ", ".join(f"{name} {size:,}" for name, size in shape.document().items())
    yield ""
    yield from _table(FIGURES, [row for one in bench.measured for row in _figures(one)], screen)
    hooks = [row for one in bench.measured for row in _hooks(one)]
    if hooks:
        yield ""
        yield from _table(HOOKS, hooks, screen)
        yield from map(_disturbed, filter(_waited, bench.measured))
    if bench.growth:
        yield ""
        yield from _table(GROWTH, [row for one in bench.growth for row in _growth(one)], screen)


def notes(bench: Bench) -> Iterator[str]:
    """What has to be known to read the figures."""
    for measured in bench.measured:
        workload, hooks = measured.workload, measured.hooks
        if isinstance(workload, Timed) and workload.places and hooks and hooks.placed < hooks.units:
            others = "other waits" if hooks.units - hooks.placed == 1 else "others wait"
            runs = f"{hooks.placed} of {counted(hooks.units, 'Run')}"
            yield f"{workload.name}: {runs} found a Pod, and the {others}"


def _table(headings: Sequence[str], rows: Sequence[Sequence[object]], screen: Screen) -> Iterator[str]:
    return table([TableColumn(heading) for heading in headings], rows, screen)


def _figures(measured: Measured) -> Iterator[tuple[object, ...]]:
    workload = measured.workload
    for figure in measured.figures:
        values = (figure.median, min(figure.values), max(figure.values))
        unit = (
            f"{figure.quantity.unit} a {workload.each}"
            if isinstance(workload, Timed)
            else figure.quantity.unit
        )
        yield (workload.name, figure.quantity.name, *map(_amount, values), unit, _a_second(figure))


def _a_second(figure: Figure) -> str | None:
    if figure.quantity.unit != MICROSECONDS or figure.median < _SHORTEST:
        return None
    return f"{_A_SECOND / figure.median:,.0f}"


def _hooks(measured: Measured) -> Iterator[tuple[object, ...]]:
    for cost in measured.hooks.costs if measured.hooks is not None else ():
        if cost.calls:
            numbers = (cost.calls, cost.microseconds, cost.nanoseconds_a_call)
            yield (measured.workload.name, *cost.name, *map(_amount, numbers))


def _waited(measured: Measured) -> bool:
    return measured.hooks is not None and measured.hooks.waited >= _WAITED


def _disturbed(measured: Measured) -> str:
    share = measured.hooks.waited if measured.hooks is not None else 0.0
    meanwhile = f"others had the processor for {share:.0%} of the time in which they were timed"
    return f"{measured.workload.name}: hooks look dearer than they are, {meanwhile}"


def _growth(growth: Growth) -> Iterator[tuple[object, ...]]:
    about = (growth.workload, growth.dimension, f"{growth.sizes[0]:,}", f"{growth.sizes[-1]:,}")
    for figure in growth.figures:
        if figure.quantity.name == WHOLE or len(growth.figures) == 1:
            ends = (_amount(figure.values[0]), _amount(figure.values[-1]))
            yield (*about, figure.quantity.name, *ends, figure.quantity.unit, f"{figure.exponent:.2f}", None)
    for hook in filter(_shown, growth.hooks):
        ends = (_amount(hook.microseconds[0]), _amount(hook.microseconds[-1]))
        exponents = (f"{hook.exponent:.2f}", f"{hook.calls_exponent:.2f}")
        yield (*about, " ".join(hook.name), *ends, MICROSECONDS, *exponents)


def _shown(hook: GrownHook) -> bool:
    grows = max(hook.exponent, hook.calls_exponent) >= _GROWS
    return grows and hook.microseconds[-1] >= _COUNTS_MICROSECONDS


def _amount(value: float) -> str:
    return f"{value:,.1f}"
