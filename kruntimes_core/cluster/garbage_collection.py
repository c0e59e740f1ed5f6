"""Garbage collection for a process that keeps a hundred thousand objects for hours.

A full collection over 100,000 Runs and what is known of them stops everything for a quarter of a second.
So objects are frozen now and then, and only those that are younger are ever looked through. Frozen objects
are freed as soon as nothing refers to them, unless they refer to each other in a ring: the engine makes no
rings, and a connection that ends is worth no pause.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable

THRESHOLDS = (5_000, 4, 1_000)
"""At most 25,000 objects are looked through at a time, which takes less than 20 ms."""
_YOUNG = 1
_PAUSE_SECONDS = 60.0


def collect_young_objects() -> None:
    """Collect young objects alone, and few at a time: most objects that come stay."""
    gc.set_threshold(*THRESHOLDS)


def freeze_objects() -> None:
    """Leave all objects that exist now out of collections, until `unfreeze_objects`."""
    gc.collect(_YOUNG)
    gc.freeze()


def unfreeze_objects() -> None:
    """Take the frozen objects into the next full collection again."""
    gc.unfreeze()


async def freeze_regularly(deciding: Callable[[], bool]) -> None:
    """Freeze what is known as soon as it is listed, and then every minute what was learned since."""
    collect_young_objects()
    while not deciding():
        await asyncio.sleep(1.0)
    while True:
        freeze_objects()
        await asyncio.sleep(_PAUSE_SECONDS)
