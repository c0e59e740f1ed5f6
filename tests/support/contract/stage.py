"""Plays a script to every server that there is, and holds them to one answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from contract.compare import differences, transcript
from contract.http import Endpoint, Line
from contract.known import unexpected
from contract.site import Site
from contract.statuses import check_statuses
from realcluster.client import NAMESPACES

Script = Callable[[Site], None]
REAL, EMBEDDED = "real", "embedded"


@dataclass(frozen=True)
class Stage:
    """The servers by name: `EMBEDDED`, and `REAL` where there is one."""

    servers: Mapping[str, Endpoint]

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
            check_statuses(script.__name__, sites[EMBEDDED])

    def _played(self, server: str, script: Script) -> Site:
        line = Line(self.servers[server])
        try:
            site = Site(line, _new_namespace(line))
            script(site)
        except AssertionError as error:
            error.add_note(f"on the {server} server")
            raise
        finally:
            line.close()
        return site


def contract(script: Script) -> Callable[[Stage], None]:
    """Make a test of a script."""

    def test(stage: Stage) -> None:
        stage.play(script)

    test.__doc__ = script.__doc__
    return test


def _new_namespace(line: Line) -> str:
    body = b'{"apiVersion":"v1","kind":"Namespace","metadata":{"generateName":"contract-"}}'
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    reply = line.send("POST", NAMESPACES.path(None), body, headers)
    assert reply.status == 201, reply.body
    return str(reply.body["metadata"]["name"])
