"""What a scheduler started in sessions of its own: a signal to its process group does not reach it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from kruntimes_core.lab.bench.live.scheduler.usage import family


class Strays:
    """The processes that descended from one when this was made, by handles, which nobody else ever gets."""

    def __init__(self, pid: int) -> None:
        self._handles: list[int] = []
        if sys.platform.startswith("linux"):
            for one in family(pid)[1:]:
                with suppress(OSError):
                    self._handles.append(os.pidfd_open(one))

    def signal(self, number: signal.Signals) -> None:
        """Signal those that are still there."""
        if sys.platform.startswith("linux"):
            for handle in self._handles:
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(handle, number)

    def close(self) -> None:
        """Give the handles back."""
        for handle in self._handles:
            os.close(handle)


@contextmanager
def strays_of(pid: int) -> Iterator[Strays]:
    """Within the block, what descends from a process now can be reached even when it is gone."""
    strays = Strays(pid)
    try:
        yield strays
    finally:
        strays.close()
