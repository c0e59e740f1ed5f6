"""Measures an engine, and shows it as tables: the figures, what the hooks cost, and how both grow."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kruntimes_core.cli.commands import Exit, with_time_limit
from kruntimes_core.cli.output.documents import write_json
from kruntimes_core.cli.output.screen import Screen, follow, print_lines, print_notes, standard_output
from kruntimes_core.cli.output.table import table
from kruntimes_core.engine.engine import Settings
from kruntimes_core.framework.configuration import build_profiles, configuration_from
from kruntimes_core.framework.plugin_registry import PluginRegistry
from kruntimes_core.lab.bench.engine.driver import EngineSetup, fine_clock, processor_clock
from kruntimes_core.lab.bench.engine.measurement import EngineBench, GrownHook, Growth, Measured
from kruntimes_core.lab.bench.engine.shape import Shape
from kruntimes_core.lab.bench.engine.workloads import WHOLE, WORKLOADS, Timed
from kruntimes_core.lab.bench.figures import MICROSECONDS, Quantity, Spread
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


def measure_and_show(
    shape: Shape, workloads: Collection[str], config: str | None, *, repeat: int, growth: bool, form: str
) -> Exit:
    """Measure and show. workloads: their names; none for all.

    Raises: `InputError` for a bad configuration, or a broken plugin.
    """
    configuration = configuration_from(config)
    registry = PluginRegistry()
    calls = with_time_limit(registry.current)
    profiles = calls.call(lambda: build_profiles(configuration, registry))
    setup = EngineSetup(
        profiles, Settings.of(configuration), processor_clock, fine_clock, config, registry.current
    )
    chosen = [one for one in WORKLOADS if not workloads or one.name in workloads]
    bench = EngineBench(chosen, shape, setup, repeat, growth)
    follow(calls.values(bench.run()), "measuring", bench.steps)
    if form == "json":
        write_json(bench.document())
    else:
        screen = standard_output()
        print_lines(tables(bench, screen), screen)
    print_notes(notes(bench))
    return Exit.DONE


def tables(bench: EngineBench, screen: Screen) -> Iterator[str]:
    """The lines of the whole report."""
    yield ", ".join(f"{name} {size:,}" for name, size in bench.shape.document().items())
    yield ""
    yield from table(FIGURES, [row for one in bench.measured for row in _figures(one)], screen)
    hooks = [row for one in bench.measured for row in _hooks(one)]
    if hooks:
        yield ""
        yield from table(HOOKS, hooks, screen)
        yield from (line for one in bench.measured for line in _disturbed(one))
    if bench.growth:
        yield ""
        yield from table(GROWTH, [row for one in bench.growth for row in _growth(one)], screen)


def notes(bench: EngineBench) -> Iterator[str]:
    """What has to be known to read the figures."""
    for measured in bench.measured:
        workload, hooks = measured.workload, measured.hooks
        if isinstance(workload, Timed) and workload.places and hooks and hooks.placed < hooks.units:
            others = "other waits" if hooks.units - hooks.placed == 1 else "others wait"
            runs = f"{hooks.placed} of {counted(hooks.units, 'Run')}"
            yield f"{workload.name}: {runs} found a Pod, and the {others}"


def _figures(measured: Measured) -> Iterator[tuple[object, ...]]:
    workload = measured.workload
    for quantity, spread in measured.figures.items():
        values = map(_amount, (spread.median, spread.lowest, spread.highest))
        each = f" a {workload.each}" if isinstance(workload, Timed) else ""
        yield workload.name, quantity.name, *values, quantity.unit + each, _a_second(quantity, spread)


def _a_second(quantity: Quantity, spread: Spread) -> str | None:
    if quantity.unit != MICROSECONDS or spread.median < _SHORTEST:
        return None
    return f"{_A_SECOND / spread.median:,.0f}"


def _hooks(measured: Measured) -> Iterator[tuple[object, ...]]:
    for cost in measured.hooks.costs if measured.hooks is not None else ():
        if cost.calls:
            numbers = (cost.calls, cost.microseconds, cost.nanoseconds_a_call)
            yield measured.workload.name, *cost.name, *map(_amount, numbers)


def _disturbed(measured: Measured) -> Iterator[str]:
    share = measured.hooks.waited if measured.hooks is not None else 0.0
    if share >= _WAITED:
        meanwhile = f"others had the processor for {share:.0%} of the time in which they were timed"
        yield f"{measured.workload.name}: hooks look dearer than they are, {meanwhile}"


def _growth(growth: Growth) -> Iterator[tuple[object, ...]]:
    about = (growth.workload, growth.dimension, f"{growth.sizes[0]:,}", f"{growth.sizes[-1]:,}")
    for quantity, grown in growth.figures.items():
        if quantity.name == WHOLE or len(growth.figures) == 1:
            ends = (_amount(grown.values[0]), _amount(grown.values[-1]))
            yield *about, quantity.name, *ends, quantity.unit, f"{grown.exponent:.2f}", None
    for hook in filter(_is_shown, growth.hooks):
        time = hook.microseconds
        ends = (_amount(time.values[0]), _amount(time.values[-1]))
        exponents = (f"{time.exponent:.2f}", f"{hook.calls.exponent:.2f}")
        yield *about, " ".join(hook.name), *ends, MICROSECONDS, *exponents


def _is_shown(hook: GrownHook) -> bool:
    grows = max(hook.microseconds.exponent, hook.calls.exponent) >= _GROWS
    return grows and hook.microseconds.values[-1] >= _COUNTS_MICROSECONDS


def _amount(value: float) -> str:
    return f"{value:,.1f}"
