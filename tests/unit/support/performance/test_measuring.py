"""In which order benches are run, on which servers, and what a measurement that broke off costs."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from performance.live.measuring import FailedError, measure, run_bench
from performance.live.results import Document, Results, default_folder
from performance.live.workloads import WORKLOADS, Workload, chosen, named

from tests.unit.support.performance.conftest import recorded

ONE, OTHER = named("drain-1000"), named("drain-5000")
LONG = replace(named("start"), most_rounds=1)


class Stage:
    """Servers and benches that note what is asked of them."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.bad: list[str] = []
        """Workloads whose benches are no good."""
        self.most: int | None = None
        """So many benches are measured, and then somebody has enough."""

    @contextmanager
    def servers(self) -> Iterator[Path]:
        self.asked.append("servers")
        yield Path("kubeconfig")

    def bench(self, workload: Workload, kubeconfig: Path) -> Document:
        assert kubeconfig == Path("kubeconfig")
        if self.most is not None and len(self.asked) - self.asked.count("servers") >= self.most:
            raise KeyboardInterrupt
        if workload.name in self.bad:
            raise FailedError("no good")
        self.asked.append(workload.name)
        return recorded("drain-1000")


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_what_is_compared_is_measured_in_turn_on_servers_of_that_round(
    stage: Stage, results: Results
) -> None:
    measure([ONE, OTHER], 2, results, stage.bench, stage.servers)
    assert stage.asked == ["servers", "drain-1000", "drain-5000", "servers", "drain-1000", "drain-5000"]
    assert list(results.rounds(ONE)) == list(results.rounds(OTHER)) == [1, 2]


def test_one_that_takes_long_is_measured_less_often(stage: Stage, results: Results) -> None:
    measure([ONE, LONG], 2, results, stage.bench, stage.servers)
    assert stage.asked == ["servers", "drain-1000", "start", "servers", "drain-1000"]


def test_one_that_is_no_good_is_told_of_at_the_end_and_keeps_nobody_from_being_measured(
    stage: Stage, results: Results
) -> None:
    stage.bad = ["drain-1000"]
    with pytest.raises(FailedError, match="--resume: round 1, no good; round 2, no good"):
        measure([ONE, OTHER], 2, results, stage.bench, stage.servers)
    assert stage.asked == ["servers", "drain-5000", "servers", "drain-5000"]
    assert results.rounds(ONE) == {}


def test_a_measurement_that_broke_off_goes_on_from_there(stage: Stage, results: Results) -> None:
    stage.most = 3
    with pytest.raises(KeyboardInterrupt):
        measure([ONE, OTHER], 2, results, stage.bench, stage.servers)
    stage.most, stage.asked = None, []
    measure([ONE, OTHER], 2, results, stage.bench, stage.servers)
    assert stage.asked == ["servers", "drain-5000"]
    stage.asked = []
    measure([ONE, OTHER], 2, results, stage.bench, stage.servers)
    assert stage.asked == []


def test_a_report_of_another_command_does_not_count(results: Results) -> None:
    results.keep(ONE, 1, recorded("drain-1000"))
    changed = replace(ONE, arguments="--runs 7")
    assert results.kept(ONE, 1) == recorded("drain-1000")
    assert results.kept(changed, 1) is None
    assert results.rounds(changed) == {}


def test_what_is_measured_anew_is_forgotten_and_nothing_else(results: Results) -> None:
    many = named("open-many")
    for workload in (named("open"), many):
        results.keep(workload, 1, recorded("drain-1000"))
    results.forget(named("open"))
    assert results.rounds(named("open")) == {}
    assert list(results.rounds(many)) == [1]


def test_rounds_are_in_their_order(results: Results) -> None:
    for number in (10, 9, 1):
        results.keep(ONE, number, recorded("drain-1000"))
    assert list(results.rounds(ONE)) == [1, 9, 10]


def test_results_are_kept_in_the_cache_of_the_user() -> None:
    assert default_folder({"XDG_CACHE_HOME": "/cache"}) == Path("/cache/kruntimes/performance")
    assert default_folder({}).parts[-3:] == (".cache", "kruntimes", "performance")


def test_workloads_are_chosen_by_name_and_stay_in_their_order() -> None:
    assert chosen([]) == list(WORKLOADS)
    assert [one.name for one in chosen(["open", "drain-1000", "open"])] == ["drain-1000", "open"]
    with pytest.raises(LookupError, match="no workload is called drain: there are burst-50, "):
        chosen(["drain"])


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a bench prints, in place of running one; the command that was run is put behind it."""
    said: list[str] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        said.append(" ".join(command[1:]))
        return subprocess.CompletedProcess(command, 1, stdout=said[0])

    monkeypatch.setattr(subprocess, "run", run)
    return said


def test_a_bench_is_the_command_of_its_workload(printed: list[str]) -> None:
    printed.append(json.dumps(recorded("drain-1000")))
    assert run_bench(ONE, Path("/k")) == recorded("drain-1000")
    assert printed[1] == f"-m kruntimes_core.cli bench {ONE.arguments} --kubeconfig /k -o json"


def test_a_bench_without_a_report_is_no_good(printed: list[str]) -> None:
    printed.append("")
    with pytest.raises(FailedError, match="drain-1000: no report, exit code 1"):
        run_bench(ONE, Path("/k"))


def test_a_bench_that_found_something_wrong_says_what(printed: list[str]) -> None:
    document = recorded("drain-1000")
    document["passed"] = False
    document["invariants"][0].update(broken=2, first="run a/b: sold twice")
    printed.append(json.dumps(document))
    with pytest.raises(FailedError, match="by the rules, or not all was seen: run a/b: sold twice"):
        run_bench(ONE, Path("/k"))
