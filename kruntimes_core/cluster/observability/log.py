"""Structured log lines, as text or JSON, with everything escaped that came from outside.

It does not use the process-wide loggers of `logging`, so two schedulers in one process do not mix.
"""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from enum import IntEnum, StrEnum
from typing import TextIO

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.engine.decisions import Decision

_PLAIN = re.compile(r"[A-Za-z0-9_.:/@+-]+", re.ASCII)


class Level(IntEnum):
    """How much is logged: everything up to the chosen level."""

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
        self, out: TextIO, clock: Clock, level: int = Level.INFO, form: Format = Format.TEXT
    ) -> None:
        self._out = out
        self._clock = clock
        self._level = level
        self._form = form

    def speaks(self, level: Level) -> bool:
        """Whether lines of this level are written: check this before collecting costly fields."""
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

    def _write(self, level: Level, message: str, fields: dict[str, object]) -> None:
        if not self.speaks(level):
            return
        moment = self._clock.now().wall.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if self._form is Format.JSON:
            head = {"time": moment, "level": level.name.lower(), "message": _sound(message)}
            line = _dumped({**head, **_texts(fields)})
        else:
            said = "".join(f" {name}={_quoted(value)}" for name, value in _texts(fields).items())
            line = f"{moment} {level.name:<7} {_escaped(message)}{said}"
        # A full disk, or a closed pipe, must not stop the scheduler.
        with suppress(OSError):
            self._out.write(f"{line}\n")
            self._out.flush()


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
    )


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
