"""The garbage collector, set as the scheduler sets it once everything is listed, and back again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from kruntimes_core.cluster.collector import calm_collector, set_aside, take_back


@contextmanager
def rested() -> Iterator[None]:
    """What is known so far is set aside, and new objects are collected at the scheduler's thresholds."""
    before = gc.get_threshold()
    calm_collector()
    set_aside()
    try:
        yield
    finally:
        take_back()
        gc.set_threshold(*before)
