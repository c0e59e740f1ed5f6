"""What arrives at a development cluster; the demo in virtual time, with the real scheduler and plugins."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import islice

import pytest
from virtual.time import run_virtual

from kruntimes_core.lab.apiserver.errors import ApiError
from kruntimes_core.lab.apiserver.requests import AcceptedWrite
from kruntimes_core.lab.dev import workload
from kruntimes_core.lab.dev.overview import RunCounts
from kruntimes_core.lab.dev.workload import DEMO_RUNTIMES, Arrival, demo, feed, first_runs, plain_runs
from kruntimes_core.lab.runtimes.behaviour import Behaviour
from kruntimes_core.model.run import ACTIVE_PHASES
from kruntimes_core.testing.plugins import installed_profiles
from tests.unit.lab.runtimes.scene import NAMESPACE, Object, Site, passes

CAPACITY = {"runs": 4, "cpu": 8}
BEHAVIOUR = Behaviour(run=(3.0, 8.0), failure_rate=0.1, seed=3)


class Witness:
    """Sees every write: how each Run was placed, what it said while it waited, and what Pods held."""

    def __init__(self) -> None:
        self.pod_of: dict[str, str] = {}
        self.run: dict[str, Object] = {}
        self.waited: set[str] = set()
        self.active: dict[str, tuple[str, int]] = {}
        self.most = Counter[str]()

    def note(self, write: AcceptedWrite) -> None:
        if write.plural != "runs" or write.after is None:
            return
        name, status = write.after["metadata"]["name"], write.after.get("status", {})
        self.run[name] = write.after
        if status.get("message", "").startswith("waiting for"):
            self.waited.add(name)
        if status.get("phase") in ACTIVE_PHASES:
            cpu = write.after["spec"].get("resources", {}).get("requests", {}).get("cpu", "0")
            self.pod_of[name] = status["assignedPod"]
            self.active[name] = (status["assignedPod"], int(cpu))
        else:
            self.active.pop(name, None)
        held = Counter(pod for pod, _ in self.active.values())
        for pod in held:
            cpus = sum(cpu for on, cpu in self.active.values() if on == pod)
            assert held[pod] <= CAPACITY["runs"], f"{pod} holds {held[pod]} Runs"
            assert cpus <= CAPACITY["cpu"], f"{pod} holds {cpus} cpu"

    def pods(self, scene: str) -> dict[str, list[str]]:
        """The Pods of each performance of a scene, by its number."""
        found: dict[str, list[str]] = defaultdict(list)
        for name, pod in self.pod_of.items():
            stem, *_, number = name.split("-")
            if stem == scene:
                found[number].append(pod)
        return found

    def first_attempts(self, scene: str) -> list[list[str]]:
        """The Pods of each performance of a scene in which no Run was tried again."""
        return [
            pods
            for number, pods in self.pods(scene).items()
            if all(self.run[f"{scene}-{one}-{number}"]["status"].get("attempt", 1) == 1 for one in "abc")
        ]


@pytest.fixture(scope="module")
def seen() -> tuple[Witness, RunCounts]:
    """A demo of 150 Runs, played to its end."""

    async def main() -> tuple[Witness, RunCounts]:
        site, witness = Site(BEHAVIOUR), Witness()
        counts = RunCounts(site.clock)
        site.api.observers += [witness.note, counts.note]
        host = site.host(installed_profiles())
        async with site.alive(host.run()):
            for name in DEMO_RUNTIMES:
                site.runtime(name, 3, **{resource: str(amount) for resource, amount in CAPACITY.items()})
            await feed(site.api, first_runs(demo(3, DEMO_RUNTIMES, 3, CAPACITY), 150))
            await passes(120)
            assert site.lines.getvalue() == ""
        return witness, counts

    return run_virtual(main())


def test_every_run_ends_well_in_the_end(seen: tuple[Witness, RunCounts]) -> None:
    _, counts = seen
    assert (counts.created, counts.unfinished) == (150, 0)
    assert counts.well
    assert counts.retries > 0
    assert counts.placements == counts.created + counts.retries


def test_replicas_keep_apart(seen: tuple[Witness, RunCounts]) -> None:
    witness, _ = seen
    assert len([pods for pods in witness.pods("web").values() if len(pods) == 3]) > 3
    first_attempts = witness.first_attempts("web")
    assert first_attempts
    assert all(len(set(pods)) == 3 for pods in first_attempts)


def test_cohorts_stay_together(seen: tuple[Witness, RunCounts]) -> None:
    witness, _ = seen
    first_attempts = witness.first_attempts("etl")
    assert len(first_attempts) > 2
    assert all(len(set(pods)) == 1 for pods in first_attempts)


def test_cells_of_a_notebook_go_where_its_files_are(seen: tuple[Witness, RunCounts]) -> None:
    witness, _ = seen
    where: dict[str, set[str]] = defaultdict(set)
    for name, run in witness.run.items():
        if "workspace" in run["spec"]:
            where[run["spec"]["workspace"]["name"]].add(witness.pod_of[name])
    assert set(where) == {f"notebook-{runtime}" for runtime in DEMO_RUNTIMES}
    assert all(len(pods) == 1 for pods in where.values())


def test_a_rush_has_to_wait_and_a_caller_joins_its_function(seen: tuple[Witness, RunCounts]) -> None:
    witness, _ = seen
    assert any(name.startswith("train-") for name in witness.waited)
    pairs = [
        (witness.pod_of[f"api-{number}"], witness.pod_of[f"caller-{number}"])
        for number in witness.pods("api")
        if f"caller-{number}" in witness.pod_of
    ]
    assert any(api == caller for api, caller in pairs)


def test_runs_are_in_the_namespace_that_they_say(seen: tuple[Witness, RunCounts]) -> None:
    witness, _ = seen
    assert {run["metadata"]["namespace"] for run in witness.run.values()} == {NAMESPACE}


def test_the_demo_is_the_same_for_the_same_seed() -> None:
    one, same, other = (list(islice(demo(seed, DEMO_RUNTIMES, 3, CAPACITY), 50)) for seed in (1, 1, 2))
    assert one == same
    assert one != other


@pytest.mark.parametrize("capacity", [{"runs": 1}, {"gpu": 2}, {"cpu": 1}, {}])
def test_a_demo_asks_for_nothing_that_pods_do_not_have(capacity: dict[str, int]) -> None:
    for arrival in islice(demo(1, ("py",), 1, capacity), 30):
        for obj in arrival.objects:
            requests = obj["spec"].get("resources", {}).get("requests", {})
            assert all(int(amount) <= capacity.get(resource, 0) for resource, amount in requests.items())


def runs(arrivals: list[Arrival]) -> list[str]:
    return [obj["metadata"]["name"] for one in arrivals for obj in one.objects if obj["kind"] == "Run"]


@pytest.mark.parametrize("number", [1, 2, 3, 7, 50])
def test_exactly_so_many_runs_arrive(number: int) -> None:
    assert len(runs(list(first_runs(demo(1, DEMO_RUNTIMES, 3, {}), number)))) == number
    assert len(runs(list(first_runs(plain_runs(["py"]), number)))) == number


def test_plain_runs_take_turns_at_the_runtimes() -> None:
    objects = [arrival.objects[0] for arrival in islice(plain_runs(["a", "b"]), 4)]
    assert [obj["spec"]["runtime"] for obj in objects] == ["a", "b", "a", "b"]


def test_names_are_never_used_twice() -> None:
    names = runs(list(first_runs(demo(1, DEMO_RUNTIMES, 3, {"cpu": 8}), 500)))
    assert len(set(names)) == 500


def test_what_is_there_already_is_used_again() -> None:
    async def main() -> list[str]:
        site = Site()
        arrival = Arrival(1.0, (workload.workspace("data", "py"),))
        await feed(site.api, [arrival, arrival])
        return site.names("persistentworkspaces")

    assert run_virtual(main()) == ["data"]


def test_what_the_server_refuses_is_an_error() -> None:
    async def main() -> None:
        await feed(Site().api, [Arrival(0.0, (workload.run("no_such_name", "py"),))])

    with pytest.raises(ApiError):
        run_virtual(main())
