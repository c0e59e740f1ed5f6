"""What plugins print, log and warn while a command runs: lines on standard error, or of the scheduler's log.

Standard output belongs to the command (see `start`), whose tables and documents must stay whole.
"""

from __future__ import annotations

import io
import logging
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import Any, Self, TextIO

import click

from kruntimes_core.cli.output.screen import OWN_OUTPUT, print_note
from kruntimes_core.cli.plugin_owners import PluginOwners, function_of

_LONGEST_LINE = 8_192
"""Characters of a line that never ends."""

Tell = Callable[[int, str | None, str], None]
"""Says a line: its level as `logging` counts it, where it comes from (a function, a logger), and its text."""


class PluginOutput:
    """Takes what plugins print, log and warn, from its beginning to its end."""

    def __init__(self, tell: Tell, level: int = logging.WARNING) -> None:
        """level: of the records that are wanted, as `logging` counts it. A plugin may set others."""
        self._printed = PrintedLines(tell)
        self._records = Records(tell)
        self._level = level
        self._before: tuple[TextIO, int] | None = None

    def __enter__(self) -> Self:
        root = logging.getLogger()
        self._before = sys.stdout, root.level
        sys.stdout = self._printed
        root.addHandler(self._records)
        root.setLevel(self._level)
        logging.captureWarnings(True)
        return self

    def __exit__(self, *_: object) -> None:
        self._printed.flush()
        logging.captureWarnings(False)
        root = logging.getLogger()
        root.removeHandler(self._records)
        if self._before is not None:
            sys.stdout, level = self._before
            root.setLevel(level)


class PluginCommand(click.Command):
    """A command that calls plugins: what they print or warn does not get into its output."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        ctx.meta[OWN_OUTPUT] = sys.stdout
        with PluginOutput(note):
            return super().invoke(ctx)


def note(level: int, source: str | None, text: str) -> None:
    """A line on standard error, if that takes one: printing must not fail in a plugin."""
    with suppress(OSError):
        print_note(noted(level, source, text))


def noted(level: int, source: str | None, text: str) -> str:
    """A line for people."""
    return f"{logging.getLevelName(level).lower()} from {source}: {text}" if source else text


class PrintedLines(io.TextIOBase, TextIO):
    """Stands in for `sys.stdout`: whole lines are said, with the plugin that printed them."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._lock = Lock()
        self._begun = ""
        self._owners: PluginOwners | None = None

    encoding = "utf-8"

    @property
    def buffer(self) -> Any:
        """For those who print bytes."""
        return sys.stderr.buffer

    def fileno(self) -> int:
        """The descriptor of standard error."""
        return sys.stderr.fileno()

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, text: str) -> int:
        """Say the lines that end in `text`."""
        with self._lock:
            *lines, self._begun = (self._begun + text).split("\n")
            if len(self._begun) > _LONGEST_LINE:
                lines, self._begun = [*lines, self._begun], ""
        for line in lines:
            self._say(line)
        return len(text)

    def flush(self) -> None:
        """Say a line that has not ended."""
        with self._lock:
            line, self._begun = self._begun, ""
        if line:
            self._say(line)

    def _say(self, line: str) -> None:
        if self._owners is None:
            self._owners = PluginOwners()
        stack = (function_of(frame) for frame, _ in traceback.walk_stack(None))
        self._tell(logging.INFO, self._owners.plugin_function(stack), line)


class Records(logging.Handler):
    """Says each record of the standard library's loggers, whatever level and formatters those have."""

    def __init__(self, tell: Tell) -> None:
        super().__init__()
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        """Say one; a record that cannot be formatted is said as far as it can."""
        try:
            text = record.getMessage()
        except Exception as error:  # noqa: BLE001 - the arguments are a plugin's
            text = f"{record.msg} ({type(error).__name__} in its arguments)"
        if record.exc_info and record.exc_info[1] is not None:
            text += f" ({type(record.exc_info[1]).__name__}: {record.exc_info[1]})"
        if record.name == "py.warnings":  # without the line of the source
            text = text.partition("\n")[0]
        self._tell(record.levelno, record.name, text.strip())
