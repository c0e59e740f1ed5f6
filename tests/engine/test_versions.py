"""Nothing older than what was seen changes state; versions are ordered as integers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kruntimes_core.engine import events
from kruntimes_core.engine.api_calls import Found
from kruntimes_core.testing import pod_object
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness import RUNS, WORKSPACES, ApiServer, Host


def pod_event(host: Host, **fields: object) -> events.PodObserved:
    observation = host.server.decoder.pod(pod_object(**fields))  # type: ignore[arg-type]
    assert observation is not None
    return events.PodObserved(observation)


@pytest.mark.parametrize(
    ("first", "then", "counts"), [("100", "99", False), ("100", "101", True), ("9", "10", True)]
)
def test_an_observation_of_a_pod_counts_unless_its_number_is_smaller(
    host: Host, first: str, then: str, counts: bool
) -> None:
    host.tell(pod_event(host, version=first, ready=False))
    host.tell(pod_event(host, version=then, ready=True))
    assert host.pods()["py-0"].available is counts


@pytest.mark.parametrize(
    ("uid", "version", "known", "is_gone"),
    [
        pytest.param("former", "8", "9", False, id="a former Pod"),
        pytest.param("former", "", "v9", False, id="a former Pod, no version"),
        pytest.param("former", "v8", "v9", False, id="a former Pod, no order"),
        pytest.param("this", "", "v9", True, id="this Pod, no version"),
        pytest.param("this", "v8", "v9", True, id="this Pod, no order"),
        pytest.param("", "10", "9", True, id="no UID: the Pod that bears the name"),
    ],
)
def test_a_deletion_is_of_the_pod_that_it_names(
    host: Host, uid: str, version: str, known: str, is_gone: bool
) -> None:
    host.tell(pod_event(host, uid="former", version=known.replace("9", "5")))
    host.tell(pod_event(host, uid="this", version=known))
    host.tell(events.PodGone(namespace=NAMESPACE, name="py-0", uid=uid, version=version))
    assert ("py-0" not in host.pods()) is is_gone
    assert is_gone or host.pods()["py-0"].uid == "this"


def test_a_pod_that_a_list_does_not_have_is_gone_unless_it_is_newer_than_the_list(host: Host) -> None:
    host.tell(pod_event(host, name="old", version="5"))
    host.tell(pod_event(host, name="new", version="50"))
    host.tell(events.PodsListed(observations=(), version="20"))
    assert "old" not in host.pods()
    assert host.pods()["new"].name == "new"


def test_the_list_of_one_namespace_says_nothing_of_another(host: Host) -> None:
    host.tell(pod_event(host, namespace="team-b", version="5"))
    host.tell(events.PodsListed(observations=(), version="20", namespace=NAMESPACE))
    assert "py-0" in host.pods("team-b")


def test_an_older_observation_of_a_run_changes_nothing(host: Host) -> None:
    """A list or a read of an older state (C9): the Run that was seen running does not queue again."""
    host.pod("py-0", runs=1)
    host.run("r1")
    host.run("r2")
    before = host.server.list(RUNS)
    host.settle()
    assert (host.pod_of("r1"), host.pod_of("r2")) == ("py-0", None)
    cycles = host.cycles
    host.relist(RUNS, listing=before)
    host.settle()
    host.advance(25)
    assert (host.pod_of("r1"), host.pod_of("r2")) == ("py-0", None)
    assert host.cycles == cycles


def test_a_list_from_before_the_answer_to_an_own_bind_does_not_undo_it(host: Host) -> None:
    host.pod("py-0", runs=1)
    host.run("r1")
    host.observe()
    before = host.server.list(RUNS)
    host.watches.hold(RUNS)
    host.settle()
    host.relist(RUNS, listing=before)
    host.run("r2")
    host.watches.resume(RUNS)
    host.settle()
    assert host.server.invariants.binds == {("uid-r1", 1): 1}
    assert host.pod_of("r2") is None


def test_versions_without_an_order_lead_to_reads_and_to_the_same_placements(
    make_host: Callable[..., Host],
) -> None:
    host = make_host(server=ApiServer(spell=lambda number: f"v{number:x}q"))
    host.pod("py-0", runs=1)
    host.run("r1")
    host.run("r2")
    host.advance(5)
    assert (host.pod_of("r1"), host.pod_of("r2")) == ("py-0", None)
    host.change("r2", metadata={"labels": {"app": "a"}})
    host.end("r1")
    host.advance(5)
    assert host.pod_of("r2") == "py-0"


def test_versions_without_an_order_do_not_end_a_reservation_before_its_echo(
    make_host: Callable[..., Host],
) -> None:
    """What stands there is the version that the bind replaced; being different makes it no newer."""
    host = make_host(server=ApiServer(spell=lambda number: f"v{number:x}q"))
    host.pod("py-0", runs=1)
    host.run("r1")
    host.run("r2")
    host.observe()
    host.watches.hold(RUNS)
    host.settle()
    assert (host.pod_of("r1"), host.pod_of("r2")) == ("py-0", None)


def test_a_version_without_an_order_is_read_before_it_is_believed(make_host: Callable[..., Host]) -> None:
    """An event may be late as well as early; only what a read shows is known to be newer."""
    host = make_host(server=ApiServer(spell=lambda number: f"v{number:x}q"))
    host.run("r", labels={"n": "1"})
    host.settle()
    reads, before = host.reads("r"), host.server.read(NAMESPACE, "r")
    assert isinstance(before, Found)

    def label() -> str | None:
        entry = host.engine.find(NAMESPACE, "r")
        return entry.run.labels.get("n") if entry is not None else None

    host.change("r", metadata={"labels": {"n": "2"}})
    host.observe()
    assert label() == "1"
    host.settle()
    assert (label(), host.reads("r")) == ("2", reads + 1)
    host.tell(events.RunObserved(before.observation))
    assert label() == "2"
    host.settle()
    assert (label(), host.reads("r")) == ("2", reads + 2)


def test_an_older_observation_of_a_workspace_changes_nothing(host: Host) -> None:
    host.pod("py-0")
    host.pod("py-1")
    host.workspace("ws", phase="Bound", bound_pod="py-0")
    host.observe()
    older = host.server.decoder.workspace(host.server.get(WORKSPACES, NAMESPACE, "ws"))
    host.server.change(WORKSPACES, NAMESPACE, "ws", {"status": {"boundPod": "py-1"}})
    host.observe()
    host.tell(events.WorkspaceObserved(older))
    host.run("r", workspace="ws")
    host.settle()
    assert host.pod_of("r") == "py-1"
