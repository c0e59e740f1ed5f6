"""Usage and targets by Run and Pod UID, whether or not the Pod is known."""

from __future__ import annotations

import pytest

from kruntimes_core.testing import run_object
from kruntimes_core.testing.builders import NAMESPACE, NOW
from kruntimes_core.testing.harness import PODS, Host


def test_usage_is_kept_by_pod_uid_whether_or_not_the_pod_is_known(host: Host) -> None:
    host.run("early", pod="py-0", pod_uid="uid-py-0", labels={"app": "a"})
    host.run("other", pod="py-0", pod_uid="uid-former", labels={"app": "b"})
    host.settle()
    host.pod("py-0", runs=2)
    host.settle()
    assert dict(host.pods()["py-0"].usage) == {"runs": 1}
    assert [dict(labels) for labels in host.pods()["py-0"].targets] == [{"app": "a"}]
    namespace = host.engine.cache.snapshot(NAMESPACE, "py", NOW).targets
    assert sorted(dict(labels)["app"] for labels in namespace) == ["a", "b"]


def test_an_assignment_without_a_uid_counts_on_the_pod_that_bears_the_name_now(host: Host) -> None:
    run = run_object("r", pod="py-0")
    del run["status"]["assignedPodUID"]
    host.server.create(run)
    host.pod("py-0")
    host.settle()
    assert dict(host.pods()["py-0"].usage) == {"runs": 1}
    host.pod("py-0", uid="uid-next")
    host.settle()
    assert dict(host.pods()["py-0"].usage) == {"runs": 1}


def test_a_pod_that_is_created_again_under_its_name_carries_nothing_over(host: Host) -> None:
    host.pod("py-0", runs=1)
    host.run("r1")
    host.settle()
    host.pod("py-0", runs=1, uid="uid-next")
    host.settle()
    assert not host.pods()["py-0"].usage
    host.run("r2")
    host.settle()
    assert host.status("r2")["assignedPodUID"] == "uid-next"


def test_a_pod_that_moves_to_another_runtime_leaves_the_first(host: Host) -> None:
    host.pod("py-0")
    host.settle()
    host.server.change(PODS, NAMESPACE, "py-0", {"metadata": {"labels": {"runtime": "js"}}})
    host.run("r-py")
    host.run("r-js", runtime="js")
    host.settle()
    assert (host.pod_of("r-py"), host.pod_of("r-js")) == (None, "py-0")


@pytest.mark.parametrize("phase", ["Hibernating", "Scheduled", "Running", "Ready"])
def test_an_active_or_unknown_phase_with_a_pod_holds_room(host: Host, phase: str) -> None:
    host.pod("py-0", runs=1)
    host.run("holder", pod="py-0", phase=phase)
    host.run("r")
    host.settle()
    assert host.pod_of("r") is None
    host.end("holder", phase="Failed")
    host.settle()
    assert host.pod_of("r") == "py-0"


def test_an_active_run_whose_request_cannot_be_read_holds_what_can_be(host: Host) -> None:
    host.pod("py-0", runs=4, capacity={"gpu": "2"})
    host.run("holder", pod="py-0", requests={"gpu": "2", "disk": "1K"})
    host.settle()
    assert dict(host.pods()["py-0"].usage) == {"runs": 1, "gpu": 2}


def test_an_active_run_with_a_deletion_timestamp_counts_until_it_is_gone(host: Host) -> None:
    host.pod("py-0", runs=1)
    host.run("holder", pod="py-0", metadata={"deletionTimestamp": "2026-01-02T03:04:05Z"})
    host.run("r")
    host.settle()
    assert host.pod_of("r") is None
    host.delete("holder")
    host.settle()
    assert host.pod_of("r") == "py-0"
