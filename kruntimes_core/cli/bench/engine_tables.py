"""Measures an engine, and shows it as tables: the figures, what the hooks cost, and how both grow."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict

from kruntimes_core.cli.commands import Exit, with_time_limit
from kruntimes_core.cli.output.documents import write_json
from kruntimes_core.cli.output.screen import Screen, follow, print_lines, print_notes, standard_output
from kruntimes_core.cli.output.table import table
from kruntimes_core.engine.engine import Settings
from kruntimes_core.framework.configuration import build_profiles, configuration_from
from kruntimes_core.framework.plugin_registry import PluginRegistry
from kruntimes_core.lab.bench.engine.driver import EngineSetup, fine_clock, processor_clock
from kruntimes_core.lab.bench.engine.measurement import Document, EngineBench
from kruntimes_core.lab.bench.engine.shape import Shape
from kruntimes_core.lab.bench.engine.workloads import WHOLE, WORKLOADS, Timed
from kruntimes_core.lab.bench.figures import MICROSECONDS
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
_PLACING = frozenset(one.name for one in WORKLOADS if isinstance(one, Timed) and one.places)


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
    yield ", ".join(f"{name} {size:,}" for name, size in asdict(bench.shape).items())
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
    for one in bench.measured:
        if one["name"] in _PLACING and one["placed"] < one["units"]:
            others = "other waits" if one["units"] - one["placed"] == 1 else "others wait"
            runs = f"{one['placed']} of {counted(one['units'], 'Run')}"
            yield f"{one['name']}: {runs} found a Pod, and the {others}"


def _figures(measured: Document) -> Iterator[tuple[object, ...]]:
    each = f" a {measured['each']}" if measured["units"] is not None else ""
    for figure in measured["figures"]:
        values = (_amount(figure[key]) for key in ("median", "lowest", "highest"))
        yield measured["name"], figure["name"], *values, figure["unit"] + each, _a_second(figure)


def _a_second(figure: Document) -> str | None:
    if figure["unit"] != MICROSECONDS or figure["median"] < _SHORTEST:
        return None
    return f"{_A_SECOND / figure['median']:,.0f}"


def _hooks(measured: Document) -> Iterator[tuple[object, ...]]:
    for cost in measured["hooks"]:
        if cost["calls"]:
            numbers = (_amount(cost[key]) for key in ("calls", "microseconds", "nanosecondsACall"))
            yield measured["name"], cost["plugin"], cost["hook"], *numbers


def _disturbed(measured: Document) -> Iterator[str]:
    share = measured["waited"] or 0.0
    if share >= _WAITED:
        meanwhile = f"others had the processor for {share:.0%} of the time in which they were timed"
        yield f"{measured['name']}: hooks look dearer than they are, {meanwhile}"


def _growth(growth: Document) -> Iterator[tuple[object, ...]]:
    about = (growth["workload"], growth["with"], *_ends(growth["sizes"], ",.0f"))
    for figure in growth["figures"]:
        if figure["name"] == WHOLE or len(growth["figures"]) == 1:
            ends = _ends(figure["medians"])
            yield *about, figure["name"], *ends, figure["unit"], f"{figure['exponent']:.2f}", None
    for hook in filter(_is_shown, growth["hooks"]):
        ends, name = _ends(hook["microseconds"]), f"{hook['plugin']} {hook['hook']}"
        exponents = (f"{hook['exponent']:.2f}", f"{hook['callsExponent']:.2f}")
        yield *about, name, *ends, MICROSECONDS, *exponents


def _is_shown(hook: Document) -> bool:
    grows = max(hook["exponent"], hook["callsExponent"]) >= _GROWS
    return bool(grows and hook["microseconds"][-1] >= _COUNTS_MICROSECONDS)


def _ends(values: Sequence[float], form: str = ",.1f") -> tuple[str, str]:
    return format(values[0], form), format(values[-1], form)


def _amount(value: float) -> str:
    return f"{value:,.1f}"
