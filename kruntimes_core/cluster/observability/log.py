"""Structured log lines, as text or JSON, with everything escaped that came from outside.

It does not use the process-wide loggers of `logging`, so two schedulers in one process do not mix.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import re
from enum import IntEnum, StrEnum
from threading import Lock
from typing import Any, TextIO

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.observability.log_writer import BackgroundWriter, StreamWriter
from kruntimes_core.engine.clock import ticks
from kruntimes_core.engine.decisions import Decision

_PAUSE = ticks(60.0)
PLUGIN_LINES = 600
"""A minute, of all plugins together."""
_PLAIN = re.compile(r"[A-Za-z0-9_.:/@+-]+", re.ASCII)


class Level(IntEnum):
    """How much is logged: everything up to the chosen level."""

    ERROR = -2
    """Of plugins alone: what the host cannot do is a warning, because it tries again."""
    WARNING = -1
    INFO = 0
    DEBUG = 1
    """One line for each decision."""
    TRACE = 2
    """One line for each request."""


class Format(StrEnum):
    """How a line looks."""

    TEXT = "text"
    JSON = "json"


class Log:
    """Writes one line for each thing that happened."""

    def __init__(
        self,
        out: BackgroundWriter | TextIO,
        clock: Clock,
        level: int = Level.INFO,
        form: Format = Format.TEXT,
    ) -> None:
        """out: a stream is written to at once."""
        self._out = out if isinstance(out, BackgroundWriter) else StreamWriter(out)
        self._lost = 0
        """Of the lines that were lost, how many the log speaks of."""
        self._clock = clock
        self._level = level
        self._form = form

    def speaks(self, level: Level) -> bool:
        """Whether lines of this level are written: check this before collecting costly fields."""
        return level <= self._level

    def warning(self, message: str, **fields: object) -> None:
        """Something does not work as it should."""
        self.write(Level.WARNING, message, **fields)

    def info(self, message: str, **fields: object) -> None:
        """Something that an operator wants to know."""
        self.write(Level.INFO, message, **fields)

    def debug(self, message: str, **fields: object) -> None:
        """A decision."""
        self.write(Level.DEBUG, message, **fields)

    def trace(self, message: str, **fields: object) -> None:
        """A request."""
        self.write(Level.TRACE, message, **fields)

    @property
    def lost(self) -> int:
        """Lines so far that could not be written."""
        return self._out.lost

    def write(self, level: Level, message: str, **fields: object) -> None:
        """A line of any level."""
        if not self.speaks(level):
            return
        line, lost = self._line(level, message, fields), self._out.lost
        if lost > self._lost:
            line = self._line(Level.WARNING, "lines of this log were lost", {"lines": lost}) + line
        if self._out.write(line):
            self._lost = lost

    def _line(self, level: Level, message: str, fields: dict[str, object]) -> str:
        moment = self._clock.now().wall.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if self._form is Format.JSON:
            head = {"time": moment, "level": level.name.lower(), "message": _sound(message)}
            return f"{_dumped({**head, **_texts(fields)})}\n"
        said = "".join(f" {name}={_quoted(value)}" for name, value in _texts(fields).items())
        return f"{moment} {level.name:<7} {_escaped(message)}{said}\n"


class RareWarning:
    """A warning of what may happen a thousand times a second: one line a minute, with how often since."""

    def __init__(self, log: Log, clock: Clock) -> None:
        self.count = 0
        """How often it happened so far."""
        self._log = log
        self._clock = clock
        self._said = 0
        self._quiet_until = 0

    def __call__(self, message: str, **fields: object) -> None:
        """It happened."""
        self.count += 1
        now = self._clock.now().ticks
        if now < self._quiet_until:
            return
        self._quiet_until = now + _PAUSE
        unsaid, self._said = self.count - self._said - 1, self.count
        self._log.warning(message, **fields, unsaid=unsaid or None)


def log_loop_problems(loop: asyncio.AbstractEventLoop, log: Log, clock: Clock) -> None:
    """Say what the loop meets in one line a minute at most: without descriptors, every accept is an error."""
    warn = RareWarning(log, clock)

    def handle(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        warn(
            "the event loop met an error",
            error=f"{type(error).__name__}: {error}" if error is not None else None,
            doing=context.get("message"),
        )

    loop.set_exception_handler(handle)


def log_decision(log: Log, decision: Decision) -> None:
    """One line for a decision: a listener of the engine's journal."""
    log.debug(
        "decided",
        run=f"{decision.run.namespace}/{decision.run.name}",
        outcome=decision.outcome,
        reason=decision.reason,
        pod=decision.pod.name if decision.pod is not None else None,
        text=decision.message or None,
        error=decision.error,
        at=decision.error.place or None if decision.error is not None else None,
    )


class PluginErrorLog:
    """Says at the default level what plugins fail with: once a minute for each plugin and hook at most."""

    def __init__(self, log: Log, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        # Bounded by the plugins of the configuration.
        self._warnings: dict[tuple[str, str], RareWarning] = {}

    def decided(self, decision: Decision) -> None:
        """Look at a decision: a listener of the engine's journal."""
        error = decision.error
        if error is None:
            return
        key = error.plugin, error.hook
        if key not in self._warnings:
            self._warnings[key] = RareWarning(self._log, self._clock)
        run = f"{decision.run.namespace}/{decision.run.name}"
        self._warnings[key](str(error), at=error.place or None, run=run, traceback=error.traceback or None)


class PluginLines:
    """What plugins print and log: so many lines a minute at most, and then how many there were besides."""

    def __init__(self, log: Log, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        # Plugins have threads of their own.
        self._lock = Lock()
        self._until = 0
        self._count = 0

    def __call__(self, level: int, source: str | None, text: str) -> None:
        """Say one. level: as `logging` counts it. source: the function or logger that it comes from."""
        with self._lock:
            unsaid = self._unsaid()
            self._count += 1
            room = self._count <= PLUGIN_LINES
        if unsaid:
            self._log.warning("plugins wrote more lines than this log takes", unsaid=unsaid)
        if room:
            self._log.write(_level(level), text, logger=source or "stdout")

    def _unsaid(self) -> int:
        """How many lines were too many in a minute that has ended; the next one begins."""
        now = self._clock.now().ticks
        if now < self._until:
            return 0
        unsaid = max(0, self._count - PLUGIN_LINES)
        self._until, self._count = now + _PAUSE, 0
        return unsaid


def _level(level: int) -> Level:
    if level >= logging.ERROR:
        return Level.ERROR
    if level >= logging.WARNING:
        return Level.WARNING
    return Level.INFO if level >= logging.INFO else Level.DEBUG


def _texts(fields: dict[str, object]) -> dict[str, object]:
    """Numbers and booleans as they are, the rest as text; without fields that are None."""
    return {name: _value(value) for name, value in fields.items() if value is not None}


def _value(value: object) -> object:
    if isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return _sound(str(value))  # JSON knows finite numbers alone


def _sound(text: str) -> str:
    """`text` without lone surrogates, which some readers of JSON refuse."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _dumped(value: object) -> str:
    """JSON in printable ASCII; `json` alone leaves DEL, which a terminal does not show."""
    return json.dumps(value).replace("\x7f", "\\u007f")


def _escaped(text: str) -> str:
    """A message without quotes, unless it could be mistaken for fields."""
    dumped = _dumped(_sound(text))
    return dumped if "=" in text else dumped[1:-1].replace('\\"', '"')


def _quoted(value: object) -> str:
    text = str(value)
    return text if _PLAIN.fullmatch(text) else _dumped(text)
