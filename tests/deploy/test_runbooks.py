"""The first commands of each runbook are typed at a real API server, and their answer shows what is wrong."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from deployment.chart import DEPLOY, NAMESPACE, Object, render
from deployment.site import Site
from realcluster.client import PODS, RUNS, Client
from realcluster.workload import Workload, now_text, workload_in
from tests.docs.pages import Block, Page

pytestmark = pytest.mark.xdist_group("cluster")

ROLE = "on a cluster"
RUNBOOKS = {path.stem: Page(path) for path in sorted((DEPLOY.parent / "docs" / "runbooks").glob("*.md"))}
NEEDS_NODES = {"plugin-stuck"}
"""What only the log of a Pod tells."""

LEASE = "kruntimes-scheduler.kruntimes.com"


def lease(namespace: str, holder: str) -> Object:
    now = now_text().replace("Z", ".000000Z")
    spec = {"holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": now}
    metadata = {"name": LEASE, "namespace": namespace}
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}


def event(namespace: str, reason: str, run: str, note: str) -> Object:
    regarding = {"apiVersion": "kruntimes.io/v1alpha1", "kind": "Run", "name": run, "namespace": namespace}
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": f"{run}.{reason.lower()}", "namespace": namespace},
        "eventTime": now_text().replace("Z", ".000000Z"),
        "reportingController": "kruntimes.com/scheduler",
        "reportingInstance": "scheduler-0",
        "type": "Warning",
        "action": "Scheduling",
        "reason": reason,
        "regarding": regarding,
        "note": note,
    }


@pytest.fixture(scope="module")
def wrong(site: Site) -> Iterator[None]:
    """A cluster in which everything is wrong that a runbook is about."""
    client = site.cluster.client()
    site.apply(render().installed)
    site.apply([lease(NAMESPACE, "scheduler-0_1"), lease("team-b", "elsewhere-0_2")])
    reasons = {"FailedScheduling": "waits", "NeverFits": "is-large", "PluginError": "breaks-a-plugin"}
    site.apply(
        [event("team-a", reason, run, f"note of {run}") for reason, run in reasons.items()]
        + [event("team-a", "FailedUpdateStatus", "is-refused", "note of is-refused")]
    )
    with workload_in(client, "team-a") as work:
        spoil(work, client)
        yield
        for run in work.phases():
            work.delete(run)
        work.delete_pod("silent-0")
    client.delete(PODS, "scheduler-0", NAMESPACE, gracePeriodSeconds=0)


def spoil(work: Workload, client: Client) -> None:
    """A Runtime Pod without heartbeats, a Run that waits, and a replica that was killed for its memory."""
    work.pod("silent-0", runs=3)
    work.run("waits", resources={"requests": {"runs": "9"}})
    work.write("waits", phase="Pending", message="waiting for room")
    pod = render().pod
    made = {"apiVersion": "v1", "kind": "Pod", "metadata": {**pod["metadata"], "name": "scheduler-0"}}
    assert client.create(PODS, {**made, "spec": pod["spec"]}, NAMESPACE).status == 201
    ended: Object = {"exitCode": 137, "reason": "OOMKilled", "finishedAt": "2026-01-02T03:04:05Z"}
    status = {
        "name": "scheduler",
        "image": "x",
        "imageID": "x",
        "ready": False,
        "restartCount": 7,
        "lastState": {"terminated": ended},
    }
    answer = client.patch(
        PODS, "scheduler-0", {"status": {"containerStatuses": [status]}}, NAMESPACE, "status"
    )
    assert answer.status == 200, answer
    assert client.get(RUNS, "waits", "team-a").status == 200


ANSWERS = {
    "nobody-decides": ["scheduler-0_1", "scheduler-0 "],
    "two-decide": ["scheduler-0_1", "elsewhere-0_2", "--leader-elect"],
    "runs-wait-too-long": ["waiting for room", "FailedScheduling"],
    "runs-never-fit": [
        "is-large",
        "note of is-large",
        "runs:9",
        "kruntimes.io/capacity.runs:3",
    ],
    "heartbeats-stale": ["silent-0", "T"],
    "plugin-errors": ["breaks-a-plugin", "note of breaks-a-plugin"],
    "writes-in-doubt": ["[+]etcd ok", "FailedUpdateStatus"],
    "conflicts": ["waits", "Pending"],
    "api-errors": ["[+]etcd ok", "apiserver_flowcontrol_"],
    "watch-stopped": ["yes", "persistentworkspaces"],
    "missing-permissions": ["runs.kruntimes.io/status", "[patch]"],
    "restarts": ["scheduler-0", "OOMKilled", "137", "7"],
}
"""What the answer must show."""


@pytest.fixture
def shell(site: Site, kubectl: str, tmp_path: Path) -> Callable[[str], str]:
    """Type something into a shell that has kubectl."""
    (tmp_path / "kubectl").symlink_to(kubectl)
    path = f"{tmp_path}:{os.environ['PATH']}"
    environment = {
        **os.environ,
        "PATH": path,
        "KUBECONFIG": str(site.cluster.kubeconfig),
        "HOME": str(tmp_path),
    }

    def typed(text: str) -> str:
        script: list[Any] = ["/bin/bash", "-euc", text]
        done = subprocess.run(script, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{text}{done.stdout}{done.stderr}"
        return done.stdout

    return typed


def blocks(name: str) -> list[Block]:
    return [block for block in RUNBOOKS[name].blocks if block.role == ROLE]


@pytest.mark.usefixtures("wrong")
@pytest.mark.parametrize("name", ANSWERS)
def test_the_first_commands_show_what_is_wrong(name: str, shell: Callable[[str], str]) -> None:
    answer = "".join(shell(block.text) for block in blocks(name))
    assert [word for word in ANSWERS[name] if word not in answer] == []


def test_every_runbook_is_tried_but_those_that_need_nodes() -> None:
    assert RUNBOOKS.keys() == ANSWERS.keys() | NEEDS_NODES
    assert not any(blocks(name) for name in NEEDS_NODES)
