"""A development cluster ends by itself, or when it is told to; and leaves nothing behind."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from devcluster import COMMAND, ended, environment, running

QUICK = ("--duration", "50ms", "--exit-when-done")


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_fifty_runs_are_placed_executed_and_summed_up(tmp_path: Path) -> None:
    done = ended(tmp_path, "--runs", "50", *QUICK, "-o", "json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["apiVersion"] == "kruntimes.io/dev/v1"
    assert document["runs"] == {
        "created": 50,
        "succeeded": 50,
        "failed": 0,
        "timeout": 0,
        "cancelled": 0,
        "notEnded": 0,
    }
    assert document["finished"] is True
    assert (document["placements"], document["retries"]) == (50, 0)
    assert set(document["pods"]) == {"py-0", "py-1", "py-2"}
    assert sum(document["pods"].values()) == 50
    assert document["plugins"][0]["name"] == "RuntimePodAvailability"
    assert 0 < document["placingSeconds"] <= document["seconds"]
    first, kubeconfig, *_ = done.stderr.splitlines()
    assert first.startswith("serving the Kubernetes API on http://127.0.0.1:")
    assert kubeconfig.startswith("  export KUBECONFIG=")
    assert "Warning" not in done.stderr
    assert files(tmp_path) == []


def test_a_summary_for_people_is_the_last_line(tmp_path: Path) -> None:
    done = ended(tmp_path, "--runs", "3", "--runtime", "a", "--runtime", "b", *QUICK)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].startswith("3 Runs: 3 Succeeded; 3 placements in ")


def test_runs_that_fail_make_it_a_no(tmp_path: Path) -> None:
    done = ended(tmp_path, "--runs", "4", "--failure-rate", "1", *QUICK, "-o", "json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["runs"]["failed"] == 4


def test_a_demo_of_some_runs_ends_too(tmp_path: Path) -> None:
    done = ended(tmp_path, "--demo", "--runs", "9", "--failure-rate", "0", *QUICK, "-o", "json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["runs"]["succeeded"] == 9
    assert {pod.partition("-")[0] for pod in document["pods"]} == {"py", "node", "sql"}


@pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name
)
def test_it_stops_cleanly_when_it_is_told_to(tmp_path: Path, number: signal.Signals) -> None:
    with running(tmp_path, "--demo") as dev:
        assert dev.url().startswith("http://127.0.0.1:")
        dev.out.wait(lambda text: "placed: " in text)
        assert len(files(tmp_path)) == 1
        assert dev.end(number) == 0
        last = dev.out.whole().splitlines()[-1]
        assert re.fullmatch(r"\d+ Runs?: .+; \d+ placements? in .+", last)
        assert dev.errors.whole() == ""
    assert files(tmp_path) == []


def test_open_watches_do_not_hold_it_up(tmp_path: Path) -> None:
    with running(tmp_path) as dev:
        host, _, port = dev.url().removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), timeout=30) as client:
            client.sendall(
                b"GET /apis/kruntimes.io/v1alpha1/runs?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n"
            )
            assert client.recv(1000).startswith(b"HTTP/1.1 200 OK")
            assert dev.end() == 0
        assert dev.errors.whole() == ""


def test_it_ends_when_nobody_reads_any_more(tmp_path: Path) -> None:
    ours, theirs = os.pipe()
    process = subprocess.Popen(
        [COMMAND, "dev"], stdout=theirs, stderr=subprocess.PIPE, text=True, env=environment(tmp_path)
    )
    os.close(theirs)
    with open(ours) as out, process:
        assert out.readline().startswith("serving the Kubernetes API on ")
        out.close()
        assert process.wait(timeout=30) == 141
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert files(tmp_path) == []


def test_interrupted_before_all_has_ended_is_a_no(tmp_path: Path) -> None:
    with running(tmp_path, "--runs", "2", "--duration", "1h", "--exit-when-done", "-o", "json") as dev:
        dev.errors.wait(lambda text: "2 Running" in text)
        assert dev.end() == 1
        document = json.loads(dev.out.whole())
        assert (document["finished"], document["runs"]["notEnded"]) == (False, 2)


def test_a_port_in_use_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = ended(tmp_path, "--port", str(port))
    assert (done.returncode, done.stdout) == (2, "")
    told = f"cannot listen on 127.0.0.1:{port}: the port is in use: choose another --port"
    assert done.stderr == f"error: {told}\n"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--duration", "soon"], "'soon' is not a valid duration: write 2s, 500ms, or a range such as 1s-5s"),
        (["--duration", "5s-1s"], "'5s-1s' is not a valid duration"),
        (["--duration", "0s"], "'0s' is not a valid duration"),
        (["--capacity", "runs"], "'' is not a valid amount of runs: write a positive quantity"),
        (["--capacity", "runs=0"], "'0' is not a valid amount of runs"),
        (["--capacity", "a/b=1"], "'a/b=1' does not name a resource: write it as runs=4,cpu=8"),
        (["--capacity", "cpu=1,cpu=2"], "cpu is given twice: keep one"),
        (["--runtime", "Py"], "'Py' is not a valid name"),
        (["--runtime", "a", "--runtime", "a"], "a is given twice: name each Runtime once"),
        (["--exit-when-done"], "--exit-when-done needs an end: add --runs N"),
        (["--failure-rate", "2"], "2.0 is not in the range"),
        (["--failure-rate", "nan"], "nan is not a finite number"),
        (["--runs", "0"], "0 is not in the range"),
        (["--config", "nowhere.yaml"], "nowhere.yaml"),
        (["--kubeconfig-out", "/proc/none"], "cannot write the kubeconfig /proc/none"),
    ],
)
def test_what_cannot_be_is_one_line(tmp_path: Path, arguments: list[str], problem: str) -> None:
    done = ended(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert problem in line


def test_the_kubeconfig_of_one_that_serves_is_not_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "config"
    with running(tmp_path, "--kubeconfig-out", str(path)) as dev:
        url = dev.url()
        done = ended(tmp_path, "--kubeconfig-out", str(path))
        assert (done.returncode, done.stdout) == (2, "")
        assert (
            f"{path} belongs to another kruntimes dev that is still running: stop it, or choose another"
            in done.stderr
        )
        assert url in path.read_text()
        assert dev.end() == 0
    assert files(tmp_path) == []


def test_somebody_elses_kubeconfig_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text("kind: Config\n")
    done = ended(tmp_path, "--kubeconfig-out", str(path))
    assert done.returncode == 2
    assert "is not from kruntimes dev" in done.stderr
    assert path.read_text() == "kind: Config\n"
