"""What `kruntimes plan` says of a dump of a cluster is what the scheduler then does there."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from kruntimes_core.testing.objects import affinity_object, term_object
from realcluster.hosts import Start
from realcluster.ledger import Statuses
from realcluster.scheduler import COMMAND
from realcluster.servers import Cluster
from realcluster.workload import Workload, condition

TERM_A, TERM_B = term_object({"app": "a"}), term_object({"app": "b"})


def _pods(work: Workload) -> None:
    for number, runs in enumerate((3, 2, 2)):
        work.pod(f"py-{number}", runs=runs, gpu=number)
    work.pod("py-3", ready=False)
    work.pod("js-0", runs=1, runtime="js")
    work.workspace("bound", "py-1")
    work.workspace("pending")
    work.workspace("other", "js-0", runtime="js")


def _runs(work: Workload) -> None:
    work.run("a1", labels={"app": "a"})
    work.run("seed", labels={"app": "b"}, affinity=affinity_object(required=[TERM_B]))
    work.run("follows", labels={"app": "b"}, affinity=affinity_object(required=[TERM_B]))
    work.run("apart", affinity=affinity_object(required_anti=[TERM_A, TERM_B]))
    work.run("likes-a", affinity=affinity_object(preferred=[(80, TERM_A)]))
    work.run("nowhere", affinity=affinity_object(required=[term_object({"app": "nobody"})]))
    work.run("gpu", resources={"requests": {"gpu": 2}})
    work.run("many-gpus", resources={"requests": {"gpu": 9}})
    work.run("tied", workspace={"name": "bound"})
    for name in ("pending", "missing", "other"):
        work.run(f"tied-to-{name}", workspace={"name": name})
    work.run("half", resources={"requests": {"gpu": "500m"}})
    bad = {"key": "app", "operator": "Near", "values": ["a"]}
    work.run("bad", affinity=affinity_object(required=[term_object(expressions=[bad])]))
    work.run("cancelled", cancelRequested=True)
    work.run("lost", runtime="rust")
    for number in range(6):
        work.run(f"plain-{number}", labels={"app": "a"} if number % 2 else {})
        work.run(f"js-{number}", runtime="js")


def _dump(cluster: Cluster, kubectl: str, namespace: str) -> str:
    kinds = "runs,pods,persistentworkspaces"
    command = [kubectl, f"--kubeconfig={cluster.kubeconfig}", f"-n={namespace}", "get", kinds, "-o", "yaml"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _plan(dump: str, code: int) -> list[dict[str, Any]]:
    """code: 1 when a Run does not fit, 2 when one cannot be read. The plan is there all the same."""
    command = [COMMAND, "plan", "-f", "-", "-o", "json"]
    answer = subprocess.run(command, input=dump, check=False, capture_output=True, text=True)
    assert answer.returncode == code, answer.stderr
    decisions: list[dict[str, Any]] = json.loads(answer.stdout)["decisions"]
    return decisions


def _as_planned(planned: dict[str, Any], status: Any) -> bool:
    """Whether a Run's status is what the plan says of it."""
    if planned["outcome"] == "Scheduled":
        return (status.get("phase"), status.get("assignedPod"), status.get("assignedPodUID")) == (
            "Scheduled",
            planned["pod"],
            planned["podUID"],
        )
    if planned["outcome"] == "Waiting":
        return (status.get("phase"), status.get("message")) == ("Pending", planned["message"])
    return (status.get("phase"), status.get("message")) == (planned["outcome"], planned["message"])


def test_the_plan_of_a_dump_is_what_the_scheduler_does(
    cluster: Cluster, kubectl: str, work: Workload, start: Start
) -> None:
    _pods(work)
    _runs(work)
    plan = _plan(_dump(cluster, kubectl, work.namespace), 2)
    scheduler = start()

    def decided(now: Statuses) -> bool:
        return all(
            "message" in now[one["run"]] or now[one["run"]].get("phase") == one["outcome"] for one in plan
        )

    done = work.wait(decided)
    differing = [(one, done[one["run"]]) for one in plan if not _as_planned(one, done[one["run"]])]
    assert differing == []
    assert {one["outcome"] for one in plan} == {"Scheduled", "Waiting", "Failed", "Cancelled"}
    for one in plan:
        if one["outcome"] == "Failed":
            assert condition(done[one["run"]], "Completed")["reason"] == one["reason"]
    # What is settled stays so: a plan of what the scheduler made has nothing more to place.
    again = {one["run"]: one["outcome"] for one in _plan(_dump(cluster, kubectl, work.namespace), 1)}
    assert again == {one["run"]: "Waiting" for one in plan if one["outcome"] == "Waiting"}
    assert scheduler.stop() == 0
