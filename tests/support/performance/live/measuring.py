"""Runs the benches, each workload in turn and round after round, on servers that are new in each round."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from kruntimes_core.crds import crds
from performance.live.results import Document, Results
from performance.live.workloads import Workload
from realcluster.access import install_crds
from realcluster.build import ensure
from realcluster.servers import running_cluster

Bench = Callable[[Workload, Path], Document]
"""Measures a workload by a kubeconfig, and gives the report."""
Servers = Callable[[], AbstractContextManager[Path]]
"""An API server for as long as a block lasts, by its kubeconfig."""


class FailedError(Exception):
    """A bench could not measure, or found that something was wrong. In a line, with what to do."""


def measure(
    workloads: Sequence[Workload], rounds: int, results: Results, bench: Bench, servers: Servers
) -> None:
    """Fill `results` with what they lack. Raises `FailedError` at the end for benches that were no good.

    What is compared is measured side by side: a machine that becomes slower slows both. Servers are new in
    each round, so that what earlier ones left behind slows nobody.
    """
    failures: list[str] = []
    for number in range(1, rounds + 1):
        due = [
            workload
            for workload in workloads
            if number <= workload.rounds(rounds) and results.kept(workload, number) is None
        ]
        if not due:
            continue
        with servers() as kubeconfig:
            for workload in due:
                began = time.monotonic()
                _say(f"== round {number} of {rounds}, {workload.name}: {workload.command}")
                try:
                    results.keep(workload, number, bench(workload, kubeconfig))
                except FailedError as error:
                    failures.append(f"round {number}, {error}")
                    _say(f"== {failures[-1]}")
                _say(f"== {workload.name} took {time.monotonic() - began:.0f} s")
    if failures:
        raise FailedError(f"measure again with --resume: {'; '.join(failures)}")


@contextmanager
def real_servers() -> Iterator[Path]:
    """See `Servers`: etcd and kube-apiserver on this machine, with the CRDs."""
    ensure()
    with (
        tempfile.TemporaryDirectory(prefix="kruntimes-performance-") as folder,
        running_cluster(Path(folder)) as cluster,
    ):
        install_crds(cluster, crds())
        yield cluster.kubeconfig


def run_bench(workload: Workload, kubeconfig: Path) -> Document:
    """See `Bench`: as a process of its own, of the kruntimes of this Python."""
    arguments = [*shlex.split(workload.command)[1:], "--kubeconfig", str(kubeconfig), "-o", "json"]
    done = subprocess.run(
        [sys.executable, "-m", "kruntimes_core.cli", *arguments], stdout=subprocess.PIPE, check=False
    )
    try:
        document: Document = json.loads(done.stdout)
    except ValueError:
        raise FailedError(f"{workload.name}: no report, exit code {done.returncode}") from None
    if not document["passed"]:
        broken = [rule["first"] for rule in document["invariants"] if rule["broken"]]
        raise FailedError(
            f"{workload.name}: not every Run was placed by the rules, or not all was seen:"
            f" {'; '.join(broken) or 'no rule was broken'}"
        )
    return document


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201 - this takes minutes
