"""The pages of figures: each command on them is understood, and no figure of a table is left out."""

import re
import shlex

import click
import pytest

from kruntimes_core.cli.bench.command import bench
from kruntimes_core.cli.bench.report import settings_of
from kruntimes_core.lab.bench.engine.workloads import WORKLOADS
from tests.docs.pages import page, rows

LIVE = page("docs/performance/live.md")
ENGINE = page("docs/performance/engine.md")
SIZING = page("docs/how-to/size-an-installation.md")
COMMANDS = sorted(set(re.findall(r"`kruntimes bench( [^`]+)`", LIVE.text + ENGINE.text)))
NUMBER = r"\d[\d,]*(\.\d+)?"
FOR_THE_ENGINE = [arguments for arguments in COMMANDS if arguments.startswith(" engine --")]
LOADS = [arguments for arguments in COMMANDS if re.match(" --(mode|runs)", arguments)]


@pytest.mark.parametrize("arguments", FOR_THE_ENGINE)
def test_a_command_for_the_engine_is_understood(arguments: str) -> None:
    command = bench.get_command(click.Context(bench), "engine")
    assert command is not None
    context = command.make_context("engine", shlex.split(arguments)[1:])
    assert set(context.params["workloads"]) <= {workload.name for workload in WORKLOADS}


@pytest.mark.parametrize("arguments", LOADS)
def test_a_command_for_a_load_is_understood(arguments: str) -> None:
    with bench.make_context("bench", shlex.split(arguments)) as context:
        settings_of(context.params).load.check()


def test_every_figure_of_the_engine_is_there() -> None:
    found = [row for row in rows(ENGINE.text) if len(row) == 5]
    assert len(found) > 10
    for _, median, spread, _, command in found:
        assert re.fullmatch(f"{NUMBER} (µs|ms|MB|bytes)", median)
        assert re.fullmatch(f"{NUMBER} to {NUMBER}", spread)
        assert command.removeprefix("kruntimes bench") in FOR_THE_ENGINE


def test_every_load_has_its_figures() -> None:
    found = {name: cells for name, *cells in rows(LIVE.section("The figures"))}
    assert list(found) == [name for name, _, _ in rows(LIVE.section("The workloads"))]
    assert len(found) == len(LOADS)
    for cells in found.values():
        assert len(cells) == 8
        for cell in cells:
            assert re.fullmatch(rf"{NUMBER}%?( \({NUMBER}%? to {NUMBER}%?\))?|-", cell), cell


def test_memory_is_told_by_a_formula() -> None:
    assert re.search(
        rf"\*\*{NUMBER} MB, and {NUMBER} kB for each Pod, ", SIZING.section("Calculate the memory")
    )
