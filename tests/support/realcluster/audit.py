"""What a ServiceAccount asked of the API server, and how it was answered: from the server's own audit log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "Metadata", "userGroups": ["system:serviceaccounts"]},
        {"level": "None"},
    ],
}
"""Who asked for what, of ServiceAccounts alone: not what a test itself does."""


@dataclass(frozen=True)
class Audited:
    """One request. Of a watch there is one when it opened, and one when it ended."""

    verb: str
    group: str
    resource: str
    """Its plural, with a subresource as in `runs/status`; empty for a path that is no resource."""
    namespace: str
    """Empty for all of them."""
    name: str
    path: str
    agent: str
    """Who says to have sent it."""
    code: int

    @property
    def right(self) -> tuple[str, str, str]:
        """What a rule must grant for it: verb, resource, group."""
        return self.verb, self.resource, self.group


class AuditLog:
    """The log of one API server."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def of(self, namespace: str, account: str) -> list[Audited]:
        """All requests of a ServiceAccount that were answered so far, in order."""
        user = f"system:serviceaccount:{namespace}:{account}"
        return [_audited(event) for event in self._events() if event["user"]["username"] == user]

    def _events(self) -> Iterator[dict[str, Any]]:
        if not self._path.exists():
            return
        with self._path.open("rb") as lines:
            # The server may be in the middle of the last one.
            yield from (json.loads(line) for line in lines if line.endswith(b"\n"))


def _audited(event: dict[str, Any]) -> Audited:
    about = event.get("objectRef", {})
    resource, subresource = about.get("resource", ""), about.get("subresource", "")
    return Audited(
        event["verb"],
        about.get("apiGroup", ""),
        f"{resource}/{subresource}" if subresource else resource,
        about.get("namespace", ""),
        about.get("name", ""),
        event["requestURI"],
        event.get("userAgent", ""),
        event.get("responseStatus", {}).get("code", 0),
    )
