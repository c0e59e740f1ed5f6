"""The scheduler as a process: started in a session of its own, and ended for sure, whatever becomes of us."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from kruntimes_core.lab.bench.live.scheduler.strays import strays_of
from kruntimes_core.lab.bench.live.scheduler.usage import Usage, usage_of
from kruntimes_core.lab.bench.live.scheduler.watching import bound_to_us
from kruntimes_core.model.messages import InputError

_STOP_SECONDS = 15.0
_LINES = 20
_TAIL_BYTES = 16_384


class SchedulerEndedError(InputError):
    """The scheduler ended before it was told to. `lines`: what it said last."""

    def __init__(self, message: str, lines: Sequence[str]) -> None:
        super().__init__(message)
        self.lines = lines


class Running:
    """A scheduler that was started."""

    def __init__(self, process: asyncio.subprocess.Process, output: Path) -> None:
        self._process = process
        self._output = output

    def usage(self) -> Usage | None:
        """What it and its children have used so far."""
        return usage_of(self._process.pid)

    async def ended(self) -> None:
        """Raises `SchedulerEndedError` when it ends."""
        code = await self._process.wait()
        lines = _tail(self._output)
        said = "its last lines are above" if lines else "it said nothing"
        raise SchedulerEndedError(f"the scheduler ended with {code} before it was told to: {said}", lines)

    async def stop(self) -> None:
        """Ask it to end, with all that it started; what is there after a while is killed."""
        with strays_of(self._process.pid) as strays:
            self._signal(signal.SIGTERM)
            strays.signal(signal.SIGTERM)
            try:
                async with asyncio.timeout(_STOP_SECONDS):
                    await self._process.wait()
            except TimeoutError:
                pass
            finally:
                self._signal(signal.SIGKILL)
                strays.signal(signal.SIGKILL)
                await self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)


@asynccontextmanager
async def running(command: Sequence[str], kubeconfig: str | None, output: Path) -> AsyncIterator[Running]:
    """Start a scheduler, and end it with the block, or with this process.

    kubeconfig: what it finds as $KUBECONFIG. output: where all that it says goes. Raises `InputError` for
    a command that cannot be started.
    """
    environment = {**os.environ, **({"KUBECONFIG": kubeconfig} if kubeconfig is not None else {})}
    with output.open("wb") as said:
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                env=environment,
                # Ctrl-C in the terminal is for the bench, which then ends the scheduler.
                start_new_session=True,
            )
        except OSError as error:
            raise InputError(
                f"cannot start {command[0]}: {error.strerror}: correct --scheduler-cmd"
            ) from error
    scheduler = Running(process, output)
    async with bound_to_us(process.pid):
        try:
            yield scheduler
        finally:
            await scheduler.stop()


def _tail(output: Path) -> list[str]:
    with output.open("rb") as said:
        said.seek(max(output.stat().st_size - _TAIL_BYTES, 0))
        return said.read().decode(errors="replace").splitlines()[-_LINES:]
