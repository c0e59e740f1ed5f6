"""The scheduler as its own process, under its own account with RBAC, on a real kube-apiserver."""

from __future__ import annotations

from pathlib import Path

from realcluster.fixtures import ServiceAccounts
from realcluster.scheduler import RULES, running_scheduler
from realcluster.servers import Cluster
from realcluster.workload import Statuses, Workload

FREE_SLOTS = 20


def _phases(statuses: Statuses, *phases: str) -> list[str]:
    return sorted(name for name, status in statuses.items() if status.get("phase", "Pending") in phases)


def test_a_hundred_runs_on_five_pods(
    cluster: Cluster, namespace: str, service_account: ServiceAccounts, tmp_path: Path
) -> None:
    work = Workload(cluster.client(), namespace)
    for number in range(5):
        work.pod(f"py-{number}", runs=4)
    for number in range(100):
        work.run(f"r{number:03}")
    work.run("bad", resources={"requests": {"gpu": "500m"}})
    work.run("hopeless", resources={"requests": {"gpu": 1}})
    token = service_account(RULES).token
    with running_scheduler(cluster, token, tmp_path, f"--namespaces={namespace}") as scheduler:
        scheduler.says("deciding")
        work.wait(lambda now: len(_phases(now, "Scheduled")) == FREE_SLOTS and bool(_phases(now, "Failed")))
        work.cancel("r099")
        ended = 0
        while ended < 99:
            now = work.wait(lambda now: bool(_phases(now, "Scheduled")))
            placed = _phases(now, "Scheduled")
            by_pod = [now[name]["assignedPod"] for name in placed]
            assert max(by_pod.count(pod) for pod in by_pod) <= 4
            work.end(placed)
            ended += len(placed)
        done = work.wait(
            lambda now: len(_phases(now, "Succeeded", "Cancelled")) == 100 and "message" in now["hopeless"]
        )
        assert _phases(done, "Failed") == ["bad"]
        assert _phases(done, "Cancelled") == ["r099"]
        assert done["hopeless"]["message"] == 'waiting for available runtime pods for runtime "py"'
        assert done["bad"]["conditions"][0]["reason"] == "InvalidResources"
        assert scheduler.get("probes", "/readyz") == (200, "ok\n")
        _, metrics = scheduler.get("metrics", "/metrics")
        assert 'kruntimes_scheduler_sync_total{result="scheduled"} 99.0' in metrics
        assert "kruntimes_scheduler_sweep_rescues_total 0.0" in metrics
        assert scheduler.stop() == 0
