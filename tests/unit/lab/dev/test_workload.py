"""So many Runs arrive as were asked for, and a workspace that is there is used again."""

from __future__ import annotations

from itertools import islice

import pytest
from virtual.time import run_virtual

from kruntimes_core.lab.apiserver.status import ApiError
from kruntimes_core.lab.dev import workload
from kruntimes_core.lab.dev.workload import DEMO_RUNTIMES, Arrival, demo, feed, first_runs, plain_runs
from simulation.site import Site


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
