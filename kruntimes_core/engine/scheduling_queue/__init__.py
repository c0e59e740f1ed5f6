"""The scheduling queue: which Run is tried next, which wait for what, and what wakes them."""

from kruntimes_core.engine.scheduling_queue.active_queue import EquivalenceClass
from kruntimes_core.engine.scheduling_queue.backoff import RunBackoff
from kruntimes_core.engine.scheduling_queue.queue_sort import check_key
from kruntimes_core.engine.scheduling_queue.scheduling_queue import SMALLEST_PAUSE, SchedulingQueue
from kruntimes_core.engine.scheduling_queue.unschedulable_runs import UnschedulableRuns

__all__ = [
    "SMALLEST_PAUSE",
    "EquivalenceClass",
    "RunBackoff",
    "SchedulingQueue",
    "UnschedulableRuns",
    "check_key",
]
