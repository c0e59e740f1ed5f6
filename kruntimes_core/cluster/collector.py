"""The garbage collector of a process that keeps a hundred thousand objects for hours.

A full collection over 100,000 Runs and what is known of them stops everything for a quarter of a second.
So what is known is set aside now and then, and only what is younger is ever looked through. Things that
were set aside are freed as soon as nobody refers to them, unless they refer to each other in a ring:
the engine makes no rings, and a connection that ends is worth no pause.
"""

from __future__ import annotations

import gc

THRESHOLDS = (5_000, 4, 1_000)
"""At most 25,000 objects are looked through at a time, which takes less than 20 ms."""
_YOUNG = 1


def calm_collector() -> None:
    """Collect young objects alone, and few at a time: most of what comes stays."""
    gc.set_threshold(*THRESHOLDS)


def set_aside() -> None:
    """Look no more through what is known now, until `take_back`."""
    gc.collect(_YOUNG)
    gc.freeze()


def take_back() -> None:
    """Look through what was set aside again, with the next full collection."""
    gc.unfreeze()
