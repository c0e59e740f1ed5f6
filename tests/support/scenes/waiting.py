"""A Run that waits, and for what."""

from __future__ import annotations

from kruntimes_core.testing.harness import Host


def full(host: Host, name: str = "py-0") -> None:
    """A Pod without room, and a Run `r` that waits for it."""
    host.pod(name, runs=1)
    host.run("x", pod=name)
    host.run("r")
    host.settle()
    host.engine.counters.wakeups.clear()
    assert host.pod_of("r") is None
