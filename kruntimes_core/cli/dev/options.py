"""What `kruntimes dev` was asked, as the command line said it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kruntimes_core.cli.dev.values import DEFAULT_CAPACITY, DurationRange


@dataclass(frozen=True, slots=True, kw_only=True)
class DevOptions:
    """The options of one call."""

    pods: int = 3
    runtimes: tuple[str, ...] = ()
    """Empty: those that the workload brings."""
    capacity: Mapping[str, str] = field(default_factory=lambda: DEFAULT_CAPACITY)
    duration: DurationRange | None = None
    """None: what suits the workload."""
    failure_rate: float | None = None
    """None: what suits the workload."""
    port: int = 0
    kubeconfig_out: str | None = None
    config: str | None = None
    demo: bool = False
    runs: int | None = None
    exit_when_done: bool = False
    seed: int = 0
    form: str = "table"
    show_table: bool = True
