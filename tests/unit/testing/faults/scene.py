"""Runs that the tests of faults begin with, and a bind that meets them."""

from __future__ import annotations

from typing import Any

from embedded.bodies import run_body
from embedded.http import RUNS, Client, Serving
from kruntimes_core.testing.faults import Scope

STATUS = f"{RUNS}/r1/status"
BIND = Scope("patch", "runs", subresource="status")
BINDING: dict[str, Any] = {"status": {"phase": "Scheduled", "assignedPod": "py-0", "assignedPodUID": "P0"}}


async def begin(site: Serving, *names: str) -> None:
    """Create Runs; `r1` if none is named."""
    for name in names or ("r1",):
        assert (await site.client.post(RUNS, run_body(name))).status == 201


async def phase(client: Client, name: str = "r1") -> object:
    """The phase that a Run shows."""
    status = (await client.get(f"{RUNS}/{name}")).body.get("status", {})
    return status.get("phase")
