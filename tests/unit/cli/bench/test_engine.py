"""`kruntimes bench engine`: its options, its tables, its document."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, fields
from typing import Any

import pytest
from counting.effort import Ticks

from kruntimes_core.cli.bench import engine_tables
from kruntimes_core.cli.bench.engine_command import WORKLOADS, engine
from kruntimes_core.cli.bench.engine_tables import FIGURES, GROWTH, HOOKS
from kruntimes_core.cli.main import main
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.lab.bench.engine import workloads
from kruntimes_core.lab.bench.engine.shape import Shape
from kruntimes_core.model.pod import RuntimePod
from kruntimes_core.model.snapshot import Snapshot
from kruntimes_core.testing.plugins import fake_plugin, installed_profiles, profiles_of

TINY = ["--pods", "8", "--runs", "2", "--known", "20", "--waiting", "2", "--requests", "2", "--repeat", "2"]
Run = Callable[..., tuple[str, str]]


@pytest.fixture
def ticks(monkeypatch: pytest.MonkeyPatch) -> Ticks:
    """Times are those that a plugin spends, and no others."""
    ticks = Ticks()
    monkeypatch.setattr(engine_tables, "processor_clock", ticks)
    monkeypatch.setattr(engine_tables, "fine_clock", ticks)
    return ticks


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Measure a tiny cluster; gives both outputs."""

    def call(*arguments: str) -> tuple[str, str]:
        assert main(["bench", "engine", *TINY, *arguments]) == 0
        shown = capsys.readouterr()
        return shown.out, shown.err

    return call


@pytest.fixture
def with_plugin(monkeypatch: pytest.MonkeyPatch) -> Callable[[ActivePlugin], None]:
    """Let one more plugin be installed."""

    def put(plugin: ActivePlugin) -> None:
        (profile,) = installed_profiles().all
        monkeypatch.setattr(engine_tables, "build_profiles", lambda *_: profiles_of(*profile.plugins, plugin))

    return put


def tables(text: str) -> list[list[str]]:
    """The blocks of lines between empty lines."""
    return [block.splitlines() for block in text.rstrip().split("\n\n")]


def test_the_names_that_help_knows_are_the_workloads() -> None:
    assert tuple(workload.name for workload in workloads.WORKLOADS) == WORKLOADS


def test_the_defaults_are_those_of_the_shape() -> None:
    defaults = {parameter.name: parameter.default for parameter in engine.params}
    assert {field.name: defaults[field.name] for field in fields(Shape)} == asdict(Shape())


def test_figures_and_hooks_are_two_tables(run: Run, ticks: Ticks) -> None:
    out, err = run("--workload", "placements", "--workload", "heartbeats")
    about, figures, hooks = tables(out)
    assert about == [
        "pods 8, runs 2, known 20, waiting 2, requests 2, cohorts 50, preferences 20, namespaces 1,"
        " runtimes 1, seed 0"
    ]
    assert re.split(r"   +", figures[0]) == list(FIGURES)
    assert [line.split()[1] for line in figures if line.startswith("placements")] == [
        "arrive",
        "decide",
        "offer",
        "send",
        "echo",
        "end",
        "whole",
    ]
    assert re.split(r"   +", hooks[0]) == list(HOOKS)
    assert {line.split()[0] for line in hooks[1:]} == {"placements"}
    assert err == ""


def test_growth_is_a_third_table(run: Run, ticks: Ticks) -> None:
    out, _ = run("--workload", "heartbeats", "--growth")
    growth = tables(out)[-1]
    assert re.split(r"   +", growth[0]) == list(GROWTH)
    assert [re.split(r"   +", line)[:5] for line in growth[1:]] == [
        ["heartbeats", "pods", "1", "8", "whole"],
        ["heartbeats", "known", "2", "20", "whole"],
        ["heartbeats", "waiting", "1", "8", "whole"],
    ]
    assert all(re.fullmatch(r"-?\d+\.\d\d", re.split(r"   +", line)[-2]) for line in growth[1:])


def test_a_plugin_that_looks_at_everything_is_named_with_its_exponents(
    run: Run, ticks: Ticks, with_plugin: Callable[[ActivePlugin], None]
) -> None:
    def filter_(pod: RuntimePod, snapshot: Snapshot) -> None:
        ticks.spend(10_000 * len(snapshot.pods))

    with_plugin(fake_plugin("Nosy", filter=filter_))
    out, _ = run("--workload", "placements", "--growth", "--pods", "32", "--repeat", "1")
    growth = [re.split(r"   +", line) for line in tables(out)[-1]]
    named = {row[1]: row for row in growth if "Nosy" in row[4]}
    assert named["pods"][4] == "Nosy filter"
    time, calls = map(float, named["pods"][-2:])
    assert time == pytest.approx(2, abs=0.1)
    assert calls == pytest.approx(1, abs=0.15)
    assert not {"known", "requests"} & named.keys()


@pytest.mark.parametrize(("waiting", "said"), [(0.0, []), (0.05, []), (0.3, ["30%"])])
def test_what_others_did_meanwhile_is_said_under_the_hooks(
    monkeypatch: pytest.MonkeyPatch,
    run: Run,
    with_plugin: Callable[[ActivePlugin], None],
    waiting: float,
    said: list[str],
) -> None:
    processor, wall = Ticks(), Ticks()
    monkeypatch.setattr(engine_tables, "processor_clock", processor)
    monkeypatch.setattr(engine_tables, "fine_clock", wall)

    def filter_(pod: RuntimePod) -> None:
        processor.spend(round(1_000 * (1 - waiting)))
        wall.spend(1_000)

    with_plugin(fake_plugin("Slow", filter=filter_))
    out, err = run("--workload", "placements")
    notes = [line for line in tables(out)[2] if line.startswith("placements: hooks look dearer than they")]
    assert [re.findall(r"\d+%", line)[0] for line in notes] == said
    assert err == ""
    out, _ = run("--workload", "placements", "-o", "json")
    assert json.loads(out)["workloads"][0]["waited"] == pytest.approx(waiting, abs=0.001)


def test_a_run_that_no_plugin_places_is_noted(
    run: Run, ticks: Ticks, with_plugin: Callable[[ActivePlugin], None]
) -> None:
    from kruntimes_core import Reject

    with_plugin(fake_plugin("Never", reasons=["Never"], filter=lambda pod: Reject("Never")))
    _, err = run("--workload", "placements")
    assert err == "placements: 0 of 2 Runs found a Pod, and the others wait\n"
    _, err = run("--workload", "placements", "--runs", "1")
    assert err == "placements: 0 of 1 Run found a Pod, and the other waits\n"


def keys(value: Any) -> Any:
    """A document without its values: the keys, and one item of each list."""
    if isinstance(value, dict):
        return {key: keys(inner) for key, inner in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [keys(value[0])]
    return None


def test_the_document_has_these_keys(run: Run, ticks: Ticks) -> None:
    out, err = run("--workload", "placements", "--growth", "--repeat", "1", "-o", "json")
    document = json.loads(out)
    hook = {"plugin": None, "hook": None}
    figure = {"name": None, "unit": None}
    assert document["apiVersion"] == "kruntimes.io/bench-engine/v1"
    assert keys(document) == {
        "apiVersion": None,
        "kruntimes": None,
        "python": None,
        "shape": dict.fromkeys(asdict(Shape())),
        "repeat": None,
        "plugins": [dict.fromkeys(("name", "distribution", "version", "weight", "profile"))],
        "workloads": [
            {
                "name": None,
                "each": None,
                "figures": [{**figure, "median": None, "lowest": None, "highest": None}],
                "units": None,
                "placed": None,
                "waited": None,
                "hooks": [{**hook, "calls": None, "microseconds": None, "nanosecondsACall": None}],
            }
        ],
        "growth": [
            {
                "workload": None,
                "with": None,
                "sizes": None,
                "figures": [{**figure, "medians": None, "exponent": None}],
                "hooks": [
                    {
                        **hook,
                        "calls": None,
                        "callsExponent": None,
                        "microseconds": None,
                        "exponent": None,
                    }
                ],
            }
        ],
    }
    assert err == ""


def test_the_document_is_the_same_on_any_machine_but_for_times(run: Run, ticks: Ticks) -> None:
    arguments = ("--workload", "burst", "--workload", "freed-slot", "-o", "json", "--seed", "3")
    assert run(*arguments) == run(*arguments)


def test_all_workloads_are_measured_unless_some_are_named(run: Run) -> None:
    out, _ = run("--repeat", "1", "-o", "json")
    assert [workload["name"] for workload in json.loads(out)["workloads"]] == list(WORKLOADS)


def test_a_broken_plugin_is_one_line(
    capsys: pytest.CaptureFixture[str], with_plugin: Callable[[ActivePlugin], None]
) -> None:
    def fail(pod: RuntimePod) -> None:
        raise LookupError("no such thing")

    with_plugin(fake_plugin("Broken", filter=fail))
    assert main(["bench", "engine", *TINY, "--workload", "placements"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == (
        "error: plugin Broken (fake-broken 1.0) failed in filter: LookupError: no such thing:"
        " correct it, or leave it out by --config\n"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--workload", "placement"],
            "'placement' is not one of 'placements', 'burst'",
        ),
        (["--pods", "0"], "invalid value for '--pods': 0 is not in the range 1<=x<=1000000"),
        (["--waiting", "-1"], "invalid value for '--waiting': -1 is not in the range 0<=x<=1000000"),
        (["--repeat", "x"], "invalid value for '--repeat': 'x' is not a valid integer (see "),
        (["--config", "/no/such/file"], "/no/such/file"),
        (["-o", "yaml"], "invalid value for '-o' / '--output': 'yaml' is not one of 'table', 'json'"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "engine", *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert said in shown.err
    assert shown.err.startswith("error: ")
    assert shown.err.count("\n") == 1
