"""A Pod that is new, changed or emptier wakes those that wait for its Runtime."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from engine_scenes import full

from kruntimes_core.engine.counters import WakeupSource
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness import PODS, Host, hold_request


@pytest.mark.parametrize(
    "change",
    [
        lambda host: host.pod("py-1", runs=1),
        lambda host: host.server.change(
            PODS, NAMESPACE, "py-0", {"metadata": {"annotations": {"kruntimes.io/capacity.runs": "2"}}}
        ),
    ],
    ids=["new", "more capacity"],
)
def test_a_new_or_changed_pod_wakes_by_runtime_pod(host: Host, change: Callable[[Host], Any]) -> None:
    full(host)
    change(host)
    host.settle()
    assert host.pod_of("r") is not None
    assert host.wakeups == {WakeupSource.RUNTIME_POD: 1}


def test_a_pod_that_gets_ready_wakes(host: Host) -> None:
    host.pod("py-0", ready=False)
    host.run("r")
    host.settle()
    host.ready("py-0", True)
    host.settle()
    assert host.pod_of("r") == "py-0"
    assert host.wakeups == {WakeupSource.RUNTIME_POD: 1}


@pytest.mark.parametrize("how", ["succeeded", "failed", "deleted", "pending again"])
def test_released_capacity_wakes_by_capacity_released(host: Host, how: str) -> None:
    full(host)
    if how == "deleted":
        host.delete("x")
    elif how == "pending again":
        host.change("x", status={"phase": "Pending", "assignedPod": None, "assignedPodUID": None})
        host.change("x", spec={"cancelRequested": True})
    else:
        host.end("x", phase=how.capitalize())
    host.settle()
    assert host.pod_of("r") == "py-0"
    assert host.wakeups == {WakeupSource.CAPACITY_RELEASED: 1}


def test_an_active_run_that_moves_its_claim_frees_its_former_pod(host: Host) -> None:
    full(host)
    host.change("x", status={"assignedPod": "py-7", "assignedPodUID": "uid-py-7"})
    host.settle()
    assert host.pod_of("r") == "py-0"


def test_a_reservation_that_is_released_wakes_by_reservation_released(host: Host) -> None:
    host.pod("py-0", runs=1)
    host.disturb("r1", hold_request)
    host.run("r1")
    host.settle()
    host.run("r2")
    host.settle()
    host.engine.counters.wakeups.clear()
    host.change("r1", spec={"cancelRequested": True})
    host.release("r1")
    host.settle()
    assert host.pod_of("r2") == "py-0"
    assert host.wakeups == {WakeupSource.RESERVATION_RELEASED: 1}
