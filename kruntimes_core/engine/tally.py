"""What the engine counts, under closed label sets. A driver turns it into metrics.

Names and labels are the specification's and the contract's; no label ever holds a user's value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum


class Result(StrEnum):
    """`kruntimes_scheduler_sync_total{result}`."""

    SCHEDULED = "scheduled"
    NO_PODS = "no_pods"
    SELECTION_ERROR = "selection_error"


class Conflict(StrEnum):
    """`kruntimes_scheduler_reservation_conflicts_total{stage}`."""

    RESERVE = "reserve"
    BIND = "bind"


class WakeSource(StrEnum):
    """`kruntimes_scheduler_pending_run_wakeups_total{source}`."""

    RUNTIME_POD = "runtime_pod"
    CAPACITY_RELEASED = "capacity_released"
    TARGET = "target"
    WORKSPACE = "workspace"
    RESERVATION_RELEASED = "reservation_released"
    TIMER = "timer"
    RELOAD = "reload"


class Tally:
    """Counters of one engine. Two engines in one process share nothing."""

    def __init__(self) -> None:
        self.syncs: Counter[Result] = Counter()
        self.filter_rejections: Counter[tuple[str, str]] = Counter()
        """(plugin, reason)."""
        self.reservation_conflicts: Counter[Conflict] = Counter()
        self.wakeups: Counter[WakeSource] = Counter()
        self.plugin_errors: Counter[tuple[str, str]] = Counter()
        """(plugin, hook)."""
        self.rescues = 0
        """Runs that only the sweep got placed; stays 0 unless a wakeup was lost."""

    def rejected(self, rejections: Mapping[tuple[str, str], int]) -> None:
        """Count the rejections of one cycle: one for each Pod, reused verdicts included."""
        for key, number in rejections.items():
            self.filter_rejections[key] += number
