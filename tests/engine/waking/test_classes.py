"""Classes of waiting Runs: order, one evaluation for all, and room that is handed on."""

from __future__ import annotations

from typing import Any

import pytest

from kruntimes_core import Reject, RuntimePod
from kruntimes_core.testing import affinity_object, term_object
from kruntimes_core.testing.harness import Host, refuse
from kruntimes_core.testing.plugins import fake_plugin, profiles_of


def near(app: str) -> dict[str, Any]:
    return affinity_object(required=[term_object({"app": app})])


def test_order_holds_within_a_class(host: Host) -> None:
    names = [f"r{number}" for number in range(9)]
    for name in names:
        host.run(name)
    host.settle()
    placed = []
    for number in range(9):
        host.pod(f"py-{number}", runs=1)
        host.settle()
        placed += [name for name in names if host.pod_of(name) and name not in placed]
    assert placed == names


def test_changed_pods_are_offered_to_the_classes_in_the_order_of_their_first_runs(host: Host) -> None:
    host.run("b1", requests={"gpu": "1"})
    host.run("a1")
    host.run("b2", requests={"gpu": "1"})
    host.run("a2")
    host.settle()
    for number, expected in enumerate(["b1", "a1", "b2", "a2"]):
        host.pod(f"py-{number}", runs=1, capacity={"gpu": "1"})
        host.settle()
        assert host.pod_of(expected) == f"py-{number}"


def test_runs_that_differ_in_what_only_scores_wait_in_one_class(host: Host) -> None:
    """A preference makes no Pod feasible, so one answer holds for all of them."""
    host.pod("py-0", runs=1)
    host.run("x", pod="py-0")
    for weight in range(1, 21):
        preference = affinity_object(preferred=[(weight, term_object({"app": "db"}))])
        host.run(f"r{weight}", affinity=preference)
    host.settle()
    assert host.engine.sizes["classes"] == 1
    before = host.works["PlanWork"]
    host.server.change("Pod", "team-a", "py-0", {"metadata": {"annotations": {"edit": "1"}}})
    host.settle()
    assert host.works["PlanWork"] == before + 1


def test_a_smaller_later_run_may_pass_a_larger_one(host: Host) -> None:
    host.run("large", requests={"runs": "3"})
    host.run("small")
    host.settle()
    host.pod("py-0", runs=2)
    host.settle()
    assert (host.pod_of("large"), host.pod_of("small")) == (None, "py-0")


def test_a_pod_with_64_free_slots_places_64(host: Host) -> None:
    for number in range(100):
        host.run(f"r{number:02}")
    host.settle()
    cycles = host.cycles
    host.pod("py-0", runs=64)
    host.settle()
    placed = [f"r{number:02}" for number in range(100) if host.pod_of(f"r{number:02}")]
    assert placed == [f"r{number:02}" for number in range(64)]
    assert host.cycles - cycles == 65


@pytest.mark.parametrize("first", ["cancelled", "gone", "refused", "deleting", "broken", "elsewhere"])
def test_a_first_run_that_does_not_take_the_room_hands_it_on(first: str) -> None:
    def picky(pod: RuntimePod, run: Any) -> Reject | None:
        if first == "broken" and run.name == "r1" and pod.name == "py-0":
            raise RuntimeError("no")
        return None

    def room(pod: RuntimePod, state: Any) -> Reject | None:
        return None if pod.available and pod.fits(state) else Reject("Full")

    host = Host(
        profiles_of(
            fake_plugin("Room", prefilter=lambda request: request, filter=room, reasons=["Full"]),
            fake_plugin("Picky", score=lambda pod, run: picky(pod, run) or 0),
        )
    )
    for name in ("r1", "r2", "r3"):
        host.run(name)
    host.settle()
    host.pod("py-0", runs=1)
    if first == "refused":
        host.disturb("r1", refuse(422))
    host.observe()
    work = host.take()
    assert work.run.name == "r1"  # type: ignore[union-attr]
    if first == "cancelled":
        host.change("r1", spec={"cancelRequested": True})
    elif first == "gone":
        host.delete("r1")
    elif first == "deleting":
        host.change("r1", metadata={"deletionTimestamp": "2026-01-02T03:04:05Z"})
    elif first == "elsewhere":
        elsewhere = {"phase": "Scheduled", "assignedPod": "py-7", "assignedPodUID": "uid-py-7"}
        host.change("r1", status=elsewhere)
    host.observe()
    host.finish(work)
    host.settle()
    assert (host.pod_of("r2"), host.pod_of("r3")) == ("py-0", None)


def test_another_namespace_is_never_touched(host: Host) -> None:
    host.pod("py-0", runs=1)
    host.run("x", pod="py-0")
    host.run("r", affinity=near("a"), labels={"app": "a"})
    host.settle()
    cycles = host.cycles
    host.pod("py-0", namespace="team-b", runs=1)
    host.run("x", namespace="team-b", labels={"app": "a"}, pod="py-0")
    host.workspace("ws", namespace="team-b")
    host.settle()
    host.delete("x", namespace="team-b")
    host.settle()
    assert host.cycles == cycles


def test_one_run_of_a_class_is_in_work_at_a_time(host: Host) -> None:
    """Its answer is the answer of all of them."""
    for name in ("r1", "r2", "r3"):
        host.run(name)
    host.settle()
    host.pod("py-0", runs=1)
    host.observe()
    work = host.take()
    assert host.engine.take(host.now) is None
    host.finish(work)
    host.settle()
    assert [host.pod_of(name) for name in ("r1", "r2", "r3")] == ["py-0", None, None]


def test_no_second_run_of_a_class_is_tried_while_its_first_one_is(host: Host) -> None:
    host.run("r1")
    host.run("r2")
    host.settle()
    host.pod("py-0", runs=1)
    host.observe()
    first = host.take()
    host.pod("py-1", runs=1)
    host.observe()
    assert host.engine.take(host.now) is None
    host.finish(first)
    host.settle()
    assert (host.pod_of("r1"), host.pod_of("r2")) == ("py-0", "py-1")
