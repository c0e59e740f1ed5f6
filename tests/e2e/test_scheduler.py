"""A thousand Runs on twenty Pods: the scheduler as its own process, with RBAC, on a real kube-apiserver."""

from __future__ import annotations

from realcluster.hosts import Start
from realcluster.workload import BASE_TEXT, Workload, condition, in_phase, saying

RUNS, PODS, SLOTS = 1_000, 20, 25
INVALID, CANCELLED, GPU = 20, 20, 20
"""How many Runs fail, are cancelled, and wait for a Pod with a gpu, which comes last."""


def test_a_thousand_runs_on_twenty_pods(work: Workload, start: Start) -> None:
    for number in range(PODS - 1):
        work.pod(f"py-{number:02}", runs=SLOTS)
    scheduler = start()
    series = scheduler.series()
    for number in range(INVALID):
        work.run(f"bad-{number}", resources={"requests": {"gpu": "500m"}})
    for number in range(GPU):
        work.run(f"gpu-{number}", resources={"requests": {"gpu": 1}})
    for number in range(CANCELLED):
        work.run(f"gone-{number}", resources={"requests": {"gpu": 1}}, cancelRequested=number % 2 == 0)
    for number in range(RUNS - GPU):
        work.run(f"r{number:03}", labels={"app": f"a{number % 7}"})
    for number in range(1, CANCELLED, 2):
        work.wait_for(f"gone-{number}", saying(BASE_TEXT))
        work.cancel(f"gone-{number}")
    _end_all(work, RUNS - GPU)
    waiting = work.wait(lambda now: len(in_phase(now, "Cancelled")) == CANCELLED)
    assert in_phase(waiting, "Pending") == sorted(f"gpu-{number}" for number in range(GPU))
    assert {waiting[name]["message"] for name in in_phase(waiting, "Pending")} == {BASE_TEXT}
    work.pod("py-with-gpu", gpu=3)
    _end_all(work, RUNS)
    done = work.wait(lambda now: len(in_phase(now, "Succeeded", "Failed", "Cancelled")) == len(now))
    assert in_phase(done, "Failed") == sorted(f"bad-{number}" for number in range(INVALID))
    assert {condition(done[name], "Completed")["reason"] for name in in_phase(done, "Failed")} == {
        "InvalidResources"
    }
    assert scheduler.get("probes", "/readyz") == (200, "ok\n")
    assert scheduler.metric("sync_total", result="scheduled") == RUNS
    assert scheduler.metric("sweep_rescues_total") == 0
    assert scheduler.series() == series
    assert scheduler.stop() == 0


def _end_all(work: Workload, count: int) -> None:
    """Let Runs that were placed succeed, until so many have in all."""
    while True:
        now = work.wait(
            lambda now: bool(in_phase(now, "Scheduled")) or len(in_phase(now, "Succeeded")) == count
        )
        running = in_phase(now, "Scheduled")
        if not running:
            return
        work.end(running)
