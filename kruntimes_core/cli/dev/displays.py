"""How the work of a development cluster is shown: a live picture, or a line now and then."""

from __future__ import annotations

import io
import os
from collections import deque
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self, TextIO

import click

from kruntimes_core.cli.output.readers import nobody_reads
from kruntimes_core.lab.dev.overview import Overview

if TYPE_CHECKING:
    from rich.console import Console

_KEPT_NOTICES = 3
_SILENT_LOOKS = 4
"""Looks of `Lines` between two lines at least."""


class Display(Protocol):
    """Shows overviews while it is entered."""

    seconds: float
    """How often it wants one."""
    stays: bool
    """Whether what it shows last stays to be seen."""

    @property
    def notices(self) -> TextIO:
        """Where log lines go meanwhile."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def show(self, overview: Overview) -> None:
        """Show one. Raises `BrokenPipeError` when nobody reads any more."""


class Notices(io.StringIO):
    """Keeps the latest log lines, for a picture that they would tear."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: deque[str] = deque(maxlen=_KEPT_NOTICES)

    def write(self, text: str) -> int:
        """Take lines."""
        self.lines.extend(text.splitlines())
        return len(text)


class LivePicture:
    """A picture on a terminal that changes in its place."""

    seconds = 0.25
    stays = True

    def __init__(self, console: Console) -> None:
        # Only here: importing it takes a while, and only terminals need it.
        from rich.live import Live

        self.notices = Notices()
        self._shown: tuple[Overview, list[str]] | None = None
        self._live = Live(console=console, auto_refresh=False, vertical_overflow="crop")

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not nobody_reads(self._live.console.file):
            self._live.stop()

    def show(self, overview: Overview) -> None:
        """Draw it, if it differs from what is drawn."""
        from kruntimes_core.cli.dev.picture import Picture

        # rich takes a terminal that is gone for a file, and draws nothing, without a word.
        if nobody_reads(self._live.console.file):
            raise BrokenPipeError
        wanted = (overview, list(self.notices.lines))
        if wanted != self._shown:
            self._shown = wanted
            self._live.update(Picture(*wanted), refresh=True)


class Lines:
    """A line now and then, if something happened."""

    # Often, because a reader that went away is only found by looking.
    seconds = 1.0
    stays = False

    def __init__(self, out: TextIO, errors: TextIO) -> None:
        self.notices = errors
        self._out = out
        self._said = ""
        self._silent_for = _SILENT_LOOKS

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """There is nothing to tidy up."""

    def show(self, overview: Overview) -> None:
        """Say where the Runs stand."""
        self._silent_for += 1
        phases = ", ".join(f"{number} {phase}" for phase, number in overview.phases)
        said = f"{overview.placements} placed: {phases}" if phases else ""
        if said != self._said and self._silent_for > _SILENT_LOOKS:
            self._said, self._silent_for = said, 0
            click.echo(said, file=self._out)
        elif nobody_reads(self._out):
            raise BrokenPipeError


def is_live(out: TextIO) -> bool:
    """Whether a picture can change in its place there."""
    return out.isatty() and os.environ.get("TERM", "") not in ("", "dumb", "unknown")
