"""What the engine counts, under closed label sets. A driver turns it into metrics.

Names and labels are the specification's and the contract's; no label ever holds a user's value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum


class SyncResult(StrEnum):
    """`kruntimes_scheduler_sync_total{result}`."""

    SCHEDULED = "scheduled"
    NO_PODS = "no_pods"
    SELECTION_ERROR = "selection_error"


class ConflictStage(StrEnum):
    """`kruntimes_scheduler_reservation_conflicts_total{stage}`."""

    RESERVE = "reserve"
    BIND = "bind"


class WakeupSource(StrEnum):
    """`kruntimes_scheduler_pending_run_wakeups_total{source}`: the kind of change that wakes Runs."""

    RUNTIME_POD = "runtime_pod"
    CAPACITY_RELEASED = "capacity_released"
    TARGET = "target"
    WORKSPACE = "workspace"
    RESERVATION_RELEASED = "reservation_released"
    TIMER = "timer"
    RELOAD = "reload"


OTHER = "_other"
"""The label of every reason that nothing declares: such a reason may hold what a user wrote."""


class Counters:
    """Counters of one engine. Two engines in one process share nothing."""

    def __init__(self) -> None:
        self.syncs: Counter[SyncResult] = Counter()
        self.filter_rejections: Counter[tuple[str, str]] = Counter()
        """(plugin, reason)."""
        self.reservation_conflicts: Counter[ConflictStage] = Counter()
        self.wakeups: Counter[WakeupSource] = Counter()
        self.plugin_errors: Counter[tuple[str, str]] = Counter()
        """(plugin, hook)."""
        self.failed_runs: Counter[str] = Counter()
        """By reason: one of the host's, one that a plugin declares, or `OTHER`."""
        self.early_retries: Counter[str] = Counter()
        """By plugin: how often it named a time to be called again that was nearer than the smallest pause."""
        self.rescues = 0
        """Runs that only the sweep got placed; stays 0 unless a wakeup was lost."""

    def synced(self, result: SyncResult) -> None:
        """Count one cycle by its result."""
        self.syncs[result] += 1

    def conflicted(self, stage: ConflictStage) -> None:
        """Count a reservation that met a conflict."""
        self.reservation_conflicts[stage] += 1

    def rejected(self, rejections: Mapping[tuple[str, str], int]) -> None:
        """Count the rejections of one cycle: one for each Pod, reused verdicts included."""
        # Not `update`, which is slower for a handful: this is called for each class that is offered a change.
        for key, number in rejections.items():
            self.filter_rejections[key] += number

    def woken(self, source: WakeupSource | None) -> None:
        """Count a wakeup; None: the Run or class was queued for another cause than a change."""
        if source is not None:
            self.wakeups[source] += 1

    def plugin_failed(self, plugin: str, hook: str) -> None:
        """Count a plugin's failure in one of its hooks."""
        self.plugin_errors[plugin, hook] += 1

    def failed(self, reason: str) -> None:
        """Count a Run that ended as Failed. reason: of a closed set."""
        self.failed_runs[reason] += 1

    def retried_early(self, plugin: str) -> None:
        """Count a plugin's wish to be called again sooner than it is."""
        self.early_retries[plugin] += 1

    def rescued(self) -> None:
        """Count a Run that only the sweep got placed."""
        self.rescues += 1
