"""The options of the bench, and what is shown of its results: by tables, document and picture."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from kruntimes_core.cli.bench import report as showing
from kruntimes_core.cli.bench.report import ROWS, page, report
from kruntimes_core.cli.main import main
from kruntimes_core.cli.output.screen import Screen
from kruntimes_core.lab.bench.live.load import BenchLoad, BenchSettings, Mode
from kruntimes_core.lab.bench.live.results import Results, RoundResult
from kruntimes_core.lab.bench.live.scheduler import SchedulerEndedError
from kruntimes_core.lab.invariants import Invariant, Violation

MEASURED: dict[str, float | None] = {
    "perSecond": 2 / 11,
    "ceilingPerSecond": 1.5,
    "shareOfCeiling": 2 / 11 / 1.5,
    "p50Seconds": 0.5,
    "p95Seconds": 2.0,
    "p99Seconds": 2.0,
    "firstSeconds": 0.25,
    "writesPerRun": 1.0,
    "eventsPerRun": 2.0,
    "writesBeside": 3,
    "startProcessorSeconds": 0.75,
    "processorSecondsPerRun": 0.002,
    "residentBytes": 80 * 2**20,
    "peakBytes": 81 * 2**20,
    "benchProcessorSeconds": 0.01,
    "lateSeconds": 0.002,
}
ROUND = RoundResult(
    number=1,
    expected=3,
    placements=[(0.0, 0.25), (1.0, 0.5), (11.0, 2.0)],
    created_at=[0.0, 0.5, 9.0],
    seconds=11.0,
    figures=MEASURED,
)
RESULTS = Results(
    bench="0123abcd",
    started_at="2026-01-02T03:04:05Z",
    server="https://127.0.0.1:6443",
    version="v1.37.2",
    processors=2,
    load_average=0.5,
    command=["scheduler", "--flag=<b>"],
    pid=None,
    load=BenchLoad(runs=3, pods=1),
    in_flight=32,
    rounds=[ROUND],
    ceiling=[[1.0], [3.0]],
    violations=[],
    gaps=0,
)
BROKEN = replace(RESULTS, violations=[Violation(rule, f"run ns/{rule.value}: said") for rule in Invariant])


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[BenchSettings]:
    """What was asked of a bench that measures nothing, and gives `RESULTS`."""
    seen: list[BenchSettings] = []

    async def measure(settings: BenchSettings, *_: object) -> Results:
        seen.append(settings)
        return RESULTS

    monkeypatch.setattr(showing, "measure", measure)
    return seen


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line with which the command ends."""
    assert main(["bench", *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    return shown.err


def test_the_defaults_are_those_of_the_load(asked: list[BenchSettings]) -> None:
    assert main(["bench"]) == 0
    assert asked == [BenchSettings()]


def test_one_of_each_is_no_plural() -> None:
    load = BenchLoad(mode=Mode.OPEN, rate=1.0, seconds=1.0, pods=1, slots=1, cohorts=1)
    one = replace(RESULTS, load=load, rounds=[replace(ROUND, expected=1)], processors=1)
    lines = list(report(one, 10.0, Screen()))
    assert lines[0] == "open: 1 Run a second for 1 s on 1 Pod of 1 slot, 1 namespace, 1 Runtime, 1 cohort"
    assert any(line.endswith(" of 1 Run") for line in lines)
    assert " 1 processor," in page(one)


def test_every_option_of_the_load_arrives(asked: list[BenchSettings]) -> None:
    wanted = BenchLoad(
        mode=Mode.OPEN,
        rate=7.5,
        seconds=3.0,
        pods=9,
        slots=8,
        duration=(0.5, 1.0),
        hopeless=2,
        waiting_elsewhere=3,
        namespaces=4,
        runtimes=5,
        heartbeat_seconds=0.0,
        cohorts=6,
        seed=11,
    )
    words = (
        "--mode open --rate 7.5 --seconds 3 --pods 9 --slots 8 --duration 500ms-1s --hopeless 2"
        " --waiting-elsewhere 3 --namespaces 4 --runtimes 5 --heartbeat 0 --cohorts 6 --seed 11"
    )
    assert main(["bench", *words.split()]) == 0
    assert asked[0].load == wanted
    changed = {
        one.name for one in fields(BenchLoad) if getattr(wanted, one.name) != getattr(BenchLoad(), one.name)
    }
    assert changed == {one.name for one in fields(BenchLoad)} - {"runs"}
    assert main(["bench", "--mode", "burst", "--runs", "5", "--duration", "0"]) == 0
    assert asked[1].load == BenchLoad(mode=Mode.BURST, runs=5)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--scheduler-cmd", "mine"], {"command": "mine"}),
        (["--no-scheduler"], {"external": True}),
        (["--scheduler-pid", "7"], {"external": True, "pid": 7}),
        (["--config", "c.yaml"], {"config": "c.yaml"}),
        (["--kubeconfig", "k", "--context", "c"], {"kubeconfig": "k", "context": "c"}),
        (["--repeat", "3", "--ceiling-patches", "9"], {"repeat": 3, "ceiling_patches": 9}),
        (["--in-flight", "8", "--patience", "2"], {"in_flight": 8, "patience_seconds": 2.0}),
        (["--yes-load-this-cluster"], {"anywhere": True}),
    ],
)
def test_every_other_option_arrives(
    asked: list[BenchSettings], arguments: list[str], expected: dict[str, Any]
) -> None:
    assert main(["bench", *arguments]) == 0
    assert asked == [replace(BenchSettings(), **expected)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--rate 5", "--rate has no effect with --mode drain: leave it out"),
        ("--mode open --runs 5", "--runs has no effect with --mode open"),
        ("--no-scheduler --scheduler-pid 7", "--no-scheduler and --scheduler-pid exclude each other"),
        (
            "--scheduler-cmd x --config y",
            "--config is for the scheduler of kruntimes, not for --scheduler-cmd",
        ),
        ("--no-scheduler --waiting-elsewhere 5", "choose another mode"),
        ("--pods 1 engine", "--pods is not an option of engine"),
        ("--pods 1 --namespaces 2", "--pods 1 is too few"),
        ("--mode open --rate nan", "nan is not a finite number"),
        ("--mode open --seconds inf", "inf is not a finite number"),
        ("--heartbeat nan", "nan is not a finite number"),
        ("--mode open --rate 1e9 --seconds 1e9", "give a lower --rate or fewer --seconds"),
        ("--runs 1000001", "a round of 1000001 Runs is more than 1000000: give fewer --runs"),
        ("--runs 1" + "0" * 30, "a round of 1e+30 Runs is more than 1000000: give fewer --runs"),
        (
            "--mode open --rate 1e-300",
            "a round of 3e-299 Runs measures nothing: give a higher --rate or more --seconds",
        ),
        ("--window 1e-9", "invalid value for '--window': 1e-09 is not in the range x>=0.1"),
        ("--scheduler-cmd {other}", "no such placeholder {other}"),
        (
            "--scheduler-cmd /no/such",
            "cannot start /no/such: No such file or directory: correct --scheduler-cmd",
        ),
        ("--scheduler-cmd no-such-program", "cannot start no-such-program: No such file"),
        ("--scheduler-cmd /dev/null", "cannot start /dev/null: Permission denied"),
        ("--config /no/such.yaml", "/no/such.yaml: no such file or directory"),
        ("--cohorts 100 --runs 5", "--cohorts 100 are too many: a namespace and Runtime gets 5 of the Runs"),
        ("--duration soon", "'soon' is not a valid duration"),
        ("--html /no/such/folder/page.html", "cannot be written: name a file in a folder that exists"),
        ("--kubeconfig /no/such/file", "no such file: name a kubeconfig"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(
    arguments: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert words in refused(capsys, *arguments.split())


def test_a_server_elsewhere_is_refused_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "config"
    path.write_text(
        json.dumps(
            {
                "current-context": "far",
                "clusters": [{"name": "far", "cluster": {"server": "http://192.0.2.1:6443"}}],
                "users": [{"name": "far", "user": {}}],
                "contexts": [{"name": "far", "context": {"cluster": "far", "user": "far"}}],
            }
        )
    )
    line = refused(capsys, "--kubeconfig", str(path))
    assert line.startswith("error: http://192.0.2.1:6443 (context far of ")
    assert "is not on this machine" in line


def test_the_last_lines_of_a_scheduler_that_ended_come_before_the_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def measure(*_: object) -> Results:
        raise SchedulerEndedError("the scheduler ended", ["first", "\x1b[2Jsecond"])

    monkeypatch.setattr(showing, "measure", measure)
    assert main(["bench"]) == 2
    assert capsys.readouterr().err == "  first\n  \\x1b[2Jsecond\nerror: the scheduler ended\n"


@pytest.mark.parametrize(
    ("results", "code"),
    [
        (RESULTS, 0),
        (BROKEN, 1),
        (replace(RESULTS, gaps=1), 1),
        (replace(RESULTS, rounds=[replace(ROUND, expected=4)]), 1),
    ],
)
def test_the_exit_code_is_the_verdict(results: Results, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    async def measure(*_: object) -> Results:
        return results

    monkeypatch.setattr(showing, "measure", measure)
    assert main(["bench"]) == code


def lines(results: Results) -> Sequence[str]:
    return list(report(results, 10.0, Screen()))


def test_the_report_shows_what_was_measured() -> None:
    text = "\n".join(lines(RESULTS))
    assert text.startswith("drain: 3 Runs on 1 Pod of 3 slots, 1 namespace, 1 Runtime\n")
    for name, value in {
        "placements a second": "0.2",
        "bare patches a second: the ceiling": "1.5",
        "share of the ceiling": "12%",
        "latency p50": "500.0 ms",
        "latency p99": "2.00 s",
        "processor time for a Run": "2.00 ms",
        "memory": "80 MiB",
    }.items():
        assert re.search(rf"^{re.escape(name)} +{re.escape(value)} ", text, re.MULTILINE), name
    assert re.search(r"^1 +10\.0s +11\.0s +1 +1\.0 +2\.00 s", text, re.MULTILINE)
    assert text.endswith("placed: 3 of 3 Runs\nevery rule was kept")


def test_every_figure_has_a_row_and_what_nobody_knows_has_none() -> None:
    assert list(ROWS) == list(MEASURED)
    nobody_knows = dict.fromkeys(["residentBytes", "peakBytes", "processorSecondsPerRun"])
    unknown = replace(ROUND, figures={**MEASURED, **nobody_knows})
    text = "\n".join(lines(replace(RESULTS, rounds=[unknown])))
    assert "processor time for a Run" not in text
    assert re.search(r"^memory ", text, re.MULTILINE) is None


def test_what_says_nothing_is_not_shown() -> None:
    missing = {"shareOfCeiling": "share of the ceiling", "perSecond": "placements a second"}
    few = replace(RESULTS, rounds=[replace(ROUND, figures={**MEASURED, **dict.fromkeys(missing)})])
    shown = [line.partition("  ")[0] for line in lines(few)]
    document = few.document(10.0)
    for key, name in missing.items():
        assert name not in shown
        assert f"<td>{name}</td>" not in page(few)
        assert document["rounds"][0][key] is document["summary"][key] is None


def test_a_window_that_is_too_short_has_no_rate() -> None:
    short = replace(RESULTS, rounds=[replace(ROUND, seconds=10.05)])
    *_, last = short.document(10.0)["rounds"][0]["windows"]
    assert (last["placed"], last["perSecond"]) == (1, None)
    assert re.search(r"^1 +10\.0s +10\.1s +1 +<none> +2\.00 s", "\n".join(lines(short)), re.MULTILINE)
    at_once = replace(RESULTS, rounds=[replace(ROUND, seconds=0.01)])
    assert '<path class="rate"' not in page(at_once)


def test_a_rule_that_was_broken_is_named_in_a_line() -> None:
    shown = lines(BROKEN)
    for rule in Invariant:
        assert f"broken: {rule.value}, 1 time, first: run ns/{rule.value}: said" in shown
    assert "every rule was kept" not in shown


def test_a_server_that_is_not_real_is_called_so() -> None:
    embedded = replace(RESULTS, version="v1.37.2+kruntimes-dev")
    words = "its figures say nothing about a real cluster"
    assert any(words in line for line in lines(embedded))
    assert words in page(embedded)
    assert not any(words in line for line in lines(RESULTS))


def test_json_is_nothing_but_the_document(
    asked: list[BenchSettings], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "-o", "json", "--window", "5"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["apiVersion"] == "kruntimes.io/bench/v1"
    assert [window["to"] for window in document["rounds"][0]["windows"]] == [5.0, 10.0, 11.0]
    assert document["summary"]["shareOfCeiling"]["median"] == round(2 / 11 / 1.5, 6)


def test_the_picture_needs_no_other_file_and_shows_foreign_text_as_text(tmp_path: Path) -> None:
    html = page(BROKEN)
    assert "<script" not in html
    assert not re.findall(r"(?:src|href|url)\s*[=(]", html)
    assert "prefers-color-scheme: dark" in html
    assert "--flag=&lt;b&gt;" in html
    assert html.count("<svg") == 2
    assert html.count('<path class="p99"') == 1


def test_the_picture_is_written_beside_the_table(
    asked: list[BenchSettings], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "--html", str(tmp_path / "page.html")]) == 0
    assert (tmp_path / "page.html").read_text() == page(RESULTS)
    assert "placements a second" in capsys.readouterr().out


def test_a_round_without_a_placement_is_drawn_too() -> None:
    nothing = replace(ROUND, placements=[], seconds=0.0)
    assert page(replace(RESULTS, rounds=[nothing])).count("<svg") == 2
