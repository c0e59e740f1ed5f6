"""What `python -m performance live` measures, forgets and writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import performance.__main__ as command
import pytest
from click.testing import CliRunner, Result
from performance.live.measuring import FailedError
from performance.live.results import Results
from performance.live.workloads import WORKLOADS, Workload, named

from tests.unit.support.performance.conftest import recorded

ONE, OTHER = named("drain-1000"), named("open")


class Called:
    """What was measured, and how many reports there were when the page was written."""

    def __init__(self) -> None:
        self.measured: list[tuple[list[str], int]] = []
        self.written: list[int] = []
        self.failure: BaseException | None = None

    def measure(self, workloads: Sequence[Workload], rounds: int, *_: Any) -> None:
        self.measured.append(([one.name for one in workloads], rounds))
        if self.failure is not None:
            raise self.failure

    def write(self, results: Results) -> None:
        self.written.append(sum(len(results.rounds(one)) for one in WORKLOADS))


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> Called:
    called = Called()
    monkeypatch.setattr(command, "measure", called.measure)
    monkeypatch.setattr(command, "write_live", called.write)
    return called


@pytest.fixture
def live(results: Results) -> Any:
    """Call it, on results that have a report of two workloads."""
    for workload in (ONE, OTHER):
        results.keep(workload, 1, recorded(workload.name))

    def call(*arguments: str) -> Result:
        return CliRunner().invoke(command.main, ["live", f"--results={results.folder}", *arguments])

    return call


def test_all_is_measured_anew_in_three_rounds(called: Called, live: Any) -> None:
    assert live().exit_code == 0
    assert called.measured == [([one.name for one in WORKLOADS], 3)]
    assert called.written == [0]


def test_what_is_not_chosen_stays_as_it_is(called: Called, live: Any) -> None:
    assert live("--only", "open", "--rounds", "2").exit_code == 0
    assert called.measured == [(["open"], 2)]
    assert called.written == [1]


@pytest.mark.parametrize("argument", ["--resume", "--rounds=0"])
def test_nothing_is_forgotten_when_it_goes_on_or_only_writes(
    called: Called, live: Any, argument: str
) -> None:
    assert live(argument).exit_code == 0
    assert called.written == [2]


def test_benches_that_are_no_good_are_told_after_all_others_are_written(called: Called, live: Any) -> None:
    called.failure = FailedError("measure again with --resume: round 1, open: no report")
    ended = live("--resume")
    assert ended.exit_code == 1
    assert ended.output == "Error: measure again with --resume: round 1, open: no report\n"
    assert called.written == [2]


def test_whoever_interrupts_it_finds_the_page_as_it_was(called: Called, live: Any) -> None:
    called.failure = KeyboardInterrupt()
    assert live("--resume").exit_code != 0
    assert called.written == []


def test_a_workload_that_there_is_not_is_refused(called: Called, live: Any) -> None:
    ended = live("--only", "drain")
    assert ended.exit_code == 2
    assert "'drain' is not one of" in ended.output
    assert called.measured == []
