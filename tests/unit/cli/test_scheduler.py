"""The options of `kruntimes scheduler`, and the line with which it refuses to start."""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from pathlib import Path

import click
import pytest

from kruntimes_core.cli.main import main
from kruntimes_core.cli.scheduler import serve as serving
from kruntimes_core.cli.scheduler.command import SchedulerOptions, scheduler


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[SchedulerOptions]:
    """What was asked of a scheduler that does not start."""
    seen: list[SchedulerOptions] = []
    monkeypatch.setattr(serving, "serve", seen.append)
    return seen


def options(parsed: list[SchedulerOptions], *arguments: str) -> SchedulerOptions:
    assert main(["scheduler", *arguments]) == 0
    return parsed[-1]


def refused(capsys: pytest.CaptureFixture[str], arguments: Sequence[str]) -> str:
    """The one line with which the command ends."""
    assert main(["scheduler", *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    return shown.err


@pytest.fixture
def unreachable(tmp_path: Path) -> str:
    """A kubeconfig of a server that is not there."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    path = tmp_path / "config"
    cluster = {"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}
    context = {"name": "one", "context": {"cluster": "c", "user": "u"}}
    users = [{"name": "u", "user": {}}]
    path.write_text(
        json.dumps({"current-context": "one", "clusters": [cluster], "contexts": [context], "users": users})
    )
    return str(path)


def test_the_defaults_are_those_of_the_reference(parsed: list[SchedulerOptions]) -> None:
    assert options(parsed) == SchedulerOptions(
        leader_elect=False,
        leader_elect_lease_duration=15.0,
        leader_elect_renew_deadline=10.0,
        leader_elect_retry_period=2.0,
        lease_namespace=None,
        metrics_bind_address=":8080",
        health_probe_bind_address=":8081",
    )


@pytest.mark.parametrize(
    ("arguments", "elected"),
    [
        (["--leader-elect"], True),
        (["-leader-elect"], True),
        (["--leader-elect=true"], True),
        (["-leader-elect=T"], True),
        (["--leader-elect=1"], True),
        (["--leader-elect=false"], False),
        (["-leader-elect=0"], False),
        (["--leader-elect", "--v=1"], True),
    ],
)
def test_truth_is_written_as_in_go(
    parsed: list[SchedulerOptions], arguments: list[str], elected: bool
) -> None:
    assert options(parsed, *arguments).leader_elect is elected


@pytest.mark.parametrize("level", [["-v2"], ["-v=2"], ["-v", "2"], ["--v=2"], ["--v", "2"]])
def test_verbosity_is_written_as_in_go_and_as_elsewhere(
    parsed: list[SchedulerOptions], level: list[str]
) -> None:
    assert options(parsed, *level).verbosity == 2


def test_durations_are_written_as_in_go(parsed: list[SchedulerOptions]) -> None:
    asked = options(
        parsed,
        "-leader-elect-lease-duration=1m30s",
        "--leader-elect-renew-deadline",
        "1.5s",
        "--leader-elect-retry-period=250ms",
    )
    assert asked.leader_elect_lease_duration == 90
    assert asked.leader_elect_renew_deadline == 1.5
    assert asked.leader_elect_retry_period == 0.25


@pytest.mark.parametrize("dashes", ["-", "--"])
def test_one_dash_or_two(parsed: list[SchedulerOptions], dashes: str) -> None:
    asked = options(
        parsed,
        f"{dashes}metrics-bind-address=:1",
        f"{dashes}health-probe-bind-address",
        ":2",
        f"{dashes}v=2",
        f"{dashes}log-format=json",
        f"{dashes}context",
        "one",
    )
    assert (asked.metrics_bind_address, asked.health_probe_bind_address) == (":1", ":2")
    assert (asked.verbosity, asked.log_format, asked.context) == (2, "json", "one")


def test_namespaces_come_with_commas_or_many_times(parsed: list[SchedulerOptions]) -> None:
    asked = options(parsed, "--namespaces=team-a, team-b", "--namespaces", "team-c", "--namespaces=team-a")
    assert asked.namespaces == ("team-a", "team-b", "team-c")


@pytest.mark.parametrize(
    ("arguments", "dry", "form"),
    [
        ([], False, None),
        (["--dry-run"], True, None),
        (["-dry-run=true", "-o", "json"], True, "json"),
        (["--dry-run", "--leader-elect", "--output=table"], True, "table"),
        (["--dry-run=false"], False, None),
    ],
)
def test_a_dry_run_is_asked_for_as_in_go(
    parsed: list[SchedulerOptions], arguments: list[str], dry: bool, form: str | None
) -> None:
    asked = options(parsed, *arguments)
    assert (asked.dry_run, asked.output) == (dry, form)


def test_every_option_says_what_it_does() -> None:
    assert all(isinstance(option, click.Option) and option.help for option in scheduler.params)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--leader-elect-lease-duration=15"], "'15' is not a valid duration: write 15s or 1m30s"),
        (
            ["--leader-elect", "--leader-elect-lease-duration=11s"],
            "-lease-duration 11s is too short: make it 12s",
        ),
        (["--leader-elect", "--leader-elect-lease-duration=10s"], "-lease-duration 10s is too short"),
        (
            ["--leader-elect", "--leader-elect-retry-period=9s"],
            "longer than 1.2 times --leader-elect-retry-period",
        ),
        (["--leader-elect", "--leader-elect-retry-period=0s"], "-retry-period must be longer than 0"),
        (["--leader-elect", "--leader-elect-retry-period=-1s"], "-retry-period must be longer than 0"),
        (["--leader-elect=maybe"], "'maybe' is not a valid boolean: write true or false"),
        (["--namespaces="], "a name is empty: leave the option out"),
        (["--namespaces=a,,b"], "a name is empty"),
        (["--namespaces=a,Team_B"], "'Team_B' is not a valid namespace name"),
        (["--namespaces=a/../b"], "'a/../b' is not a valid namespace name"),
        (["--metrics-bind-address=8080"], "--metrics-bind-address '8080' is not a valid address"),
        (["--health-probe-bind-address=x"], "--health-probe-bind-address 'x' is not a valid address"),
        (["--config=/none"], "/none"),
        (["--kubeconfig=/none"], "--kubeconfig /none: no such file"),
        (["-o", "json"], "-o is the form of a dry run's report: add --dry-run"),
        (["--dry-run", "-o", "yaml"], "'yaml' is not one of 'table', 'json'"),
        (["--frob"], "no such option '--frob'"),
        (["-frob"], "no such option '--frob'"),
        (["-frob=1"], "no such option '--frob'"),
        (["-leader-elekt"], "no such option '--leader-elekt'. (Did you mean one of: '--leader-elect'"),
        (["-vx"], "'x' is not a valid integer"),
        (["--v=-1"], "-1 is not in the range"),
        (["more"], "got unexpected extra argument"),
    ],
)
def test_what_cannot_start_is_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], named: str
) -> None:
    assert named in refused(capsys, arguments)


def test_no_kubeconfig_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    assert "give --kubeconfig FILE" in refused(capsys, [])


def test_a_lease_that_is_nowhere_is_one_line(
    capsys: pytest.CaptureFixture[str], unreachable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("POD_NAMESPACE", raising=False)
    line = refused(capsys, [f"--kubeconfig={unreachable}", "--leader-elect"])
    assert "the namespace of the Lease is not known: give --lease-namespace" in line


def test_a_server_that_is_not_there_is_one_line(
    capsys: pytest.CaptureFixture[str], unreachable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kruntimes_core.cluster.client.connection.PATIENCE_SECONDS", 0.1)
    line = refused(capsys, [f"--kubeconfig={unreachable}"])
    assert "cannot reach the API server at http://127.0.0.1:" in line
    assert "context one of" in line
    assert "no connection: " in line
