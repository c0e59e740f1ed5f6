"""What `kruntimes bench engine` was asked, as the command line said it."""

from __future__ import annotations

from dataclasses import dataclass

from kruntimes_core.lab.bench.engine.cluster import Shape

WORKLOADS = (
    "placements",
    "burst",
    "affinity",
    "preferences",
    "new-states",
    "freed-slot",
    "heartbeats",
    "restart",
    "pauses",
    "memory",
)
"""The names of the workloads, here because help must not import them; a test holds them to the catalogue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """The options of one call."""

    shape: Shape
    workloads: tuple[str, ...]
    """Those to measure; none: all."""
    repeat: int
    growth: bool
    config: str | None
    form: str
