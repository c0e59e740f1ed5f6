"""Structured log lines, as text or JSON. Whatever others wrote into them is escaped.

No logging tree of the process is touched: two hosts in one process do not mix.
"""

from __future__ import annotations

import json
import math
import re
from enum import IntEnum, StrEnum

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.observability.log_writer import LineWriter
from kruntimes_core.engine.clock import ticks

_PAUSE = ticks(60.0)
_PLAIN = re.compile(r"[A-Za-z0-9_.:/@+-]+", re.ASCII)


class Level(IntEnum):
    """How much is said: everything up to the chosen level."""

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
        self, out: LineWriter, clock: Clock, level: int = Level.INFO, form: Format = Format.TEXT
    ) -> None:
        self._out = out
        self._lost = 0
        """Of the lines that were lost, how many the log speaks of."""
        self._clock = clock
        self._level = level
        self._form = form

    def speaks(self, level: Level) -> bool:
        """Whether lines of this level are written: ask before collecting costly fields."""
        return level <= self._level

    def warning(self, message: str, **fields: object) -> None:
        """Something does not work as it should."""
        self._write(Level.WARNING, message, fields)

    def info(self, message: str, **fields: object) -> None:
        """Something that an operator wants to know."""
        self._write(Level.INFO, message, fields)

    def debug(self, message: str, **fields: object) -> None:
        """A decision."""
        self._write(Level.DEBUG, message, fields)

    def trace(self, message: str, **fields: object) -> None:
        """A request."""
        self._write(Level.TRACE, message, fields)

    @property
    def lost(self) -> int:
        """Lines so far that could not be written."""
        return self._out.lost

    def _write(self, level: Level, message: str, fields: dict[str, object]) -> None:
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


def _texts(fields: dict[str, object]) -> dict[str, object]:
    """Numbers and truth as they are, the rest as text; without what is None."""
    return {name: _value(value) for name, value in fields.items() if value is not None}


def _value(value: object) -> object:
    if isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return _sound(str(value))  # JSON has no word for what is no finite number


def _sound(text: str) -> str:
    """`text` without halves of surrogate pairs, which not every reader of JSON takes."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _dumped(value: object) -> str:
    """JSON in printable ASCII: also what `json` leaves, and a terminal does not show."""
    return json.dumps(value).replace("\x7f", "\\u007f")


def _escaped(text: str) -> str:
    """A message as it is read best; in quotes where it could be taken for fields."""
    dumped = _dumped(_sound(text))
    return dumped if "=" in text else dumped[1:-1].replace('\\"', '"')


def _quoted(value: object) -> str:
    text = str(value)
    return text if _PLAIN.fullmatch(text) else _dumped(text)
