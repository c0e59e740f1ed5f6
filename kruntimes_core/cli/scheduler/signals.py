"""SIGTERM and SIGINT: the first one asks politely, the second one means it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable

from kruntimes_core.cluster.observing.log import Log


def stop_on_signals(stop: Callable[[], None], log: Log) -> None:
    """Call `stop` at the first signal; the second one ends the process where it stands."""
    loop = asyncio.get_running_loop()
    asked: list[signal.Signals] = []

    def received(number: signal.Signals) -> None:
        if asked:
            os._exit(128 + number)
        asked.append(number)
        log.info("stopping", signal=number.name)
        stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, received, number)
