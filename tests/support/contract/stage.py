"""Plays a script to every server that there is, and holds them to one answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pytest

from contract.compare import differences, transcript, unexpected
from contract.site import Site
from embedded.place import embedded_place
from realcluster.access import make_namespace
from realcluster.client import Client, KeptClient
from realcluster.servers import Cluster

Script = Callable[[Site], None]
REAL, EMBEDDED = "real", "embedded"
_STATUSES = Path(__file__).parents[2] / "contract" / "statuses.json"


@dataclass(frozen=True)
class Stage:
    """The servers by name: `EMBEDDED`, and `REAL` where there is one."""

    servers: Mapping[str, Client]

    def play(self, script: Script, name: str | None = None) -> None:
        """Play it to each server, in a new namespace; fails where one says something else than the other.

        A script without a name of its own is a function, whose answers' statuses are noted beside it.
        """
        sites = {server: self._played(server, script) for server in self.servers}
        if REAL in sites:
            found = differences(transcript(sites[REAL]), transcript(sites[EMBEDDED]))
            problems = unexpected(name or script.__name__, found)
            assert not problems, "\n".join(["the embedded server differs from the real one:", *problems])
        if name is None:
            _check_statuses(script.__name__, sites[EMBEDDED])

    def _played(self, server: str, script: Script) -> Site:
        with closing(KeptClient(self.servers[server])) as client:
            site = Site(client, make_namespace(client))
            try:
                script(site)
            except AssertionError as error:
                error.add_note(f"on the {server} server")
                raise
        return site


@pytest.fixture(scope="session")
def embedded() -> Iterator[Client]:
    """The embedded server, without the controllers that the real one has not got here either."""
    with embedded_place() as place:
        yield place.client()


@pytest.fixture(params=["alone", pytest.param("both", marks=pytest.mark.real_server)])
def stage(request: pytest.FixtureRequest, embedded: Client) -> Stage:
    """Where scripts are played."""
    if request.param == "alone":
        return Stage({EMBEDDED: embedded})
    cluster: Cluster = request.getfixturevalue("cluster")
    return Stage({REAL: cluster.client(), EMBEDDED: embedded})


def contract(script: Script) -> Callable[[Stage], None]:
    """Make a test of a script."""

    def test(stage: Stage) -> None:
        stage.play(script)

    test.__doc__ = script.__doc__
    return test


def _check_statuses(script: str, site: Site) -> None:
    """Compare with the statuses that a real server last agreed to: `201 404*3`.

    Without a real server beside it, most answers of a script would be held to nothing else.
    """
    expected = json.loads(_STATUSES.read_text(encoding="utf-8")).get(script)
    runs = [(status, len([*same])) for status, same in groupby(said["status"] for _, said in site.record)]
    statuses = " ".join(str(status) if length == 1 else f"{status}*{length}" for status, length in runs)
    asked = "\n".join(f"{said['status']} {request}" for request, said in site.record)
    assert statuses == expected, f"compare with a real server, then note it in {_STATUSES.name}:\n{asked}"
