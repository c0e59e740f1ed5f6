"""The write of a bind: what it changes, when it waits, and when it is dropped."""

from __future__ import annotations

from typing import Any

import pytest
from engine_scenes import BASE_TEXT

from kruntimes_core.engine.counters import ConflictStage
from kruntimes_core.engine.decisions import Outcome
from kruntimes_core.testing import condition_object
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness import (
    PODS,
    RUNS,
    Host,
    hold_request,
)

# What a bind looks like


def test_a_placement_costs_one_small_patch_and_changes_nothing_else(host: Host) -> None:
    foreign = condition_object("Painted", reason="Blue") | {"observedGeneration": 3, "future": {"a": [1]}}
    host.pod("py-0")
    host.run(
        "r",
        spec={"source": {"inline": "x" * 200_000}},
        metadata={"finalizers": ["example.com/f"], "managedFields": [{"manager": "m"}]},
        status={
            "attempt": 2,
            "startTime": "2026-01-02T03:00:00Z",
            "outputs": {"a": "b"},
            "artifactRefs": [{"name": "log"}],
            "futureField": {"deep": [1, {"x": None}]},
            "message": "preparing the next attempt",
            "conditions": [condition_object("Running", False, since=host.now.wall), foreign],
        },
    )
    before = host.server.get(RUNS, NAMESPACE, "r")
    host.advance(2)
    (write,) = host.writes("r")
    assert len(str(write.body)) < 16_000
    assert set(write.body) == {"metadata", "status"}
    assert write.body["metadata"] == {"resourceVersion": write.guard}
    after = host.server.get(RUNS, NAMESPACE, "r")
    scheduled = after["status"]["conditions"].pop()
    assert scheduled == condition_object(
        "Scheduled", reason="Assigned", message="assigned to runtime pod py-0", since=host.now.wall
    ) | {"lastTransitionTime": "2026-01-02T03:04:06Z"}
    expected = dict(before["status"]) | {
        "phase": "Scheduled",
        "assignedPod": "py-0",
        "assignedPodUID": "uid-py-0",
    }
    assert after["status"] == expected
    assert after["spec"] == before["spec"]
    assert after["metadata"]["managedFields"] == before["metadata"]["managedFields"]


def test_a_bind_clears_a_waiting_text_and_leaves_the_text_of_somebody_else(host: Host) -> None:
    host.run("ours")
    host.settle()
    assert host.status("ours")["message"] == BASE_TEXT
    host.pod("py-0", runs=2)
    host.run("theirs", status={"message": "runtimed wrote this"})
    host.settle()
    assert "message" not in host.status("ours")
    assert host.status("theirs")["message"] == "runtimed wrote this"


def test_a_status_edit_between_take_and_write_is_never_overwritten(contested: Host) -> None:
    contested.work()
    contested.watches.hold(RUNS)
    contested.change("r1", status={"conditions": [condition_object("Painted")], "outputs": {"k": "v"}})
    contested.settle()
    assert contested.engine.counters.reservation_conflicts == {ConflictStage.BIND: 1}
    contested.watches.resume(RUNS)
    contested.advance(2)
    assert (contested.pod_of("r1"), contested.pod_of("r2")) == (None, "py-0")
    conditions = contested.status("r1")["conditions"]
    assert conditions[0]["type"] == "Painted"
    assert contested.status("r1")["outputs"] == {"k": "v"}


@pytest.mark.parametrize(
    "patch",
    [{"spec": {"cancelRequested": True}}, {"metadata": {"labels": {"a": "b"}}}],
    ids=["cancel", "labels"],
)
def test_a_bind_that_is_not_wanted_any_more_gives_its_room_before_its_turn_comes(
    contested: Host, patch: dict[str, Any]
) -> None:
    """The way to the API server may be crowded; who waits for the room need not wait for that too."""
    host = contested
    host.work()
    host.change("r1", **patch)
    host.observe()
    assert host.usage() == {}
    host.work()
    entry = host.engine.find(NAMESPACE, "r2" if "spec" in patch else "r1")
    assert entry is not None
    assert entry.decision is not None
    assert entry.decision.outcome is Outcome.SCHEDULED
    assert not host.requests


# One write in flight


def test_at_most_one_write_for_a_run_is_in_flight(host: Host) -> None:
    host.disturb("r", hold_request)
    host.run("r")
    host.settle()
    host.pod("py-0")
    host.advance(20)
    assert len(host.writes("r")) == 1
    host.release("r")
    host.settle()
    assert host.pod_of("r") == "py-0"


def test_a_bind_replaces_a_text_that_was_not_sent_yet(host: Host) -> None:
    host.run("r")
    host.observe()
    host.work()
    host.pod("py-0")
    host.settle()
    assert [write.body["status"]["phase"] for write in host.writes("r")] == ["Scheduled"]


def test_a_bind_waits_for_a_text_under_way_and_uses_the_version_of_its_answer(host: Host) -> None:
    host.watches.hold(RUNS)
    host.run("r")
    host.relist(RUNS)
    host.disturb("r", hold_request)
    host.settle()
    host.pod("py-0")
    host.settle()
    assert len(host.writes("r")) == 1
    host.release("r")
    host.settle()
    text, bind = host.writes("r")
    assert int(bind.guard) > int(text.guard)
    assert host.pod_of("r") == "py-0"
    assert "message" not in host.status("r")


def test_nothing_is_written_when_nothing_changed(host: Host) -> None:
    host.pod("py-0", runs=1)
    host.run("x", pod="py-0")
    host.run("r")
    host.advance(300)
    assert host.texts("r") == [BASE_TEXT]
    assert len(host.writes("r")) == 1


# Checked again when its turn comes


@pytest.mark.parametrize("change", ["pod gone", "pod not ready", "pod replaced", "labels", "cancel"])
def test_a_bind_that_waited_is_dropped_if_its_pod_or_run_changed(contested: Host, change: str) -> None:
    host = contested
    host.work()
    assert host.usage() == {"runs": 1}
    if change == "pod gone":
        host.delete("py-0", kind=PODS)
    elif change == "pod not ready":
        host.ready("py-0", False)
    elif change == "pod replaced":
        host.pod("py-0", uid="P0b", runs=1, ready=False)
    elif change == "labels":
        host.change("r1", metadata={"labels": {"app": "b"}})
    else:
        host.change("r1", spec={"cancelRequested": True})
    host.settle()
    assert [w.guard for w in host.writes("r1") if "assignedPod" in w.body["status"]] == (
        [host.writes("r1")[0].guard] if change == "labels" else []
    )
    if change == "labels":
        assert int(host.writes("r1")[0].guard) > 4
    if change == "cancel":
        assert host.status("r1")["phase"] == "Cancelled"
        assert host.pod_of("r2") == "py-0"


def test_a_heartbeat_that_runs_out_while_a_bind_waits_drops_it(host: Host) -> None:
    host.pod("py-0", beating=False)
    host.run("r")
    host.observe()
    host.work()
    host.pass_time(15.000_001)
    host.settle()
    assert not [w for w in host.writes("r") if "assignedPod" in w.body["status"]]


def test_a_beat_while_a_bind_waits_does_not_drop_it(contested: Host) -> None:
    host = contested
    host.pod("py-0", runs=3)
    host.observe()
    host.work()
    cycles = host.cycles
    host.beat("py-0")
    host.run("x", pod="py-0")
    host.observe()
    host.send()
    assert host.pod_of("r1") == "py-0"
    assert host.cycles == cycles
