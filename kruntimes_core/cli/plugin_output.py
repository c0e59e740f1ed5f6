"""What plugins print, log and warn while a command runs: lines on standard error, or of the scheduler's log.

Standard output belongs to the command (see `start`), whose tables and documents must stay whole.
"""

from __future__ import annotations

import io
import logging
import sys
import traceback
from collections.abc import Callable
from contextlib import ExitStack, suppress
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
    """Takes what plugins print, log and warn, from its beginning to its end.

    One inside another stands in for it: nothing is said twice.
    """

    def __init__(self, tell: Tell, level: int = logging.WARNING) -> None:
        """level: of the records that are wanted, as `logging` counts it. A plugin may set others."""
        self._printed = PrintedLines(tell)
        self._records = Records(tell)
        self._level = level
        self._ended = ExitStack()

    def __enter__(self) -> Self:
        root = logging.getLogger()
        self._ended.callback(setattr, sys, "stdout", sys.stdout)
        self._ended.callback(root.setLevel, root.level)
        outer = [handler for handler in root.handlers if isinstance(handler, Records)]
        for handler in outer:
            root.removeHandler(handler)
            self._ended.callback(root.addHandler, handler)
        if not outer:
            logging.captureWarnings(True)
            self._ended.callback(logging.captureWarnings, False)
        sys.stdout = self._printed
        root.addHandler(self._records)
        self._ended.callback(root.removeHandler, self._records)
        root.setLevel(self._level)
        self._ended.callback(self._printed.flush)
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.close()


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
            said = record.msg if isinstance(record.msg, str) else "a record"
            text = f"{said} ({type(error).__name__} in its arguments)"
        if record.exc_info and record.exc_info[1] is not None:
            # Only here: help needs nothing of the framework.
            from kruntimes_core.framework.runtime.plugin_calls import describe

            text += f" ({describe(record.exc_info[1])})"
        if record.name == "py.warnings":  # without the line of the source
            text = text.partition("\n")[0]
        self._tell(record.levelno, record.name, text.strip())
