"""A scheduler ends with its bench, however that ends."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

SECONDS = 20
BENCH = """
import asyncio, sys
from pathlib import Path
from kruntimes_core.lab.bench.live.scheduler import running

async def main():
    async with running(sys.argv[2:], None, Path(sys.argv[1])) as scheduler:
        print(scheduler._process.pid, flush=True)
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


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGABRT])
def test_a_bench_that_is_killed_leaves_no_scheduler_behind(how: signal.Signals) -> None:
    with bench("sh", "-c", "sleep 600 & wait") as (killed, number):
        scheduler = os.pidfd_open(number)
        children = [os.pidfd_open(child) for child in children_of(number)]
        killed.send_signal(how)
        assert killed.wait(SECONDS) == -how
        assert all(has_ended(handle) for handle in (scheduler, *children))


def test_a_bench_that_ends_leaves_no_watcher_behind() -> None:
    with bench("sleep", "600") as (ending, number):
        scheduler, *others = (os.pidfd_open(one) for one in children_of(ending.pid))
        assert number in children_of(ending.pid)
        assert others
        ending.communicate("")
        assert ending.returncode == 0
        assert all(has_ended(handle) for handle in (scheduler, *others))


def test_what_a_scheduler_started_in_a_session_of_its_own_ends_with_it() -> None:
    script = 'setsid sh -c \'trap "" TERM; echo; while :; do sleep 600; done\' > "$0" & wait'
    with tempfile.TemporaryDirectory() as folder:
        os.mkfifo(said := f"{folder}/said")
        with bench("sh", "-c", script, said) as (ending, number):
            with open(said) as started:
                started.readline()
            (stray,) = (os.pidfd_open(child) for child in children_of(number))
            ending.communicate("")
            assert ending.returncode == 0
            assert has_ended(stray)


def children_of(process: int) -> list[int]:
    """The numbers of the processes that it has started."""
    with open(f"/proc/{process}/task/{process}/children") as listed:
        return [int(number) for number in listed.read().split()]
