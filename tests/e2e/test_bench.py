"""The bench on a real API server: every mode with our scheduler, schedulers that err, and what is left."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kruntimes_core.lab.bench.live.load import BenchLoad, Mode
from kruntimes_core.lab.bench.objects import BENCH_LABEL
from realcluster.bench import Bench
from realcluster.client import NAMESPACES, PODS, RUNS
from realcluster.scheduler import COMMAND
from realcluster.servers import Cluster

FAULTS = ["overcommitted", "boundTwice", "emptyWrite"]
"""All of them are tried on the embedded server."""


def bad(fault: str) -> str:
    """The command of a scheduler that does one thing wrong."""
    return f"{sys.executable} -m badscheduler {fault} --kubeconfig {{kubeconfig}} --namespace {{namespaces}}"


def nothing_is_left(cluster: Cluster) -> bool:
    """Whether all that benches made is gone, but for empty namespaces that nobody ends here."""
    client = cluster.client()
    namespaces = client.list(NAMESPACES, labelSelector=BENCH_LABEL).body["items"]
    assert namespaces
    return all(one["status"]["phase"] == "Terminating" for one in namespaces) and not any(
        client.list(resource, labelSelector=BENCH_LABEL).body["items"] for resource in (PODS, RUNS)
    )


def test_a_burst_beside_runs_that_wait(bench: Bench, cluster: Cluster) -> None:
    load = BenchLoad(mode=Mode.BURST, runs=60, pods=6, hopeless=10, waiting_elsewhere=10, cohorts=3)
    results = bench(load, repeat=2)
    assert results.passed, results.violations
    for round_ in results.rounds:
        assert round_.placed == 60
        known = {key: value for key, value in round_.figures.items() if value is not None}
        assert known["p50Seconds"] <= known["p95Seconds"] <= known["p99Seconds"]
        assert 0 < known["residentBytes"] <= known["peakBytes"]
    assert len(results.ceiling) == 3
    assert nothing_is_left(cluster)


def test_an_open_load_in_several_places(bench: Bench, cluster: Cluster) -> None:
    load = BenchLoad(
        mode=Mode.OPEN,
        rate=20,
        seconds=2,
        pods=6,
        namespaces=2,
        runtimes=3,
        duration=(0.05, 0.2),
        heartbeat_seconds=1,
    )
    results = bench(load)
    (round_,) = results.rounds
    assert results.passed, results.violations
    assert round_.placed == len(load.arrivals(1))
    assert nothing_is_left(cluster)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_scheduler_that_errs_is_found_out(bench: Bench, fault: str) -> None:
    results = bench(BenchLoad(runs=12, pods=3), command=bad(fault))
    assert results.broken[fault] > 0
    assert not results.passed


def test_the_command_says_what_is_broken_and_ends_with_1(cluster: Cluster) -> None:
    with bench_command(cluster, "--scheduler-cmd", bad("overcommitted")) as running:
        said, _ = running.communicate(timeout=60)
        assert running.returncode == 1
    (line,) = [line for line in said.splitlines() if line.startswith("broken:")]
    assert line.startswith("broken: overcommitted, 8 times, first: run kruntimes-bench-")


def test_the_command_cleans_up_when_it_is_interrupted(cluster: Cluster) -> None:
    with bench_command(cluster, "--scheduler-cmd", bad("idle"), "--patience", "100") as running:
        assert running.stderr is not None
        while not running.stderr.readline().startswith("round 1"):
            assert running.poll() is None
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 130
        assert "SIGINT: cleaning up" in running.stderr.read()
    assert nothing_is_left(cluster)


def test_the_document_and_the_picture_are_of_the_same_bench(cluster: Cluster, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    with bench_command(cluster, "-o", "json", "--html", str(page)) as running:
        assert running.stdout is not None
        document = json.loads(running.stdout.read())
        assert running.wait(60) == 0
    assert document["passed"]
    assert document["server"]["real"]
    assert document["rounds"][0]["placed"] == 12
    assert document["startedAt"] in page.read_text()


def bench_command(cluster: Cluster, *arguments: str) -> subprocess.Popen[str]:
    """A bench of a dozen Runs as its own process."""
    command = [COMMAND, "bench", "--kubeconfig", str(cluster.kubeconfig), "--runs", "12", "--pods", "3"]
    return subprocess.Popen(
        [*command, "--ceiling-patches", "60", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
