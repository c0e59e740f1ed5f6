"""Every right that a scheduler needs: one list for the manifests, the documentation and the metric."""

from __future__ import annotations

from typing import NamedTuple

from kruntimes_core.cluster.leader_election.lease_lock import LEASES
from kruntimes_core.cluster.leader_election.lease_lock import VERBS as ELECTION
from kruntimes_core.cluster.resources import PODS, RUNS, WORKSPACES, Resource
from kruntimes_core.cluster.transport.protocol import Call

EVENTS = Resource(plural="events", group="events.k8s.io")


class Right(NamedTuple):
    """What a rule of a Role grants: one verb on one resource."""

    verb: str
    resource: str
    """Its plural, with a subresource as in `runs/status`."""
    group: str

    @property
    def title(self) -> str:
        """The resource with its group, for people: `runs/status.kruntimes.io`."""
        return f"{self.resource}.{self.group}" if self.group else self.resource


READ_RUN = Right("get", RUNS.plural, RUNS.group)
WRITE_STATUS = Right("patch", f"{RUNS.plural}/status", RUNS.group)

NEEDED = (
    READ_RUN,
    *(Right(verb, one.plural, one.group) for one in (RUNS, WORKSPACES, PODS) for verb in ("list", "watch")),
    WRITE_STATUS,
    *(Right(verb, EVENTS.plural, EVENTS.group) for verb in ("create", "patch")),
    *(Right(verb, LEASES.plural, LEASES.group) for verb in ELECTION),
)
"""All of them. Those on Leases are needed with an election, in the Lease's namespace alone."""

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


def right_of(call: Call) -> tuple[Right, str]:
    """The right that a request needs, and the namespace that it is about; empty for all of them.

    The API server reads a path in the same way (its request info).
    """
    _, kind, *rest = call.path.split("/")
    group = rest.pop(0) if kind == "apis" else ""
    rest.pop(0)
    namespace = ""
    if len(rest) > 2 and rest[0] == "namespaces":
        namespace = rest[1]
        del rest[:2]
    plural, name, subresource = [*rest, "", "", ""][:3]
    resource = f"{plural}/{subresource}" if subresource else plural
    reading = "get" if name else "watch" if ("watch", "1") in call.query else "list"
    return Right(_VERBS.get(call.method, reading), resource, group), namespace
