import pytest

from kruntimes_core import Reject, Workspace, WorkspacePhase
from kruntimes_core.testing import make_pod, make_workspace
from kruntimes_workspace_placement import WorkspacePlacement


def answer(workspace: Workspace | None, pod: str = "py-0", runtime: str = "py") -> Reject | None:
    plugin = WorkspacePlacement()
    return plugin.filter(make_pod(pod, runtime=runtime), plugin.prefilter(workspace))


def reason(workspace: Workspace | None, pod: str = "py-0", runtime: str = "py") -> str | None:
    rejection = answer(workspace, pod, runtime)
    return rejection.reason if rejection else None


def test_a_run_that_names_no_workspace_may_go_anywhere() -> None:
    assert WorkspacePlacement().prefilter(None) is None
    assert reason(None) is None


def test_a_bound_workspace_admits_its_own_pod_alone() -> None:
    bound = make_workspace(bound_pod="py-1")
    assert reason(bound, "py-1") is None
    assert reason(bound, "py-0") == "WorkspaceOnOtherPod"


def test_only_the_other_pods_are_elsewhere() -> None:
    other = answer(make_workspace(bound_pod="py-1"), "py-0")
    lost = answer(make_workspace(phase=WorkspacePhase.LOST), "py-0")
    assert other is not None
    assert other.pinned_elsewhere
    assert lost is not None
    assert not lost.pinned_elsewhere


@pytest.mark.parametrize(
    ("phase", "expected"),
    [
        (WorkspacePhase.PENDING, "WorkspacePending"),
        (WorkspacePhase.LOST, "WorkspaceLost"),
        (WorkspacePhase.RELEASED, "WorkspaceReleased"),
        (WorkspacePhase.UNKNOWN, "WorkspaceUnknown"),
    ],
)
def test_a_workspace_that_is_not_bound_admits_no_pod_and_says_why(
    phase: WorkspacePhase, expected: str
) -> None:
    workspace = make_workspace(phase=phase, bound_pod="py-0")
    assert [reason(workspace, pod) for pod in ("py-0", "py-1")] == [expected, expected]


def test_a_workspace_that_does_not_exist_is_waited_for() -> None:
    missing = make_workspace(phase=WorkspacePhase.MISSING, runtime="", bound_pod=None)
    assert reason(missing) == "WorkspaceMissing"


def test_bound_to_no_pod_is_as_good_as_pending() -> None:
    assert reason(make_workspace(bound_pod=None)) == "WorkspacePending"


@pytest.mark.parametrize("phase", [phase for phase in WorkspacePhase if phase is not WorkspacePhase.MISSING])
def test_a_workspace_of_another_runtime_is_never_right_whatever_its_phase(phase: WorkspacePhase) -> None:
    assert reason(make_workspace(runtime="js", phase=phase)) == "WorkspaceRuntimeMismatch"


def test_a_change_of_the_workspace_is_a_change_of_the_state_and_its_name_is_not() -> None:
    prefilter = WorkspacePlacement().prefilter
    pending = prefilter(make_workspace(phase=WorkspacePhase.PENDING, bound_pod=None))
    assert prefilter(make_workspace(bound_pod="py-0")) != pending
    assert prefilter(make_workspace(bound_pod="py-0")) != prefilter(make_workspace(bound_pod="py-1"))
    same = [prefilter(make_workspace(name)) for name in ("ws-1", "ws-2")]
    assert same[0] == same[1]
    assert hash(same[0]) == hash(same[1])


def test_every_reason_is_declared_with_a_text_of_its_own() -> None:
    given = {reason(make_workspace(phase=phase, bound_pod=None)) for phase in WorkspacePhase}
    given |= {reason(make_workspace(runtime="js")), reason(make_workspace(), "py-1")}
    assert given == set(WorkspacePlacement.reasons)
    assert len(set(WorkspacePlacement.reasons.values())) == len(given)
    assert all(text.format(runtime="py") for text in WorkspacePlacement.reasons.values())
