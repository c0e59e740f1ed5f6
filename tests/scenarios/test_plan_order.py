"""The order of a plan: of arrival, with every Run where it got its last answer, wakeups included."""

from __future__ import annotations

from typing import Any

import pytest

from kruntimes_core.testing import (
    affinity_object,
    pod_object,
    run_object,
    term_object,
    workspace_object,
)
from tests.scenarios.conftest import Planned
from tests.scenarios.planning import Object

NEAR_A = affinity_object(required=[term_object({"app": "a"})])
BASE_TEXT = 'waiting for available runtime pods for runtime "py"'


def created(name: str, second: int, **more: Any) -> Object:
    return run_object(name, metadata={"creationTimestamp": f"2026-01-02T03:00:{second:02}Z"}, **more)


class TestArrival:
    """By creationTimestamp, then namespace and name, whatever the order of the input."""

    def test_the_older_first_and_then_by_name(self, plan: Planned) -> None:
        undated = run_object("m", metadata={"creationTimestamp": None})
        runs = [created("b", 2), created("a", 2), created("z", 1), undated]
        one_place = pod_object("py-0", capacity={"runs": "1"})
        made = plan(*runs, one_place)
        assert made.order == ["z", "a", "b", "m"]
        assert [name for name, pod in made.pods.items() if pod] == ["z"]

    def test_namespaces_share_one_order_and_nothing_else(self, plan: Planned) -> None:
        objects = [
            pod_object("py-0", namespace="b", uid="P-b", capacity={"runs": "1"}),
            pod_object("py-0", namespace="a", uid="P-a", capacity={"runs": "1"}),
            created("first", 1, namespace="b"),
            created("second", 1, namespace="a"),
            created("third", 0, namespace="b"),
        ]
        made = plan(*objects)
        assert made.order == ["third", "second", "first"]
        assert {one["run"]: one["podUID"] for one in made.decisions} == {
            "third": "P-b",
            "second": "P-a",
            "first": None,
        }

    def test_a_small_run_passes_a_large_one_that_waits(self, plan: Planned) -> None:
        pod = pod_object("py-0", capacity={"runs": "2"})
        made = plan(pod, created("large", 1, requests={"runs": "3"}), created("small", 2))
        assert made.order == ["large", "small"]
        assert made["large"]["never"] is True
        assert made["small"]["pod"] == "py-0"


class TestWakeups:
    """A Run that was told to wait is tried again when what it waits for comes, and stands there."""

    def test_a_target_that_comes_later_takes_its_followers_with_it(self, plan: Planned) -> None:
        pods = [pod_object("py-0", capacity={"runs": "9"}), pod_object("py-1", capacity={"runs": "9"})]
        held = run_object("x", pod="py-0")
        follower = created("follower", 1, affinity=NEAR_A)
        other = created("other", 2)
        leader = created("leader", 3, labels={"app": "a"})
        late = created("late", 4)
        made = plan(*pods, held, follower, other, leader, late)
        assert made.order == ["other", "leader", "follower", "late"]
        assert made["leader"]["pod"] == made["follower"]["pod"]

    def test_the_older_of_two_followers_comes_first(self, plan: Planned) -> None:
        pod = pod_object("py-0", capacity={"runs": "2"})
        followers = [created(name, second, affinity=NEAR_A) for name, second in (("young", 2), ("old", 1))]
        made = plan(pod, *followers, created("leader", 3, labels={"app": "a"}))
        assert made.pods == {"leader": "py-0", "old": "py-0", "young": None}
        assert made["young"]["reason"] == "InsufficientCapacity"

    def test_a_chain_is_followed_to_its_end(self, plan: Planned) -> None:
        pod = pod_object("py-0", capacity={"runs": "99"})
        chain = [
            created(
                f"r{number}",
                number,
                labels={"step": f"s{number}"},
                affinity=affinity_object(required=[term_object({"step": f"s{number + 1}"})]),
            )
            for number in range(12)
        ]
        last = created("last", 50, labels={"step": "s12"})
        made = plan(pod, *chain, last)
        assert made.order == ["last", *[f"r{number}" for number in reversed(range(12))]]
        assert set(made.pods.values()) == {"py-0"}

    def test_a_target_on_another_runtime_helps_nobody(self, plan: Planned) -> None:
        pods = [pod_object("py-0"), pod_object("js-0", runtime="js")]
        made = plan(
            *pods, created("r", 1, affinity=NEAR_A), created("t", 2, labels={"app": "a"}, runtime="js")
        )
        assert made.pods == {"r": None, "t": "js-0"}
        assert made["r"]["reason"] == "AffinityNotSatisfied"

    def test_a_seed_that_waits_is_overtaken_by_a_target(self, plan: Planned) -> None:
        """It could have seeded its cohort, had there been room; now it must follow the one that did."""
        pods = [pod_object("py-0", capacity={"runs": "1"}), pod_object("py-1", capacity={"runs": "1"})]
        full = [run_object("x", pod="py-0"), run_object("y", pod="py-1")]
        seed = created("seed", 1, labels={"app": "a"}, affinity=NEAR_A)
        made = plan(*pods, *full, seed)
        assert (made["seed"]["reason"], made["seed"]["message"]) == ("InsufficientCapacity", BASE_TEXT)

    def test_no_run_ends_so_no_room_comes(self, plan: Planned) -> None:
        pod = pod_object("py-0", capacity={"runs": "1"})
        cancelled = created("cancelled", 1, spec={"cancelRequested": True})
        made = plan(pod, run_object("x", pod="py-0"), cancelled, created("r", 2))
        assert [one["outcome"] for one in made.decisions] == ["Cancelled", "Waiting"]


class TestNever:
    """True when no Pod of the Runtime, ready or not, could hold the request even if idle."""

    @pytest.mark.parametrize(
        ("pods", "never"),
        [
            ([], False),
            ([pod_object("py-0", capacity={"gpu": "4"})], False),
            ([pod_object("py-0", capacity={"gpu": "3999m"})], True),
            ([pod_object("py-0", capacity={"gpu": "3"}), pod_object("py-1", capacity={"gpu": "5"})], False),
            ([pod_object("py-0", capacity={"gpu": "9"}, ready=False)], False),
            ([pod_object("py-0", capacity={"gpu": "9"}, phase="Pending")], False),
            ([pod_object("js-0", runtime="js", capacity={"gpu": "9"})], False),
            ([pod_object("py-0", namespace="team-b", capacity={"gpu": "9"})], False),
            ([pod_object("py-0", capacity={"gpu": "9", "runs": "1"})], True),
        ],
        ids=["none", "full", "a little less", "one of two", "not ready", "starting", "js", "other", "runs"],
    )
    def test_never_is_about_idle_pods(self, plan: Planned, pods: list[Object], never: bool) -> None:
        there = run_object("x", pod="py-0", requests={"gpu": "4"})
        made = plan(*pods, there, run_object("r", requests={"gpu": "4", "runs": "2"}))["r"]
        assert made["never"] is never
        assert made["pod"] == ("py-1" if len(pods) == 2 else None)

    def test_affinity_is_no_never(self, plan: Planned) -> None:
        made = plan(pod_object("py-0"), run_object("r", affinity=NEAR_A))["r"]
        assert (made["reason"], made["never"]) == ("AffinityNotSatisfied", False)


class TestWorkspaces:
    """A Run that names a workspace waits for it, is told for what, and never fails."""

    PODS = (pod_object("py-0"), pod_object("py-1"))

    @pytest.mark.parametrize(
        ("workspace", "reason"),
        [
            (None, "WorkspaceMissing"),
            (workspace_object("ws", namespace="team-b"), "WorkspaceMissing"),
            (workspace_object("ws", phase="Pending", bound_pod=None), "WorkspacePending"),
            (workspace_object("ws", phase="", bound_pod=None), "WorkspacePending"),
            (workspace_object("ws", bound_pod=None), "WorkspacePending"),
            (workspace_object("ws", phase="Lost"), "WorkspaceLost"),
            (workspace_object("ws", phase="Released"), "WorkspaceReleased"),
            (workspace_object("ws", phase="Melted"), "WorkspaceUnknown"),
            (workspace_object("ws", runtime="js"), "WorkspaceRuntimeMismatch"),
            (workspace_object("ws", bound_pod="py-9"), "WorkspaceOnOtherPod"),
        ],
    )
    def test_each_state_has_its_reason(self, plan: Planned, workspace: Object | None, reason: str) -> None:
        objects = [*self.PODS, run_object("r", workspace="ws"), run_object("s")]
        made = plan(*objects, *([workspace] if workspace else []))
        assert (made["r"]["outcome"], made["r"]["reason"]) == ("Waiting", reason)
        assert made["r"]["message"].startswith("waiting for ")
        assert len(made["r"]["message"]) < 200
        assert made["s"]["pod"] == "py-0"

    def test_bound_it_leads_to_its_pod_alone(self, plan: Planned) -> None:
        crowded = pod_object("py-1", capacity={"runs": "1"})
        objects = [self.PODS[0], crowded, workspace_object("ws", bound_pod="py-1")]
        made = plan(*objects, created("r", 1, workspace="ws"), created("s", 2, workspace="ws"))
        assert made.pods == {"r": "py-1", "s": None}
        assert (made["s"]["reason"], made["s"]["message"]) == ("InsufficientCapacity", BASE_TEXT)

    @pytest.mark.parametrize("field", [{"kind": "PersistentVolumeClaim"}, {"apiGroup": "v1"}])
    def test_another_kind_is_no_workspace(self, plan: Planned, field: Object) -> None:
        run = run_object("r", spec={"workspace": {"name": "ws", **field}})
        made = plan(*self.PODS, workspace_object("ws"), run)["r"]
        assert (made["outcome"], made["reason"]) == ("Failed", "InvalidWorkspace")

    @pytest.mark.parametrize(
        "field", [{"kind": "PersistentWorkspace"}, {"apiGroup": "kruntimes.io/v1alpha1"}]
    )
    def test_the_defaults_may_be_written(self, plan: Planned, field: Object) -> None:
        run = run_object("r", spec={"workspace": {"name": "ws", **field}})
        assert plan(*self.PODS, workspace_object("ws"), run)["r"]["pod"] == "py-0"


class TestVerdictsBeforeAnyPod:
    """What ends a Run, or leaves it alone, whatever the Pods are."""

    def test_cancelled_comes_before_invalid(self, plan: Planned) -> None:
        run = run_object("r", requests={"gpu": "-1"}, spec={"cancelRequested": True})
        made = plan(pod_object("py-0"), run)["r"]
        assert (made["outcome"], made["reason"], made["pod"]) == ("Cancelled", "Cancelled", None)
        assert made["message"]

    @pytest.mark.parametrize("written", [False, None, "true", 1])
    def test_only_true_cancels(self, plan: Planned, written: Any) -> None:
        run = run_object("r", spec={"cancelRequested": written})
        assert plan(pod_object("py-0"), run)["r"]["pod"] == "py-0"

    @pytest.mark.parametrize("phase", ["Scheduled", "Running", "Ready", "Succeeded", "Failed", "Cancelled"])
    def test_what_is_not_pending_is_not_planned(self, plan: Planned, phase: str) -> None:
        run = run_object("r", pod="py-0", phase=phase, spec={"cancelRequested": True})
        assert plan(pod_object("py-0"), run).decisions == []

    @pytest.mark.parametrize("status", [None, {}, {"phase": ""}, {"phase": None}, {"phase": "Pending"}])
    def test_no_phase_is_pending(self, plan: Planned, status: Any) -> None:
        run = run_object("r") | {"status": status}
        assert plan(pod_object("py-0"), run)["r"]["pod"] == "py-0"

    def test_a_text_of_the_schedulers_own_goes_and_another_stays(self, plan: Planned) -> None:
        own = run_object("own", status={"message": "waiting for better times"})
        other = run_object("other", status={"message": "lost its pod"})
        made = plan(pod_object("py-0"), own, other)
        assert (made["own"]["message"], made["other"]["message"]) == ("", "lost its pod")
