"""A workspace wakes those that name it, whatever becomes of it."""

from __future__ import annotations

import pytest

from kruntimes_core.engine import events
from kruntimes_core.engine.counters import WakeupSource
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness import WORKSPACES, Host


def test_a_workspace_wakes_those_that_name_it_and_nobody_else(host: Host) -> None:
    host.pod("py-0", runs=2)
    host.pod("py-1", runs=2, ready=False)
    host.run("r", workspace="ws")
    host.run("other", workspace="ws-2")
    host.settle()
    cycles = host.cycles
    host.workspace("ws", phase="Bound", bound_pod="py-0")
    host.settle()
    assert (host.pod_of("r"), host.pod_of("other")) == ("py-0", None)
    assert host.wakeups[WakeupSource.WORKSPACE] == 1
    # One for the Run, and one evaluation of the class of the other when the Pod was taken from.
    assert host.cycles - cycles == 2


def test_a_workspace_that_is_missing_then_pending_then_bound_then_lost_then_bound_elsewhere(
    host: Host,
) -> None:
    host.pod("py-0", runs=4)
    host.pod("py-1", runs=4)
    host.run("r", workspace="ws-1")
    host.run("r2", workspace="ws-2")
    host.run("r3")
    host.workspace("ws-2", runtime="js", bound_pod="js-0")
    host.settle()
    assert host.pod_of("r3") == "py-0"
    host.workspace("ws-1", phase="Pending", bound_pod=None)
    host.advance(100)
    host.workspace("ws-1", phase="Bound", bound_pod="py-0")
    host.settle()
    assert host.pod_of("r") == "py-0"
    assert host.texts("r") == [
        "waiting for its persistent workspace to be created",
        "waiting for its persistent workspace to be bound to a runtime pod",
    ]
    assert host.texts("r2") == ['waiting for a persistent workspace of runtime "py"']
    host.workspace("ws-1", phase="Lost", bound_pod=None)
    host.run("r4", workspace="ws-1")
    host.settle()
    assert host.pod_of("r4") is None
    host.workspace("ws-1", phase="Bound", bound_pod="py-1")
    host.settle()
    assert host.pod_of("r4") == "py-1"


@pytest.mark.parametrize("gone_by", ["event", "list"])
def test_a_workspace_that_is_deleted_is_missing(host: Host, gone_by: str) -> None:
    host.pod("py-0", runs=1)
    host.workspace("ws", phase="Bound", bound_pod="py-9")
    host.run("r", workspace="ws")
    host.settle()
    if gone_by == "list":
        host.watches.hold(WORKSPACES)
    host.delete("ws", kind=WORKSPACES)
    if gone_by == "list":
        host.relist(WORKSPACES)
    host.settle()
    assert host.texts("r")[-1] == "waiting for its persistent workspace to be created"


def test_a_late_deletion_of_a_former_workspace_does_not_touch_its_successor(host: Host) -> None:
    host.pod("py-0", runs=1)
    host.workspace("ws", uid="W2", bound_pod="py-0")
    host.observe()
    host.tell(events.WorkspaceGone(namespace=NAMESPACE, name="ws", uid="W1", version="999"))
    host.run("r", workspace="ws")
    host.settle()
    assert host.pod_of("r") == "py-0"


def test_the_bound_pod_of_a_workspace_is_the_one_that_bears_the_name_now(host: Host) -> None:
    host.workspace("ws", bound_pod="py-0")
    host.pod("py-0", runs=1, uid="P0", ready=False)
    host.run("r", workspace="ws")
    host.settle()
    host.pod("py-0", runs=1, uid="P0b")
    host.settle()
    assert host.status("r")["assignedPodUID"] == "P0b"
