"""What happened while a watch was down, and objects that came again under their names."""

from __future__ import annotations

import pytest

from kruntimes_core.engine import events
from kruntimes_core.testing import run_object
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness import PODS, RUNS, Host, hold_request


def test_a_run_that_vanished_while_the_watch_was_down_frees_its_room(host: Host) -> None:
    host.pod("py-0", runs=1)
    host.run("x", pod="py-0")
    host.run("r")
    host.settle()
    host.watches.hold(RUNS)
    host.delete("x")
    host.watches.resume(RUNS)
    host.relist(RUNS)
    host.settle()
    assert host.pod_of("r") == "py-0"


def test_a_reserved_run_that_a_list_does_not_have_gives_its_room_back(host: Host) -> None:
    host.pod("py-0", runs=1)
    host.run("r1")
    host.run("r2")
    host.observe()
    host.work()
    host.delete("r1")
    host.relist(RUNS)
    host.settle()
    assert host.pod_of("r2") == "py-0"


def test_a_pod_that_a_list_does_not_have_is_never_chosen(host: Host) -> None:
    host.pod("py-0")
    host.pod("py-1")
    host.settle()
    host.watches.hold(PODS)
    host.delete("py-0", kind=PODS)
    host.relist(PODS)
    host.run("r")
    host.settle()
    assert host.pod_of("r") == "py-1"


@pytest.mark.parametrize("deleted_first", [True, False])
def test_a_run_that_is_created_again_under_its_name_is_another_run(host: Host, deleted_first: bool) -> None:
    """The late deletion of the first does not take what the second holds, and its write changes nothing."""
    host.pod("py-0", runs=1)
    host.run("r1", uid="U1")
    host.disturb("r1", hold_request)
    host.settle()
    write, _ = host.held["U1"]
    gone = events.RunGone(namespace=NAMESPACE, name="r1", uid="U1", version="900")
    host.watches.hold(RUNS)
    host.run("r1", uid="U2", labels={"second": "yes"})
    host.watches.skip(RUNS)
    host.watches.resume(RUNS)
    successor = events.RunObserved(host.server.decoder.run(host.server.get(RUNS, NAMESPACE, "r1")))
    for event in (gone, successor) if deleted_first else (successor, gone):
        host.tell(event)
    host.settle()
    assert host.status("r1")["assignedPodUID"] == "uid-py-0"
    assert dict(host.pods()["py-0"].usage) == {"runs": 1}
    status = host.status("r1")
    host.release("r1")
    host.settle()
    assert host.status("r1") == status
    assert write.guard != host.server.accepted[-1].guard


def test_a_late_event_of_a_former_run_does_not_bring_it_back(host: Host) -> None:
    host.pod("py-0", runs=1)
    decode = host.server.decoder.run
    host.tell(events.RunObserved(decode(run_object("r1", uid="U2", version="500"))))
    host.tell(events.RunObserved(decode(run_object("r1", uid="U1", version="400"))))
    entry = host.engine.find(NAMESPACE, "r1")
    assert entry is not None
    assert entry.run.uid == "U2"
    assert host.engine.sizes["runs"] == 1
