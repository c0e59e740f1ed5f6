"""The page of figures: its rows and commands are those that measure, and nothing on it is left out."""

import re
import shlex

import click
import pytest
from performance.__main__ import BEGIN, END
from performance.engine import HEADINGS, ROWS, Row

from kruntimes_core.cli.bench.command import bench
from kruntimes_core.lab.bench.engine.workloads import WORKLOADS
from tests.docs.pages import page, rows

PAGE = page("docs/performance.md")
TABLE = PAGE.text.partition(BEGIN)[2].partition(END)[0]


def test_the_table_has_the_rows_that_are_measured() -> None:
    assert TABLE.splitlines()[0] == f"| {' | '.join(HEADINGS)} |"
    shown = [(about, at_most, command) for about, _, _, at_most, command in rows(TABLE)]
    assert shown == [(row.about, row.at_most, row.command) for row in ROWS]


def test_every_row_has_its_figures() -> None:
    for row, (_, median, spread, _, _) in zip(ROWS, rows(TABLE), strict=True):
        number = r"\d[\d,]*(\.\d+)?"
        assert re.fullmatch(f"{number} {row.unit}", median)
        assert re.fullmatch(f"{number} to {number}", spread)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.about)
def test_the_commands_are_understood(row: Row) -> None:
    arguments = shlex.split(row.command)
    assert arguments[:3] == ["kruntimes", "bench", "engine"]
    command = bench.get_command(click.Context(bench), "engine")
    assert command is not None
    context = command.make_context("engine", arguments[3:])
    assert context.params["workloads"] == (row.workload,)
    assert row.workload in {workload.name for workload in WORKLOADS}


def test_a_figure_is_read_from_the_report() -> None:
    row = next(row for row in ROWS if row.share_of == 1_000)
    found = {"name": row.figure, "median": 1_500.0, "lowest": 40_000.0, "highest": 2_000_000.0}
    figures = row.read({"workloads": [{"figures": [{"name": "other", "median": 1.0}, found]}]})
    assert figures == (1.5, 40.0, 2_000.0)
    assert list(row.cells(figures))[1:3] == [f"1.5 {row.unit}", "40 to 2,000"]
