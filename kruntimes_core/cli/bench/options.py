"""What `kruntimes bench` was asked, as the command line said it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import click

from kruntimes_core.cli.options import DurationRange

ONLY_IN: Mapping[str, tuple[str, ...]] = {"runs": ("drain", "burst"), "rate": ("open",), "seconds": ("open",)}
"""Options that mean something in some modes only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchOptions:
    """The options of one call. None: the default of the load."""

    mode: str
    runs: int | None
    rate: float | None
    seconds: float | None
    pods: int
    slots: int | None
    duration: DurationRange | None
    hopeless: int
    waiting_elsewhere: int
    namespaces: int
    runtimes: int
    heartbeat: float
    cohorts: int
    seed: int
    scheduler_cmd: str | None
    no_scheduler: bool
    scheduler_pid: int | None
    config: str | None
    repeat: int
    ceiling_patches: int
    in_flight: int
    patience: float
    window: float
    kubeconfig: str | None
    context: str | None
    yes_load_this_cluster: bool
    form: str
    html: str | None

    def check(self) -> None:
        """Raises `click.UsageError` for options that do not go together."""
        for name, modes in ONLY_IN.items():
            if getattr(self, name) is not None and self.mode not in modes:
                raise click.UsageError(f"--{name} means nothing with --mode {self.mode}: leave it out")
        chosen = [
            option
            for option, given in {
                "--scheduler-cmd": self.scheduler_cmd is not None,
                "--no-scheduler": self.no_scheduler,
                "--scheduler-pid": self.scheduler_pid is not None,
            }.items()
            if given
        ]
        if len(chosen) > 1:
            raise click.UsageError(f"{chosen[0]} and {chosen[1]} exclude each other: choose one")
        if chosen and self.config is not None:
            raise click.UsageError(f"--config is for the scheduler of kruntimes, not for {chosen[0]}")
        if self.external and self.mode == "drain" and self.waiting_elsewhere:
            raise click.UsageError(
                f"--waiting-elsewhere needs Pods that are there before the Runs, which --mode drain with"
                f" {chosen[0]} has not: choose another mode"
            )

    @property
    def external(self) -> bool:
        """Whether the scheduler runs already."""
        return self.no_scheduler or self.scheduler_pid is not None
