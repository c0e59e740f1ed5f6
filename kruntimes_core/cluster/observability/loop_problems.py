"""Errors that the event loop meets outside of any task, in lines of our log."""

from __future__ import annotations

import asyncio
from typing import Any

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.observability.log import Log, RareWarning


def log_loop_problems(loop: asyncio.AbstractEventLoop, log: Log, clock: Clock) -> None:
    """Say what the loop meets in one line a minute at most: without descriptors, every accept is an error."""
    warn = RareWarning(log, clock)

    def handle(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        warn(
            "the event loop met an error",
            error=f"{type(error).__name__}: {error}" if error is not None else None,
            doing=context.get("message"),
        )

    loop.set_exception_handler(handle)
