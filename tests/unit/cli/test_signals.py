"""The first signal stops cleanly, the second at once."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from kruntimes_core.cli.commands import stop_on_signals


@pytest.mark.parametrize("first", [signal.SIGTERM, signal.SIGINT])
def test_the_second_signal_does_not_wait(monkeypatch: pytest.MonkeyPatch, first: signal.Signals) -> None:
    async def main() -> list[object]:
        seen: list[object] = []
        stopped, exited = asyncio.Event(), asyncio.Event()

        def leave(code: int) -> None:
            seen.append(code)
            exited.set()

        def stop(number: signal.Signals) -> None:
            seen.append("stop")
            stopped.set()

        monkeypatch.setattr(os, "_exit", leave)
        stop_on_signals(stop, signal.SIGTERM, signal.SIGINT)
        os.kill(os.getpid(), first)
        await stopped.wait()
        assert seen == ["stop"]
        os.kill(os.getpid(), signal.SIGTERM)
        await exited.wait()
        return seen

    assert asyncio.run(main())[:2] == ["stop", 128 + signal.SIGTERM]
