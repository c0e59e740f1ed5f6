"""From recorded reports to the tables of the page."""

from __future__ import annotations

from pathlib import Path

import pytest
from performance.live.results import Results
from performance.live.tables import COLUMNS, commands, figures, further_namespaces, where
from performance.live.targets import TARGETS, Target, targets
from performance.live.workloads import WORKLOADS, named
from performance.live.writing import (
    FIGURES_SECTION,
    TARGETS_SECTION,
    WORKLOADS_SECTION,
    write_live,
)
from performance.page import END, begin, shown, write
from performance.shown import ends, megabytes, middle, milliseconds, number, spread

from tests.unit.support.performance.conftest import Kept, recorded

SECTIONS = (WORKLOADS_SECTION, FIGURES_SECTION, TARGETS_SECTION)


def test_a_row_has_what_the_report_says(kept: Kept, results: Results) -> None:
    kept("drain-1000", 1)
    summary = recorded("drain-1000")["summary"]
    headings, _, row = figures(results)
    cells = dict(zip(headings.strip("| ").split(" | "), row.strip("| ").split(" | "), strict=True))
    assert cells["workload"] == "`drain-1000`"
    assert cells["placed a second"] == f"{summary['perSecond']['median']:.0f}"
    assert cells["share of the ceiling"] == f"{summary['shareOfCeiling']['median']:.0%}"
    assert cells["p50, ms"] == f"{summary['p50Seconds']['median'] * 1_000:,.0f}"
    assert cells["writes a Run"] == "1.00"
    assert cells["processor a Run, ms"] == f"{summary['processorSecondsPerRun']['median'] * 1_000:.2f}"
    assert cells["resident, MB"] == f"{summary['residentBytes']['median'] / 1e6:.0f}"


def test_rounds_are_shown_as_median_and_spread(kept: Kept, results: Results) -> None:
    for round_, rate in enumerate([300.0, 100.0, 200.0], 1):
        kept("drain-1000", round_, perSecond=rate)
    assert figures(results)[2].split(" | ")[1] == "200 (100 to 300)"


def test_the_rate_of_an_open_load_is_no_share_of_anything(kept: Kept, results: Results) -> None:
    kept("open", 1)
    place = [key for _, key, _ in COLUMNS].index("shareOfCeiling") + 1
    assert figures(results)[2].split(" | ")[place] == "-"


def test_what_is_not_known_is_no_figure(kept: Kept, results: Results) -> None:
    kept("drain-1000", 1, residentBytes=None)
    with pytest.raises(LookupError, match="does not know residentBytes"):
        figures(results)


def test_every_workload_has_its_command() -> None:
    lines = commands()[2:]
    assert len(lines) == len(WORKLOADS) == len({one.name for one in WORKLOADS})
    for line, workload in zip(lines, WORKLOADS, strict=True):
        assert line == f"| `{workload.name}` | {workload.about} | `kruntimes bench {workload.arguments}` |"


def test_it_is_said_where_it_was_measured(kept: Kept, results: Results) -> None:
    assert where(results) == "Nothing was measured yet."
    kept("drain-1000", 1)
    document = recorded("drain-1000")
    for text in (document["startedAt"][:10], document["server"]["version"], "2 processors"):
        assert text in where(results)
    assert where(results).endswith("in 1 round.")
    kept("drain-1000", 2)
    assert where(results).endswith("in 2 rounds.")


def test_it_is_said_what_was_measured_in_fewer_rounds(kept: Kept, results: Results) -> None:
    for name, rounds in (("drain-1000", 3), ("drain-5000", 1), ("open", 2), ("burst-50", 2)):
        for round_ in range(rounds):
            kept(name, round_ + 1)
    assert where(results).endswith("in 3 rounds (`burst-50`, `open` in 2; `drain-5000` in 1).")


RATIO = Target(
    about="x", workload="drain-5000", key="perSecond", base="drain-1000", at_least=0.9, at_most=1.1
)


def test_a_ratio_is_of_two_in_the_same_round(kept: Kept, results: Results) -> None:
    for round_, (rate, base) in enumerate([(90.0, 100.0), (60.0, 50.0), (100.0, 100.0)], 1):
        kept("drain-5000", round_, perSecond=rate)
        kept("drain-1000", round_, perSecond=base)
    kept("drain-5000", 4, perSecond=1.0)
    assert RATIO.values(results) == [0.9, 1.2, 1.0]
    assert RATIO.cells(results) == ("x", "1.00", "0.90 to 1.20", "0.90 to 1.10", "yes")


@pytest.mark.parametrize(
    ("at_least", "at_most", "bounds", "reached"),
    [
        (0.5, None, "at least 0.50", "yes"),
        (1.5, None, "at least 1.50", "no"),
        (None, 1.0, "at most 1.00", "yes"),
        (None, 0.9, "at most 0.90", "no"),
    ],
)
def test_a_bound_is_held_by_the_median(
    kept: Kept, results: Results, at_least: float | None, at_most: float | None, bounds: str, reached: str
) -> None:
    for round_, rate in enumerate([0.2, 1.0, 3.0], 1):
        kept("open", round_, perSecond=rate)
    target = Target(about="x", workload="open", key="perSecond", at_least=at_least, at_most=at_most)
    assert target.cells(results) == ("x", "1.00", "0.20 to 3.00", bounds, reached)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.about)
def test_a_target_is_of_workloads_and_figures_that_there_are(target: Target) -> None:
    assert named(target.workload)
    assert target.base is None or named(target.base)
    assert target.key in recorded("drain-1000")["summary"]
    assert (target.at_least, target.at_most) != (None, None)


def test_a_target_that_was_not_measured_has_no_row(kept: Kept, results: Results) -> None:
    assert len(targets(results)) == 2
    kept("drain-5000", 1)
    assert [line.split(" | ")[0] for line in targets(results)[2:]] == [
        "| share of the ceiling, 5,000 Runs wait",
        "| processor time of a placement, 5,000 Runs wait",
    ]


def test_the_watches_of_a_further_namespace_are_told_from_two_loads(kept: Kept, results: Results) -> None:
    kept("drain-1000", 1, residentBytes=80e6)
    assert further_namespaces(results).endswith("was not measured.")
    kept("drain-1000", 2, residentBytes=82e6)
    kept("drain-many", 1, residentBytes=130e6)
    assert "`--namespaces` takes 1.00 MB" in further_namespaces(results)


def test_numbers_have_two_digits_at_least() -> None:
    assert [number(value) for value in (0.004, 1.0, 9.99, 10.04, 19.96, 20.4, 1_234.5)] == [
        "0.00",
        "1.00",
        "9.99",
        "10.0",
        "20.0",
        "20",
        "1,234",
    ]
    assert (milliseconds(0.0015), megabytes(82_300_000)) == ("1.50", "82")
    assert (middle([], number), ends([], number)) == ("-", "-")
    assert spread([1.001, 1.002], number) == "1.00"


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.md"
    path.write_text("top\n" + "".join(f"{begin(one)}old {one}\n{END}between\n" for one in SECTIONS))
    return path


def test_the_page_keeps_everything_but_the_figures(kept: Kept, results: Results, page: Path) -> None:
    kept("drain-1000", 1)
    write_live(results, page)
    once = page.read_text()
    assert "old" not in once
    assert once.startswith("top\n")
    assert once.count("between\n") == len(SECTIONS)
    assert "`drain-1000`" in shown(FIGURES_SECTION, once)
    write_live(results, page)
    assert page.read_text() == once


def test_a_page_without_the_place_is_left_as_it_is(page: Path) -> None:
    before = page.read_text()
    with pytest.raises(LookupError, match="no place for the figures of nothing"):
        write("nothing", [], page)
    assert page.read_text() == before
