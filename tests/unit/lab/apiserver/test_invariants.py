"""The watcher over accepted writes: what it counts, and what it calls broken."""

from __future__ import annotations

import pytest

from embedded.api import Site, new_api
from embedded.bodies import Object, pod_body, run_body
from kruntimes_core.lab.apiserver.faults.invariants import Invariants


@pytest.fixture
def runs() -> Site:
    return Site(new_api(), "runs")


def pod(runs: Site, capacity: str = "1") -> str:
    pods = Site(runs.api, "pods")
    created = pods.create(pod_body(annotations={"kruntimes.io/capacity.runs": capacity}))
    return str(created["metadata"]["uid"])


def bind(runs: Site, name: str, uid: str, **status: object) -> Object:
    placed = {"phase": "Scheduled", "assignedPod": "py-0", "assignedPodUID": uid}
    return runs.merge(name, {"status": {**placed, **status}}, "status")


def test_what_fits_breaks_nothing(runs: Site) -> None:
    invariants = Invariants(runs.api)
    uid = pod(runs, "2")
    for name in ("a", "b"):
        runs.create(run_body(name))
        bind(runs, name, uid)
    runs.merge("a", {"status": {"phase": "Running"}}, "status")
    assert (invariants.binds, dict(invariants.usage(uid))) == (2, {"runs": 2})
    runs.merge("a", {"status": {"phase": "Succeeded"}}, "status")
    runs.delete("b")
    assert dict(invariants.usage(uid)) == {}
    invariants.check()


def test_a_pod_that_is_oversold_is_found(runs: Site) -> None:
    invariants = Invariants(runs.api)
    uid = pod(runs)
    for name in ("a", "b"):
        runs.create(run_body(name))
        bind(runs, name, uid)
    with pytest.raises(AssertionError, match=r"pod py-0 holds {'runs': 2} of {'runs': 1}"):
        invariants.check()


def test_what_was_there_before_counts(runs: Site) -> None:
    uid = pod(runs)
    for name in ("a", "b"):
        runs.create(run_body(name))
    bind(runs, "a", uid)
    invariants = Invariants(runs.api)
    bind(runs, "b", uid)
    assert len(invariants.broken) == 1


def test_a_second_bind_in_one_attempt_is_found(runs: Site) -> None:
    invariants = Invariants(runs.api)
    uid = pod(runs)
    runs.create(run_body("a"))
    bind(runs, "a", uid)
    released = {"phase": "Pending", "assignedPod": None, "assignedPodUID": None}
    runs.merge("a", {"status": {**released, "attempt": 2}}, "status")
    bind(runs, "a", uid)
    invariants.check()
    runs.merge("a", {"status": released}, "status")
    bind(runs, "a", uid)
    assert invariants.broken == ["run a was bound twice in attempt 2"]


def test_a_bind_to_a_pod_that_is_gone_or_another_is_found(runs: Site) -> None:
    invariants, lenient = Invariants(runs.api), Invariants(runs.api, pods_may_go=True)
    pod(runs)
    runs.create(run_body("a"))
    bind(runs, "a", "u-other")
    assert invariants.broken == ["run a was bound to u-other, which is gone"]
    assert lenient.broken == []
