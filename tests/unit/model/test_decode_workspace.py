import reprlib
from typing import Any

import pytest

from kruntimes_core.model.decode import Decoder
from kruntimes_core.model.workspace import WorkspacePhase
from kruntimes_core.testing import make_workspace, workspace_object


def test_a_bound_workspace_is_read() -> None:
    observation = Decoder().workspace(workspace_object("ws-1", uid="W1", version="5", bound_pod="py-1"))
    assert observation.workspace == make_workspace("ws-1", uid="W1", bound_pod="py-1")
    assert observation.version == "5"


@pytest.mark.parametrize(
    ("phase", "known"),
    [
        (None, WorkspacePhase.PENDING),
        ("", WorkspacePhase.PENDING),
        ("Pending", WorkspacePhase.PENDING),
        ("Bound", WorkspacePhase.BOUND),
        ("Lost", WorkspacePhase.LOST),
        ("Released", WorkspacePhase.RELEASED),
        ("bound", WorkspacePhase.UNKNOWN),
        (5, WorkspacePhase.UNKNOWN),
        ([], WorkspacePhase.UNKNOWN),
    ],
)
def test_phases_are_the_contracts_and_others_are_unknown(phase: object, known: WorkspacePhase) -> None:
    obj = workspace_object() | {"status": {"phase": phase, "boundPod": "py-0"}}
    assert Decoder().workspace(obj).workspace.phase is known


@pytest.mark.parametrize(("value", "mode"), [(None, "RuntimePodLocal"), ("", "RuntimePodLocal"), (5, "")])
def test_a_mode_has_a_default_but_a_wrong_type_is_none(value: object, mode: str) -> None:
    obj = workspace_object() | {"spec": {"runtime": "py", "mode": value}}
    assert Decoder().workspace(obj).workspace.mode == mode


@pytest.mark.parametrize(
    "change",
    [{"status": None}, {"status": []}, {"status": {}}, {"status": {"phase": "Bound", "boundPod": 5}}],
    ids=reprlib.repr,
)
def test_a_bound_pod_that_is_no_text_is_none(change: dict[str, Any]) -> None:
    assert Decoder().workspace(workspace_object() | change).workspace.bound_pod is None


@pytest.mark.parametrize("part", ["metadata", "spec", "status"])
@pytest.mark.parametrize("value", [None, [], "x", 5, True])
def test_a_part_of_a_wrong_type_reads_as_empty(part: str, value: object) -> None:
    workspace = Decoder().workspace(workspace_object() | {part: value}).workspace
    fields = {
        "metadata": (workspace.namespace, workspace.name, workspace.uid),
        "spec": (workspace.runtime,),
        "status": (workspace.bound_pod or "",),
    }
    assert set(fields[part]) == {""}
