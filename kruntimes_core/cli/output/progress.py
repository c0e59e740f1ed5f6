"""A progress bar for what takes longer than a second, on a terminal; otherwise nothing at all."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from threading import Lock, Timer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

_PATIENCE_SECONDS = 1.0


def follow(counts: Iterable[int], description: str, total: int | None = None) -> None:
    """Exhaust `counts`, the running number of what is done; show it on a terminal's standard error.

    description: of the work, one or two words. total: where the count will end, None when nobody knows.
    """
    if sys.stderr.isatty():
        _follow_with_bar(counts, LateBar(description, total))
        return
    for _ in counts:
        pass


def _follow_with_bar(counts: Iterable[int], bar: LateBar) -> None:
    # A timer, because one step (the parsing of a large file) may take long by itself.
    timer = Timer(_PATIENCE_SECONDS, bar.draw)
    timer.daemon = True
    timer.start()
    try:
        for count in counts:
            bar.advance(count)
    finally:
        timer.cancel()
        bar.erase()


class LateBar:
    """A bar that is drawn by one thread and advanced by another, and leaves no trace."""

    def __init__(self, description: str, total: int | None) -> None:
        self._description = description
        self._total = total
        self._count = 0
        self._drawn: Progress | None = None
        self._erased = False
        # Guards drawing against erasing: a bar must not appear when the work has ended.
        self._lock = Lock()

    def draw(self) -> None:
        """Show the bar, unless it was erased before."""
        with self._lock:
            if self._erased:
                return
            # Only here: importing rich costs more than most plans.
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:.0f}"))
            drawn = Progress(*columns, TimeElapsedColumn(), console=Console(file=sys.stderr), transient=True)
            drawn.add_task(self._description, total=self._total, completed=self._count)
            drawn.start()
            self._drawn = drawn

    def advance(self, count: int) -> None:
        """Take note of what is done."""
        self._count = count
        if self._drawn:
            self._drawn.update(self._drawn.task_ids[0], completed=count)

    def erase(self) -> None:
        """Take the bar away for good."""
        with self._lock:
            self._erased = True
            if self._drawn:
                self._drawn.stop()
