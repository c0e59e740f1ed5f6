"""Runtimes have as many Pods as they ask for, and Pods live by heartbeats."""

from __future__ import annotations

from kruntimes_core.lab.runtimes.behaviour import Behaviour
from kruntimes_core.model.times import parse_time
from tests.unit.lab.runtimes.scene import Site, passes, play


def probed(site: Site, pod: str) -> float:
    """Seconds since the Pod was heard."""
    told = parse_time(site.conditions("pods", pod)["kruntimes.io/RuntimedReady"]["lastProbeTime"])
    assert told is not None
    return (site.clock.now().wall - told).total_seconds()


def test_a_runtime_gets_its_pods_with_its_capacity() -> None:
    async def scene(site: Site) -> None:
        site.runtime("py", 3, runs="4", cpu="500m")
        await passes(2)
        assert site.names("pods") == ["py-0", "py-1", "py-2"]
        pod = site.get("pods", "py-1")
        assert pod["metadata"]["labels"] == {"runtime": "py"}
        assert pod["metadata"]["annotations"] == {
            "kruntimes.io/capacity.cpu": "500m",
            "kruntimes.io/capacity.runs": "4",
        }
        assert pod["status"]["phase"] == "Running"
        assert site.get("runtimes", "py")["status"]["readyReplicas"] == 3

    play(scene)


def test_a_pod_is_ready_after_its_start_delay_and_not_before() -> None:
    async def scene(site: Site) -> None:
        site.runtime()
        await passes(2.9)
        assert site.get("pods", "py-0")["status"]["phase"] == "Pending"
        await passes(0.3)
        assert {kind: one["status"] for kind, one in site.conditions("pods", "py-0").items()} == {
            "PodScheduled": "True",
            "Ready": "True",
            "kruntimes.io/RuntimedReady": "True",
        }

    play(scene, Behaviour(start_seconds=3.0))


def test_heartbeats_keep_a_pod_fresh_and_change_nothing_else() -> None:
    async def scene(site: Site) -> None:
        site.runtime()
        await passes(1)
        before = site.conditions("pods", "py-0")
        for _ in range(60):
            await passes(1)
            assert probed(site, "py-0") <= 6
        after = site.conditions("pods", "py-0")
        assert after["Ready"] == before["Ready"]
        beats = [call for _, _, call in site.transport.calls if call.path.endswith("/pods/py-0/status")]
        assert len(beats) == 13

    play(scene)


def test_more_replicas_are_made_and_surplus_ones_go() -> None:
    async def scene(site: Site) -> None:
        site.runtime("py", 2)
        await passes(2)
        site.change("runtimes", "py", spec={"replicas": 4})
        await passes(2)
        assert site.names("pods") == ["py-0", "py-1", "py-2", "py-3"]
        site.change("runtimes", "py", spec={"replicas": 1})
        await passes(2)
        assert site.names("pods") == ["py-0"]
        assert site.get("runtimes", "py")["status"]["readyReplicas"] == 1

    play(scene)


def test_a_deleted_pod_comes_back_as_another_one() -> None:
    async def scene(site: Site) -> None:
        site.runtime()
        await passes(2)
        before = site.get("pods", "py-0")["metadata"]["uid"]
        site.delete("pods", "py-0")
        await passes(2)
        after = site.get("pods", "py-0")
        assert after["metadata"]["uid"] != before
        assert after["status"]["phase"] == "Running"

    play(scene)


def test_a_pod_takes_its_time_to_end() -> None:
    async def scene(site: Site) -> None:
        site.runtime()
        await passes(2)
        site.delete("pods", "py-0")
        await passes(2)
        assert "deletionTimestamp" in site.get("pods", "py-0")["metadata"]
        await passes(3)
        assert "deletionTimestamp" not in site.get("pods", "py-0")["metadata"]

    play(scene, Behaviour(stop_seconds=3.0))


def test_the_pods_of_a_deleted_runtime_go_with_it() -> None:
    async def scene(site: Site) -> None:
        site.runtime("py", 2)
        site.runtime("sql", 1)
        await passes(2)
        site.delete("runtimes", "py")
        await passes(2)
        assert site.names("pods") == ["sql-0"]

    play(scene)


def test_a_pod_that_belongs_to_nobody_lives_too() -> None:
    async def scene(site: Site) -> None:
        body = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "own", "labels": {"runtime": "py"}},
            "spec": {"containers": [{"name": "runtime", "image": "mine"}]},
        }
        site.create("pods", body)
        await passes(20)
        assert site.get("pods", "own")["status"]["phase"] == "Running"
        assert probed(site, "own") <= 6

    play(scene)


def test_what_others_say_of_a_pod_stays() -> None:
    async def scene(site: Site) -> None:
        site.runtime()
        await passes(2)
        theirs = {"type": "example.com/Checked", "status": "True", "reason": "Seen"}
        standing = site.get("pods", "py-0")["status"]["conditions"]
        site.change("pods", "py-0", "status", status={"conditions": [*standing, theirs], "podIP": "10.0.0.9"})
        await passes(11)
        assert theirs.items() <= site.conditions("pods", "py-0")["example.com/Checked"].items()
        assert site.get("pods", "py-0")["status"]["podIP"] == "10.0.0.9"

    play(scene)
