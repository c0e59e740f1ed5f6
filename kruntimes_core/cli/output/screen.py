"""Standard output and standard error: width and colours of a terminal, a progress bar, lost readers."""

from __future__ import annotations

import errno
import os
import select
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from threading import Lock, Timer
from typing import IO, TYPE_CHECKING, TextIO

import click

from kruntimes_core.cli.output.text import printable

if TYPE_CHECKING:
    from rich.progress import Progress

_GONE = select.POLLERR | select.POLLHUP | select.POLLNVAL
# A pipe without a reader answers EPIPE, a closed terminal EIO, as a broken disk does too.
_CAN_MEAN_NO_READER = (errno.EPIPE, errno.EIO)
_SECONDS_WITHOUT_BAR = 1.0
_USUAL_COLUMNS = 80
OWN_OUTPUT = "kruntimes.own_output"
"""Where click's context has the command's standard output, while `sys.stdout` is that of plugins."""


@dataclass(frozen=True, slots=True)
class Screen:
    """How wide a table may be (None: without limit) and whether to colour it."""

    columns: int | None = None
    colour: bool = False

    def painted(self, text: str, colour: str | None) -> str:
        """`text` in a colour by click's name for it, where this screen has colours."""
        return click.style(text, fg=colour) if self.colour and colour else text


def standard_output() -> Screen:
    """The screen behind standard output; no colour where NO_COLOR is set (https://no-color.org)."""
    if not own_output().isatty():
        return Screen()
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return Screen(_columns(), not plain)


def own_output() -> TextIO:
    """The command's standard output. While plugins may be called, `sys.stdout` is theirs."""
    context = click.get_current_context(silent=True)
    own: TextIO | None = context.meta.get(OWN_OUTPUT) if context is not None else None
    return own or sys.stdout


def write_output(text: str | bytes, end: bool = True, color: bool | None = None) -> None:
    """Write to the command's standard output. end: with a line feed after it."""
    click.echo(text, file=own_output(), nl=end, color=color)


def _columns() -> int:
    """The width of the terminal, unless COLUMNS says another. Descriptor 1 may be another one (`start`)."""
    try:
        return int(os.environ["COLUMNS"])
    except (KeyError, ValueError):
        pass
    try:
        return os.get_terminal_size(own_output().fileno()).columns or _USUAL_COLUMNS
    except (OSError, ValueError):
        return _USUAL_COLUMNS


def print_lines(lines: Iterable[str], screen: Screen) -> None:
    """Write the lines of a table to standard output."""
    for line in lines:
        write_output(line, color=screen.colour)


def print_note(line: str) -> None:
    """Write a line that may quote foreign text to standard error."""
    click.echo(printable(line), err=True)


def print_notes(lines: Iterable[str]) -> int:
    """Write such lines to standard error. Returns how many there were."""
    count = 0
    for count, line in enumerate(lines, 1):  # noqa: B007 - the last one is the answer
        print_note(line)
    return count


def note_waiting(what: str) -> None:
    """Say that standard input is read, where it is a terminal: the command would only seem to hang."""
    if sys.stdin.isatty():
        print_note(f"reading {what} from the terminal: end them with Ctrl-D, or name a file")


def has_no_reader(out: IO[str]) -> bool:
    """Whether the other end of `out` is closed, found out without writing. A file has no other end."""
    try:
        descriptor = out.fileno()
    except (OSError, ValueError):
        return False
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(events & _GONE for _, events in poll.poll(0))


def lost_its_reader(error: OSError, streams: Iterable[IO[str]]) -> bool:
    """Whether `error` only says that one of `streams` has lost its reader."""
    if isinstance(error, BrokenPipeError):
        return True
    return error.errno in _CAN_MEAN_NO_READER and any(has_no_reader(stream) for stream in streams)


def follow(counts: Iterable[int], description: str, total: int | None = None) -> None:
    """Exhaust `counts`, the running number of what is done; after a second, show a bar on a terminal.

    description: of the work, one or two words. total: where the count will end, None when that is unknown.
    """
    if not sys.stderr.isatty():
        for _ in counts:
            pass
        return
    bar = LateBar(description, total)
    # A timer, because one step (the parsing of a large file) may take long by itself.
    timer = Timer(_SECONDS_WITHOUT_BAR, bar.draw)
    timer.daemon = True
    timer.start()
    try:
        for count in counts:
            bar.advance(count)
    finally:
        timer.cancel()
        bar.erase()


class LateBar:
    """A progress bar that one thread draws and another one advances; it leaves no trace."""

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
        """Note how much is done."""
        self._count = count
        if self._drawn:
            self._drawn.update(self._drawn.task_ids[0], completed=count)

    def erase(self) -> None:
        """Take the bar away for good."""
        with self._lock:
            self._erased = True
            if self._drawn:
                self._drawn.stop()
