"""What a user sees of a Run, and what was decided of it."""

from __future__ import annotations

from typing import Any

from kruntimes_core.engine.decisions import Decision
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness import Host

BASE_TEXT = 'waiting for available runtime pods for runtime "py"'
"""Of a Run that waits for room on any Pod (specification, Status and Retry Semantics)."""


def decision(host: Host, name: str = "r") -> Decision:
    """The last one on this Run."""
    entry = host.engine.find(NAMESPACE, name)
    assert entry is not None
    assert entry.decision is not None
    return entry.decision


def condition(host: Host, kind: str, name: str = "r") -> dict[str, Any]:
    """The condition of this type."""
    (found,) = [one for one in host.status(name)["conditions"] if one["type"] == kind]
    return dict(found)
