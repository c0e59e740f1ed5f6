"""Garbage collection for a process that keeps a hundred thousand objects for hours.

A full collection over 100,000 Runs stops the whole process for a quarter of a second. So objects are frozen
every minute, and a collection visits only younger ones. A frozen object is freed as soon as nothing refers to
it, unless it is part of a reference cycle: the engine makes none, and those of a closed connection are few.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable

THRESHOLDS = (5_000, 4, 1_000)
"""A collection visits at most 25,000 objects, which takes less than 20 ms."""
_YOUNG = 1
_PAUSE_SECONDS = 60.0


def collect_young_objects() -> None:
    """Collect young objects alone, and few at a time: most new objects stay."""
    gc.set_threshold(*THRESHOLDS)


def freeze_objects() -> None:
    """Exclude all objects that exist now from collections, until `unfreeze_objects`."""
    gc.collect(_YOUNG)
    gc.freeze()


def unfreeze_objects() -> None:
    """Let the next full collection visit frozen objects again."""
    gc.unfreeze()


async def freeze_regularly(deciding: Callable[[], bool]) -> None:
    """Freeze what is known as soon as it is listed, and then every minute what was learned since."""
    collect_young_objects()
    while not deciding():
        await asyncio.sleep(1.0)
    while True:
        freeze_objects()
        await asyncio.sleep(_PAUSE_SECONDS)
