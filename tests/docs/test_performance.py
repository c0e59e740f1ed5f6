"""The page of figures: each command on it is understood, and no figure of a table is left out."""

import re
import shlex

import click
import pytest

from kruntimes_core.cli.bench.command import bench
from kruntimes_core.lab.bench.engine.workloads import WORKLOADS
from tests.docs.pages import page, rows

PAGE = page("docs/performance.md")
COMMANDS = sorted(set(re.findall(r"`kruntimes bench( [^`]+)`", PAGE.text)))
NUMBER = r"\d[\d,]*(\.\d+)?"
ENGINE = [arguments for arguments in COMMANDS if arguments.startswith(" engine --")]
LOADS = [arguments for arguments in COMMANDS if re.match(" --(mode|runs)", arguments)]


@pytest.mark.parametrize("arguments", ENGINE)
def test_a_command_for_the_engine_is_understood(arguments: str) -> None:
    command = bench.get_command(click.Context(bench), "engine")
    assert command is not None
    context = command.make_context("engine", shlex.split(arguments)[1:])
    assert set(context.params["workloads"]) <= {workload.name for workload in WORKLOADS}


@pytest.mark.parametrize("arguments", LOADS)
def test_a_command_for_a_load_is_understood(arguments: str) -> None:
    from kruntimes_core.cli.bench.live import settings_of

    with bench.make_context("bench", shlex.split(arguments)) as context:
        settings_of(context.params).load.check()


def test_every_figure_of_the_engine_is_there() -> None:
    found = list(rows(PAGE.section("The engine alone")))
    assert len(found) > 10
    for _, median, spread, _, command in found:
        assert re.fullmatch(f"{NUMBER} (µs|ms|MB|bytes)", median)
        assert re.fullmatch(f"{NUMBER} to {NUMBER}", spread)
        assert command.removeprefix("kruntimes bench") in ENGINE


def test_every_load_has_its_figures() -> None:
    found = {name: cells for name, *cells in rows(PAGE.section("On a real API server"))}
    names = [name for name, cells in found.items() if len(cells) == 8]
    assert len(names) == len(LOADS)
    for cell in (cell for name in names for cell in found[name]):
        assert re.fullmatch(rf"{NUMBER}%?( \({NUMBER}%? to {NUMBER}%?\))?|-", cell), cell


def test_memory_is_told_by_a_formula() -> None:
    assert re.search(rf"\*\*{NUMBER} MB, and {NUMBER} kB for each Pod, ", PAGE.section("Memory"))
