"""Where lines of the log go: a reader that stops, a full disk or a closed stream costs lines and no more."""

from __future__ import annotations

import fcntl
import io
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime

import pytest

from kruntimes_core.cluster.observability.log import Format, Log, RareWarning
from kruntimes_core.cluster.observability.log_writer import BackgroundWriter, StreamWriter
from kruntimes_core.engine.clock import SECOND, Now

LINE = "x" * 99 + "\n"
AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class HandSetClock:
    """Shows what the test sets."""

    def __init__(self) -> None:
        self.ticks = 0

    def now(self) -> Now:
        return Now(AT, self.ticks)


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    # The smallest pipe: one page.
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    yield reading, writing
    for end in (reading, writing):
        with suppress(OSError):
            os.close(end)


def read_all(descriptor: int, count: int) -> bytes:
    """So many bytes of a pipe."""
    data = b""
    while len(data) < count and (more := os.read(descriptor, count - len(data))):
        data += more
    return data


def until_lost(writer: BackgroundWriter, lost: int) -> None:
    """Wait for the thread of a writer, for ten seconds at most."""
    end = time.monotonic() + 10
    while writer.lost < lost and time.monotonic() < end:
        os.sched_yield()
    assert writer.lost == lost


@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "non-blocking"])
def test_a_reader_that_stops_costs_lines_and_they_are_counted(pipe: tuple[int, int], blocking: bool) -> None:
    reading, writing = pipe
    os.set_blocking(writing, blocking)
    writer = BackgroundWriter(writing, buffer_bytes=10_000)
    log = Log(writer, HandSetClock())
    began = time.monotonic()
    for _ in range(1_000):
        log.info(LINE)
    assert time.monotonic() - began < 5, "the log waited for its reader"
    assert 500 < writer.lost < 1_000, "the buffer has no bound"
    os.set_blocking(reading, True)
    said = b""
    while b"INFO    on\n" not in said:
        if said.count(b"INFO") == 1_000 - writer.lost:
            log.info("on")
        said += os.read(reading, 10_000)
    lines = said.decode().splitlines()
    assert lines[-2].endswith(f"WARNING lines of this log were lost lines={writer.lost}")
    assert sum(" INFO " in line for line in lines) == 1_000 - writer.lost + 1
    writer.close(10)


def test_what_was_lost_is_said_once_in_the_form_of_the_log(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    writer = BackgroundWriter(writing, buffer_bytes=300)
    log = Log(writer, HandSetClock(), form=Format.JSON)
    log.info("x" * 300)
    log.info("a")
    writer.close(10)
    os.close(writing)
    said = read_all(reading, 10_000).decode().splitlines()
    assert [part in line for part, line in zip(('"lines": 1', '"a"'), said, strict=True)] == [True, True]


@pytest.mark.parametrize("broken", ["no reader", "full disk", "closed"])
def test_a_stream_that_takes_nothing_ends_nothing(pipe: tuple[int, int], broken: str) -> None:
    reading, writing = pipe
    if broken == "no reader":
        os.close(reading)
    elif broken == "closed":
        os.close(writing)
    full = os.open("/dev/full", os.O_WRONLY)
    writer = BackgroundWriter(full if broken == "full disk" else writing)
    writer.write(LINE)
    writer.write(LINE)
    until_lost(writer, 2)
    writer.close(10)
    os.close(full)


def test_closing_writes_what_is_left_but_does_not_wait_for_ever(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    writer = BackgroundWriter(writing)
    writer.write(LINE)
    writer.close(10)
    assert read_all(reading, 100) == LINE.encode()
    held_up = BackgroundWriter(writing)
    for _ in range(100):
        held_up.write(LINE)
    began = time.monotonic()
    held_up.close(0.05)
    assert time.monotonic() - began < 5
    read_all(reading, 10_000)  # lets the thread end


def test_a_stream_that_was_closed_loses_lines() -> None:
    stream = io.StringIO()
    writer = StreamWriter(stream)
    writer.write("a\n")
    assert stream.getvalue() == "a\n"
    stream.close()
    writer.write("b\n")
    assert writer.lost == 1


def test_a_rare_warning_is_said_once_a_minute_with_its_count() -> None:
    stream, clock = io.StringIO(), HandSetClock()
    warn = RareWarning(Log(stream, clock), clock)
    for second in (0, 1, 59, 60, 61, 200):
        clock.ticks = second * SECOND
        warn("again", at=second)
    said = [line.split("again ")[1] for line in stream.getvalue().splitlines()]
    assert said == ["at=0", "at=60 unsaid=2", "at=200 unsaid=1"]
    assert warn.count == 6
