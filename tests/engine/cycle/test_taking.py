"""What is taken first: nothing before all is known, and then in order of arrival."""

from __future__ import annotations

from collections.abc import Callable

from kruntimes_core import InvalidRun
from kruntimes_core.testing.harness import PODS, RUNS, Host
from kruntimes_core.testing.plugins import fake_plugin, profiles_of


def test_nothing_is_decided_before_runs_pods_and_workspaces_are_all_listed(
    make_host: Callable[..., Host],
) -> None:
    host = make_host(leading=False)
    host.pod("py-0")
    host.run("r")
    host.engine.lead(host.now)
    host.relist(PODS)
    host.relist("PersistentWorkspace")
    host.settle()
    assert not host.engine.synced
    assert not host.requests
    host.relist(RUNS)
    host.settle()
    assert host.pod_of("r") == "py-0"


def test_a_host_that_does_not_lead_decides_and_writes_nothing(make_host: Callable[..., Host]) -> None:
    host = make_host(leading=False)
    host.relist("Pod", "PersistentWorkspace", "Run")
    host.pod("py-0")
    host.run("r")
    host.advance(120)
    assert not host.works
    assert not host.requests
    host.engine.lead(host.now)
    host.settle()
    assert host.pod_of("r") == "py-0"


def test_runs_of_one_list_leave_in_order_of_creation_then_by_name(host: Host) -> None:
    host.watches.hold(RUNS)
    host.pod("py-0", runs=2)
    for name, second in (("c", 1), ("b", 2), ("a", 2), ("d", 0)):
        host.run(name, metadata={"creationTimestamp": f"2026-01-02T03:04:0{second}Z"})
    host.relist(RUNS)
    host.settle()
    assert {name for name in "abcd" if host.pod_of(name)} == {"c", "d"}
    host.end("c")
    host.watches.resume(RUNS)
    host.settle()
    assert host.pod_of("a") == "py-0"


def test_runs_leave_the_queue_as_they_were_first_seen_pending(host: Host) -> None:
    host.pod("py-0", runs=1)
    host.run("late", metadata={"creationTimestamp": "2026-01-02T03:04:09Z"})
    host.run("early", metadata={"creationTimestamp": "2026-01-02T03:04:01Z"})
    host.settle()
    assert (host.pod_of("late"), host.pod_of("early")) == ("py-0", None)


def test_an_ending_that_was_not_sent_before_the_lead_was_lost_is_decided_anew() -> None:
    """The Run may be valid by now, and is not ended when the lead comes back before that is known."""
    shut = [True]

    def prefilter() -> None:
        if shut:
            raise InvalidRun("Shut", "it is shut")

    host = Host(profiles_of(fake_plugin(prefilter=prefilter, stateful=True)))
    host.pod("py-0")
    host.run("r")
    host.observe()
    host.work()
    host.engine.stand_down(host.now)
    shut.clear()
    host.engine.lead(host.now)
    assert not host.send()
    host.settle()
    assert host.pod_of("r") == "py-0"
    assert len(host.writes("r")) == 1
