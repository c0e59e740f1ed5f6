"""The garbage collector, set as the scheduler sets it once everything is listed, and back again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from kruntimes_core.cluster.garbage_collection import (
    collect_young_objects,
    freeze_objects,
    unfreeze_objects,
)


@contextmanager
def calmed() -> Iterator[None]:
    """New objects are collected at the scheduler's thresholds."""
    before = gc.get_threshold()
    collect_young_objects()
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def laid_aside() -> Iterator[None]:
    """What is known so far is not looked through."""
    freeze_objects()
    try:
        yield
    finally:
        unfreeze_objects()
