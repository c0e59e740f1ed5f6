"""Others change a Run while its write is on the way to a real API server: whose word counts."""

from __future__ import annotations

import json

import pytest

from faultproxy.faults import Disturbance, Fault, Match
from faultproxy.proxy import FaultProxy
from kruntimes_core.testing.objects import condition_object
from realcluster.client import RUNS, Object
from realcluster.hosts import Start
from realcluster.scheduler import Scheduler
from realcluster.workload import BASE_TEXT, Workload, condition, now_text, placed, saying

IN_FLIGHT = 32
"""How many writes the scheduler has in flight at most."""
LARGEST_PATCH = 16 * 1024


@pytest.fixture
def held(work: Workload, proxy: FaultProxy, start: Start) -> Disturbance:
    """One place on py-0: the bind of r1 is on its way, and r2 and r3 wait."""
    bind = proxy.disturb(Match("patch", "runs", "r1"), Fault(holds_request=True))
    start(by=proxy)
    work.pod("py-0", runs=1)
    work.run("r1")
    bind.hit()
    for name in ("r2", "r3"):
        work.run(name)
        work.wait_for(name, saying(BASE_TEXT))
    return bind


def test_the_room_of_a_run_that_was_deleted_goes_to_the_oldest_that_waits(
    work: Workload, held: Disturbance
) -> None:
    work.delete("r1")
    held.release()
    work.wait_for("r2", placed, seconds=2)
    assert work.get("r3")["status"]["phase"] == "Pending"


def test_a_run_that_was_cancelled_before_its_bind_arrives_is_cancelled(
    work: Workload, held: Disturbance
) -> None:
    work.cancel("r1")
    held.release()
    ended = work.wait_for("r1", lambda now: now.get("phase") == "Cancelled", seconds=2)
    assert "assignedPod" not in ended
    assert ended["completionTime"]
    work.wait_for("r2", placed, seconds=2)


def test_a_run_that_was_created_again_is_placed_by_its_own_needs(work: Workload, held: Disturbance) -> None:
    work.delete("r1")
    work.run("r1", resources={"requests": {"gpu": 1}})
    held.release()
    work.wait_for("r2", placed, seconds=2)
    work.wait_for("r1", saying(BASE_TEXT))
    work.pod("py-1", gpu=1)
    assert work.wait_for("r1", placed)["assignedPod"] == "py-1"


def test_a_condition_that_was_written_meanwhile_survives_the_bind(work: Workload, held: Disturbance) -> None:
    theirs = {**condition_object("example.com/Audited"), "lastTransitionTime": now_text()}
    work.write("r1", phase="Pending", conditions=[theirs], outputs={"rows": "12"})
    held.release()
    bound = work.wait_for("r1", placed, seconds=5)
    assert condition(bound, "example.com/Audited") == theirs
    assert condition(bound, "Scheduled")["reason"] == "Assigned"
    assert bound["outputs"] == {"rows": "12"}


def test_a_bind_that_waits_for_its_turn_does_not_go_to_a_pod_that_was_replaced(
    work: Workload, proxy: FaultProxy, start: Start
) -> None:
    others = proxy.disturb(Match("patch", "runs"), Fault(holds_request=True), times=IN_FLIGHT)
    scheduler = start(by=proxy)
    work.pod("js-0", runs=IN_FLIGHT, runtime="js")
    for number in range(IN_FLIGHT):
        work.run(f"js-{number}", runtime="js")
    others.hit(IN_FLIGHT)
    work.pod("py-0", runs=1)
    work.run("r1")
    work.run("r2")
    # r2 is turned down because r1 is reserved.
    scheduler.wait_until(lambda: _rejections(scheduler, "InsufficientCapacity") > 0)
    work.delete_pod("py-0")
    new = work.pod("py-0", ready=False)
    scheduler.wait_until(lambda: _rejections(scheduler, "PodNotReady") > 0)
    others.release()
    work.wait_for("r1", saying(BASE_TEXT))
    work.beat("py-0")
    assert work.wait_for("r1", placed)["assignedPodUID"] == new


def test_a_text_that_meets_a_conflict_is_written_all_the_same(
    work: Workload, proxy: FaultProxy, start: Start
) -> None:
    text = proxy.disturb(Match("patch", "runs", "r1"), Fault(holds_request=True))
    start(by=proxy)
    work.run("r1")
    text.hit()
    work.label("r1", team="a")
    text.release()
    work.wait_for("r1", saying(BASE_TEXT), seconds=2)
    assert work.get("r1")["metadata"]["labels"] == {"team": "a"}


def test_a_bind_is_one_small_patch_that_changes_nothing_else(
    work: Workload, proxy: FaultProxy, start: Start
) -> None:
    work.run("r1", source={"inline": "#" * 200_000}, retryPolicy={"maxAttempts": 3, "backoff": "1s"})
    finalizers = {"metadata": {"finalizers": ["example.com/keep"]}}
    assert work.client.patch(RUNS, "r1", finalizers, work.namespace).status == 200
    work.write(
        "r1",
        phase="Pending",
        attempt=2,
        startTime=now_text(),
        outputs={"rows": "12"},
        conditions=[
            {**condition_object("Running", False), "lastTransitionTime": "2026-01-02T03:04:05Z"},
            condition_object("example.com/Audited"),
        ],
    )
    before = work.get("r1")
    work.pod("py-0")
    start(by=proxy)
    work.wait_for("r1", placed)
    after = work.get("r1")
    expected = _comparable(before)
    expected["status"] |= {
        "phase": "Scheduled",
        "assignedPod": "py-0",
        "assignedPodUID": after["status"]["assignedPodUID"],
        "conditions": [*before["status"]["conditions"], condition(after["status"], "Scheduled")],
    }
    assert _comparable(after) == expected
    (sent,) = (one for one in proxy.log if one.about.verb == "patch")
    assert sent.url.path.endswith("/runs/r1/status")
    assert sent.content_type == "application/merge-patch+json"
    assert len(sent.body) < LARGEST_PATCH
    body = json.loads(sent.body)
    assert body["metadata"] == {"resourceVersion": before["metadata"]["resourceVersion"]}
    assert set(body) == {"metadata", "status"}


def _rejections(scheduler: Scheduler, reason: str) -> float:
    return scheduler.metric("filter_rejections_total", plugin="RuntimePodAvailability", reason=reason)


def _comparable(run: Object) -> Object:
    """All of a Run but its version and the record of who wrote what."""
    metadata = {
        key: value
        for key, value in run["metadata"].items()
        if key not in ("resourceVersion", "managedFields")
    }
    return {**run, "metadata": metadata, "status": dict(run["status"])}
