"""The garbage collector, set as the scheduler sets it once everything is listed, and back again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from kruntimes_core.cluster.collector import calm_collector, set_aside, take_back


@contextmanager
def calmed() -> Iterator[None]:
    """New objects are collected at the scheduler's thresholds."""
    before = gc.get_threshold()
    calm_collector()
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def laid_aside() -> Iterator[None]:
    """What is known so far is not looked through."""
    set_aside()
    try:
        yield
    finally:
        take_back()
