"""A dry run beside a scheduler of other rules, both as processes, on a real kube-apiserver."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from realcluster.access import RULES, Rule, ServiceAccount
from realcluster.client import Resource
from realcluster.fixtures import ServiceAccounts
from realcluster.scheduler import COMMAND, Scheduler, running_scheduler
from realcluster.servers import Cluster
from realcluster.workload import Workload, in_phase

LEASES = Resource("coordination.k8s.io", "v1", "leases")
READ_ONLY: list[Rule] = [
    {"apiGroups": ["kruntimes.io"], "resources": ["runs"], "verbs": ["get", "list", "watch"]},
    {"apiGroups": ["kruntimes.io"], "resources": ["persistentworkspaces"], "verbs": ["list", "watch"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "watch"]},
]
OTHER_RULES = "heartbeatStalenessSeconds: 3600\nplugins:\n  disabled: [LeastLoaded]\n"


class Place:
    """Where both schedulers work."""

    def __init__(self, cluster: Cluster, work: Workload, folder: Path, reader: ServiceAccount) -> None:
        self.cluster = cluster
        self.work = work
        self.report = folder / "report"
        self._folder = folder
        self._reader = reader

    @contextmanager
    def dry(self, *arguments: str) -> Iterator[Scheduler]:
        """A dry run with rights to read alone; it prints its report into a file."""
        program = ("/bin/sh", "-c", f'exec {COMMAND} "$@" >{self.report}', "sh")
        with self._running("dry", self._reader.token, "--dry-run", *arguments, program=program) as scheduler:
            yield scheduler

    @contextmanager
    def live(self, token: str, config: str) -> Iterator[Scheduler]:
        """A scheduler that places Runs, by other rules."""
        path = self._folder / "other.yaml"
        path.write_text(config)
        with self._running("live", token, f"--config={path}") as scheduler:
            yield scheduler

    def asked(self) -> set[tuple[str, int]]:
        """The verbs for which the dry run has asked the API server, with what it answered."""
        requests = self.cluster.audit.of(self._reader.namespace, self._reader.name)
        # The harness asks what the account may do, as the account.
        return {(one.verb, one.code) for one in requests if one.resource != "selfsubjectrulesreviews"}

    @contextmanager
    def _running(
        self, name: str, token: str, *arguments: str, program: tuple[str, ...] = (COMMAND,)
    ) -> Iterator[Scheduler]:
        folder = self._folder / name
        folder.mkdir()
        where = f"--namespaces={self.work.namespace}"
        with running_scheduler(self.cluster, token, folder, where, *arguments, program=program) as scheduler:
            yield scheduler


@pytest.fixture
def place(cluster: Cluster, work: Workload, tmp_path: Path, service_account: ServiceAccounts) -> Place:
    return Place(cluster, work, tmp_path, service_account(READ_ONLY))


def held(scheduler: Scheduler, number: int) -> None:
    """Wait until so many decisions wait for the other scheduler."""
    scheduler.wait_until(lambda: scheduler.metric("dry_run_held") == number)


def test_it_says_where_it_differs_and_by_which_plugin_and_writes_nothing(
    place: Place, service_account: ServiceAccounts
) -> None:
    work, live_token = place.work, service_account(RULES).token
    for name in ("py-0", "py-1"):
        work.pod(name, runs=4)
    with place.dry("--leader-elect", "-o", "json") as dry:
        dry.says("a dry run takes no lease: --leader-elect is ignored")
        dry.says("deciding")
        for name in ("r-0", "r-1", "r-2"):
            work.run(name)
        work.run("r-invalid", resources={"requests": {"cpu": "500m"}})
        work.run("r-large", resources={"requests": {"runs": "9"}})
        held(dry, 4)
        assert work.phases() == dict.fromkeys(("r-0", "r-1", "r-2", "r-invalid", "r-large"), "")

        with place.live(live_token, OTHER_RULES):
            work.wait(lambda now: len(in_phase(now, "Scheduled")) == 3)
            dry.wait_until(lambda: dry.metric("dry_run_agreements_total") == 3)
            held(dry, 0)
        line = dry.says("the running scheduler did otherwise")
        assert (line["run"], line["kind"]) == (f"{work.namespace}/r-1", "pod_scored_lower")
        assert (line["plugin"], line["ours"], line["theirs"]) == ("LeastLoaded", "py-1", "py-0")
        assert dry.metric("dry_run_differences_total", kind="pod_scored_lower", plugin="LeastLoaded") == 1
        status, text = dry.get("probes", "/readyz?verbose")
        assert (status, "[+]dry-run ok: nothing is written; 3 agreed, 1 differed" in text) == (200, True)
        assert "3 agreed, 1 differed, 0 open" in dry.get("debug", "/dry-run")[1]
        assert dry.stop() == 0

    told: dict[str, Any] = json.loads(place.report.read_text())
    assert (told["agreed"], told["differed"]) == (3, 1)
    ((kind, plugin, clear),) = ((one["kind"], one["plugin"], one["clear"]) for one in told["differences"])
    assert (kind, plugin, clear) == ("pod_scored_lower", "LeastLoaded", 1)
    # The server's own word: nothing but reads, and none that was refused.
    assert {verb for verb, _ in place.asked()} == {"get", "list", "watch"}
    assert {code for _, code in place.asked()} <= {0, 200}
    assert work.client.list(LEASES, work.namespace).body["items"] == []


def test_the_account_of_a_dry_run_may_not_even_write_and_nothing_asks_it_to(place: Place) -> None:
    work = place.work
    work.pod("py-0", runs=2)
    with place.dry() as dry:
        dry.says("deciding")
        work.run("r-placed")
        work.run("r-cancelled", cancelRequested=True)
        work.run("r-waiting", resources={"requests": {"gpu": "1"}})
        work.run("r-invalid", resources={"requests": {"cpu": "500m"}})
        held(dry, 3)
        assert dry.get("probes", "/readyz")[0] == 200
        assert dry.stop() == 0
    assert {line.get("level") for line in dry.all_lines()} <= {"info", None}
    assert {verb for verb, _ in place.asked()} == {"get", "list", "watch"}
    assert place.report.read_text().splitlines()[0].endswith("0 agreed, 0 differed, 0 open")
    assert "not compared: 3 stopped" in place.report.read_text()
    assert set(work.phases().values()) == {""}


def test_a_right_that_is_missing_is_named(
    cluster: Cluster, work: Workload, tmp_path: Path, service_account: ServiceAccounts
) -> None:
    place = Place(cluster, work, tmp_path, service_account(READ_ONLY[:2]))
    with place.dry() as dry:
        dry.says_like(r"cannot list pods in .*: forbidden: grant the verb")
        status, text = dry.get("probes", "/readyz")
        assert (status, "[-]pods" in text) == (503, True)
        assert dry.stop() == 0
