"""Signals to a command that goes on until it is told: the first one asks politely, the second means it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable


def stop_on_signals(stop: Callable[[signal.Signals], None], *numbers: signal.Signals) -> None:
    """Call `stop` at the first of these signals; the second one ends the process where it stands."""
    loop = asyncio.get_running_loop()
    asked: list[signal.Signals] = []

    def received(number: signal.Signals) -> None:
        if asked:
            os._exit(128 + number)
        asked.append(number)
        stop(number)

    for number in numbers:
        loop.add_signal_handler(number, received, number)
