"""Namespaces and Runtimes that are gone, or that only Runs name, have no rows."""

from __future__ import annotations

import gc
from collections import Counter

from counting.crowd import Crowd

from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.testing.builders import NAMESPACE, NOW
from kruntimes_core.testing.harness import PODS, WORKSPACES, Host

OURS = ("kruntimes_core.engine", "kruntimes_core.framework", "kruntimes_core.model")


def test_namespaces_that_come_and_go_leave_nothing_behind(host: Host) -> None:
    for number in range(50):
        namespace = f"ns-{number}"
        host.pod("py-0", namespace=namespace)
        host.workspace("ws", namespace=namespace)
        host.run("r", namespace=namespace, uid=f"uid-{number}")
        host.run("waits", namespace=namespace, requests={"gpu": "1"})
        host.settle()
        assert host.pod_of("r", namespace) == "py-0"
        assert host.engine.cache.namespaces == 1
        host.delete("r", namespace)
        host.delete("waits", namespace)
        host.delete("py-0", namespace, PODS)
        host.delete("ws", namespace, WORKSPACES)
        host.settle()
    assert host.engine.cache.namespaces == 0


def test_runtimes_that_runs_only_name_leave_nothing_behind(profiles: Profiles) -> None:
    host = Host(profiles)
    pods = {id(host.engine.cache.snapshot(NAMESPACE, f"rt-{number}", NOW).pods) for number in range(100)}
    assert len(pods) == 1


def test_the_first_pods_of_two_runtimes_are_each_found(crowd: Crowd) -> None:
    """Runtimes without Pods share an object, and do not mix up what changed in the one and the other."""
    for runtime in ("a", "b"):
        crowd.see_run(f"run-{runtime}", runtime=runtime)
    crowd.decide()
    for runtime in ("b", "a"):
        crowd.see_pod(f"pod-{runtime}", runtime=runtime)
        crowd.decide()
    assert (crowd.assumed("run-a"), crowd.assumed("run-b")) == ("pod-a", "pod-b")


def test_pods_and_runs_that_come_and_go_leave_no_objects_behind(host: Host) -> None:
    """Besides the latest decisions and heartbeats, of which so many are kept and no more."""

    def turn(number: int) -> None:
        host.pod(f"py-{number}", uid=f"pod-{number}")
        host.run(f"r{number}", uid=f"run-{number}")
        host.settle()
        assert host.pod_of(f"r{number}") == f"py-{number}"
        host.end(f"r{number}")
        host.settle()
        host.delete(f"r{number}")
        host.delete(f"py-{number}", kind=PODS)
        host.settle()

    def objects() -> Counter[str]:
        host.requests.clear()
        host.server.accepted.clear()
        gc.collect()
        kinds = [type(one) for one in gc.get_objects()]
        return Counter(kind.__qualname__ for kind in kinds if str(kind.__module__).startswith(OURS))

    for number in range(1_100):
        turn(number)
    before = objects()
    for number in range(1_100, 1_150):
        turn(number)
    assert objects() - before == Counter()
