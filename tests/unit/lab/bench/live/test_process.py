"""A scheduler ends with its bench."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

SECONDS = 20
BENCH = """
import asyncio, sys
from pathlib import Path
from kruntimes_core.lab.bench.live import scheduler

scheduler._STOP_SECONDS = 0.2

async def main():
    async with scheduler.running(sys.argv[2:], None, Path(sys.argv[1])) as started:
        print(started._process.pid, flush=True)
        await asyncio.to_thread(sys.stdin.read)

asyncio.run(main())
"""


@contextmanager
def bench(*scheduler: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A process that runs a scheduler until its standard input ends; and the number of the scheduler."""
    with subprocess.Popen(
        [sys.executable, "-c", BENCH, os.devnull, *scheduler],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None
        yield running, int(running.stdout.readline())


def has_ended(handle: int) -> bool:
    """Wait for the end of a process, by its handle."""
    ends = select.poll()
    ends.register(handle, select.POLLIN)
    return bool(ends.poll(SECONDS * 1_000))


def test_a_scheduler_ends_with_its_children_and_its_bench() -> None:
    with bench("sh", "-c", "trap '' TERM; sleep 600 & wait; sleep 600") as (ending, number):
        processes = [os.pidfd_open(one) for one in (number, *children_of(number))]
        ending.communicate("")
        assert ending.returncode == 0
        assert all(has_ended(one) for one in processes)


def children_of(process: int) -> list[int]:
    """The numbers of the processes that it has started."""
    with open(f"/proc/{process}/task/{process}/children") as listed:
        return [int(number) for number in listed.read().split()]
