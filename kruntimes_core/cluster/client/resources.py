"""The resources that the scheduler reads and writes, and where the API server serves them."""

from __future__ import annotations

from dataclasses import dataclass

from kruntimes_core.cluster.client.transport import Query


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiResource:
    """One resource of the API (API contract)."""

    plural: str
    group: str = ""
    version: str = "v1"
    selector: Query = ()
    """Query parameters that leave out the objects that do not concern the scheduler."""
    optional: bool = False
    """Where the server does not serve this resource, there are no such objects."""

    def path(self, namespace: str | None = None, name: str | None = None, subresource: str = "") -> str:
        """The path of the collection (namespace None: of all namespaces), or of one object."""
        parts = ["/apis", self.group] if self.group else ["/api"]
        parts.append(self.version)
        if namespace is not None:
            parts += ["namespaces", namespace]
        parts.append(self.plural)
        parts += [part for part in (name, subresource) if part]
        return "/".join(parts)

    @property
    def title(self) -> str:
        """The name that a Role uses: plural and group."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


_GROUP, _VERSION = "kruntimes.io", "v1alpha1"

RUNS = ApiResource(plural="runs", group=_GROUP, version=_VERSION)
PODS = ApiResource(plural="pods", selector=(("labelSelector", "runtime"),))
WORKSPACES = ApiResource(plural="persistentworkspaces", group=_GROUP, version=_VERSION, optional=True)
EVENTS = ApiResource(plural="events", group="events.k8s.io")
LEASES = ApiResource(plural="leases", group="coordination.k8s.io")
LEASE = "kruntimes-scheduler.kruntimes.com"
"""The name that the reference scheduler uses too (API contract): the two never lead together."""
LEASE_VERBS = ("get", "create", "update")
"""The requests of an election for its Lease."""
