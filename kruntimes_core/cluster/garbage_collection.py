"""Garbage collection for a process that keeps a hundred thousand objects for hours.

A full collection over 100,000 Runs stops the whole process for a quarter of a second. So objects are frozen
every minute, and a collection visits only younger ones. A frozen object is freed as soon as nothing refers to
it, unless it is part of a reference cycle. The engine makes none, but each broken connection leaves some. So
now and then a full collection frees these too, so rarely that it takes a ten-thousandth of the time.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable

THRESHOLDS = (5_000, 4, 1_000)
"""A collection visits at most 25,000 objects, which takes less than 20 ms."""
_YOUNG = 1
_PAUSE_SECONDS = 60.0
_FULL_SECONDS = 600.0
"""From one full collection to the next at least."""
_FULL_SHARE = 10_000
"""How many times as long as it took the next full collection is put off."""


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


def collect_frozen_objects() -> float:
    """A full collection of all objects, which are frozen again. Returns how many seconds it took."""
    unfreeze_objects()
    began = time.perf_counter()
    gc.collect()
    took = time.perf_counter() - began
    gc.freeze()
    return took


async def freeze_regularly(deciding: Callable[[], bool]) -> None:
    """Freeze what is known as soon as it is listed, and then every minute what was learned since."""
    collect_young_objects()
    while not deciding():
        await asyncio.sleep(1.0)
    loop = asyncio.get_running_loop()
    full_at = loop.time() + _FULL_SECONDS
    while True:
        if loop.time() < full_at:
            freeze_objects()
        else:
            full_at = loop.time() + max(_FULL_SECONDS, collect_frozen_objects() * _FULL_SHARE)
        await asyncio.sleep(_PAUSE_SECONDS)
