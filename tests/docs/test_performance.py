"""The pages with figures: their rows and commands are those that measure, and none is left out."""

import re
import shlex

import click
import pytest
from performance.__main__ import main
from performance.engine import HEADINGS, ROWS, Row
from performance.live.tables import COLUMNS, commands
from performance.live.targets import HEADINGS as TARGET_HEADINGS
from performance.live.targets import TARGETS
from performance.live.workloads import WORKLOADS as LOADS
from performance.live.workloads import Workload
from performance.live.writing import FIGURES_SECTION, TARGETS_SECTION, WORKLOADS_SECTION
from performance.memory.sizing import HEADINGS as MEMORY_HEADINGS
from performance.memory.sizing import SECTION as MEMORY_SECTION
from performance.page import ENGINE, LIVE, SIZING, shown

from kruntimes_core.cli.bench.command import bench
from kruntimes_core.cli.bench.live import load_of
from kruntimes_core.cli.bench.options import BenchOptions
from kruntimes_core.lab.bench.engine.workloads import WORKLOADS
from tests.docs.pages import page, rows

PAGE = page("docs/performance.md")
TABLE = shown("the engine", ENGINE.read_text())
NUMBER = r"\d[\d,]*(\.\d+)?"


def test_the_table_has_the_rows_that_are_measured() -> None:
    assert TABLE.splitlines()[0] == f"| {' | '.join(HEADINGS)} |"
    shown = [(about, at_most, command) for about, _, _, at_most, command in rows(TABLE)]
    assert shown == [(row.about, row.at_most, row.command) for row in ROWS]


def test_every_row_has_its_figures() -> None:
    for row, (_, median, spread, _, _) in zip(ROWS, rows(TABLE), strict=True):
        assert re.fullmatch(f"{NUMBER} {row.measure.unit}", median)
        assert re.fullmatch(f"{NUMBER} to {NUMBER}", spread)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.about)
def test_the_commands_are_understood(row: Row) -> None:
    arguments = shlex.split(row.command)
    assert arguments[:3] == ["kruntimes", "bench", "engine"]
    command = bench.get_command(click.Context(bench), "engine")
    assert command is not None
    context = command.make_context("engine", arguments[3:])
    assert context.params["workloads"] == (row.measure.workload,)
    assert row.measure.workload in {workload.name for workload in WORKLOADS}


def test_a_figure_is_read_from_the_report() -> None:
    row = next(row for row in ROWS if row.measure.share_of == 1_000)
    found = {"name": row.measure.figure, "median": 1_500.0, "lowest": 40_000.0, "highest": 2_000_000.0}
    document = {"workloads": [{"figures": [{"name": "other", "median": 1.0}, found]}]}
    assert row.measure.read(document) == (1.5, 40.0, 2_000.0)
    assert list(row.cells(document))[1:3] == [f"1.5 {row.measure.unit}", "40 to 2,000"]


def test_every_part_that_measures_is_named() -> None:
    for name in main.commands:
        assert f"-m performance {name}" in PAGE.text


def test_the_workloads_are_those_that_are_measured() -> None:
    assert shown(WORKLOADS_SECTION, LIVE.read_text()).splitlines() == commands()


def test_every_workload_has_its_figures() -> None:
    text = shown(FIGURES_SECTION, LIVE.read_text())
    assert re.match(r"Measured on [\d, -]+ with kube-apiserver v[\d.]+, everything on one machine of", text)
    found = list(rows(text))
    assert [name for name, *_ in found] == [one.name for one in LOADS]
    for _, *cells in found:
        assert len(cells) == len(COLUMNS)
        for cell, (heading, _, _) in zip(cells, COLUMNS, strict=True):
            given = rf"{NUMBER}%?( \({NUMBER}%? to {NUMBER}%?\))?"
            assert re.fullmatch(given, cell) or (heading == "share of the ceiling" and cell == "-"), cell


def test_every_target_has_its_figures() -> None:
    text = shown(TARGETS_SECTION, LIVE.read_text())
    assert text.splitlines()[0] == f"| {' | '.join(TARGET_HEADINGS)} |"
    found = [(about, bounds) for about, _, _, bounds, _ in rows(text)]
    assert found == [(target.about, target.bounds) for target in TARGETS]
    assert {verdict for *_, verdict in rows(text)} <= {"yes", "no"}


def test_memory_is_told_by_a_formula() -> None:
    text = shown(MEMORY_SECTION, SIZING.read_text())
    assert re.match(rf"\*\*{NUMBER} MB, and {NUMBER} kB for each Pod, ", text)
    assert f"| {' | '.join(MEMORY_HEADINGS)} |" in text.splitlines()


@pytest.mark.parametrize("load", LOADS, ids=lambda load: load.name)
def test_the_command_of_a_workload_is_understood(load: Workload) -> None:
    arguments = shlex.split(load.command)
    assert arguments[:2] == ["kruntimes", "bench"]
    with bench.make_context("bench", arguments[2:]) as context:
        options = BenchOptions(**context.params)
        options.check()
        load_of(options).check()
