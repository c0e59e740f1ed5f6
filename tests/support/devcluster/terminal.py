"""A terminal of some size for a process to draw on."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from devcluster import COMMAND, Dev, Stream, environment

_SEQUENCE = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])")


@contextmanager
def on_terminal(
    folder: Path, *arguments: str, columns: int = 80, rows: int = 40, **more: str
) -> Iterator[Dev]:
    """A process that has a terminal for everything."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = subprocess.Popen(
        [COMMAND, "dev", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment(folder, **{"TERM": "xterm-256color", **more}),
    )
    os.close(theirs)
    screen = Stream(ours)
    try:
        yield Dev(process, screen, None)
    finally:
        process.kill()
        process.wait(timeout=30)


def colours(text: str) -> set[str]:
    """The colours that are asked for, as numbers of terminals; bold and dim are none."""
    asked = [code for codes, kind in _SEQUENCE.findall(text) if kind == "m" for code in codes.split(";")]
    return {code for code in asked if code not in ("", "0", "1", "2", "22", "39", "49")}


def plain(text: str) -> str:
    """The text without what moves the cursor and paints."""
    return _SEQUENCE.sub("", text).replace("\r", "")
