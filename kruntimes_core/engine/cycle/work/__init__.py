"""Everything that runs a plugin's code, as work that the driver executes where it likes.

Work holds values alone, so it may run beside the thread that feeds the engine; what it found comes
back by `Engine.finish`. Work that never comes back is simply never finished.
"""

from __future__ import annotations

from typing import Any

from kruntimes_core.engine.cycle.work.base import Runners, RunWork
from kruntimes_core.engine.cycle.work.keying import KeyWork
from kruntimes_core.engine.cycle.work.offering import Offer, OfferWork
from kruntimes_core.engine.cycle.work.planning import CheckWork, PlanWork
from kruntimes_core.engine.cycle.work.reserving import ReserveAnswer, ReserveWork, UnreserveWork

Work = KeyWork | PlanWork | OfferWork | CheckWork | ReserveWork | UnreserveWork
Result = Any
"""Whatever the work's `execute` returned."""

__all__ = [
    "CheckWork",
    "KeyWork",
    "Offer",
    "OfferWork",
    "PlanWork",
    "ReserveAnswer",
    "ReserveWork",
    "Result",
    "RunWork",
    "Runners",
    "UnreserveWork",
    "Work",
]
