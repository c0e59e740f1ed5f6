"""`kruntimes dev` as a process of its own, with pipes or on a terminal."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

COMMAND = str(Path(sys.executable).with_name("kruntimes"))
_SECONDS = 30
_SEQUENCE = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])")


class Stream:
    """What a process writes, line by line as it comes."""

    def __init__(self, descriptor: int) -> None:
        self.text = ""
        self.ended = False
        self._descriptor = descriptor
        self._changed = threading.Condition()
        self._closing = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def wait(self, met: Callable[[str], bool]) -> str:
        """All of it so far, as soon as it is as wanted."""
        with self._changed:
            self._changed.wait_for(lambda: met(self.text) or self.ended, _SECONDS)
        assert met(self.text), f"it is not as wanted: {self.text!r}"
        return self.text

    def whole(self) -> str:
        """All of it, when it has ended."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.ended, _SECONDS), f"it does not end: {self.text!r}"
        return self.text

    def close(self) -> None:
        """Read no more: whoever writes finds out."""
        self._closing.set()
        self.whole()

    def _read(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        with os.fdopen(self._descriptor, "rb", buffering=0) as source:
            while not self._closing.is_set() and (chunk := _some(source.fileno())):
                with self._changed:
                    self.text += decoder.decode(chunk)
                    self._changed.notify_all()
        with self._changed:
            self.ended = True
            self._changed.notify_all()


def _some(descriptor: int) -> bytes:
    """The next bytes; none at the end, which a terminal tells by an error."""
    try:
        return os.read(descriptor, 65_536)
    except OSError:
        return b""


class Dev:
    """A running `kruntimes dev`. `out` is None where the test reads the descriptor itself."""

    def __init__(self, process: subprocess.Popen[bytes], out: Stream | None, errors: Stream | None) -> None:
        self.process = process
        self._out = out
        self._errors = errors

    @property
    def out(self) -> Stream:
        """Standard output."""
        assert self._out is not None
        return self._out

    @property
    def errors(self) -> Stream:
        """Standard error."""
        assert self._errors is not None
        return self._errors

    def url(self, stream: Stream | None = None) -> str:
        """Where it serves, once it has said so."""
        said = (stream or self.out).wait(lambda text: "export KUBECONFIG=" in text)
        return said.partition("Kubernetes API on ")[2].partition(",")[0]

    def end(self, number: signal.Signals = signal.SIGINT) -> int:
        """Tell it to end, and give its exit code."""
        self.process.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        """Its exit code, when it has ended."""
        return self.process.wait(timeout=_SECONDS)


def environment(folder: Path, **more: str) -> dict[str, str]:
    """A user's environment, with files below `folder`, that hides no warning."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "PYTHONSAFEPATH") if name in os.environ}
    return {
        **kept,
        "HOME": str(folder),
        "XDG_RUNTIME_DIR": str(folder),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONWARNINGS": "default",
        **more,
    }


@contextmanager
def running(folder: Path, *arguments: str, **more: str) -> Iterator[Dev]:
    """A process whose output are pipes. more: of its environment."""
    process = subprocess.Popen(
        [COMMAND, "dev", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(folder, **more),
    )
    assert process.stdout is not None
    assert process.stderr is not None
    out, errors = (Stream(os.dup(pipe.fileno())) for pipe in (process.stdout, process.stderr))
    process.stdout.close()
    process.stderr.close()
    try:
        yield Dev(process, out, errors)
    finally:
        process.kill()
        process.wait(timeout=_SECONDS)


def ended(folder: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """A process that ends by itself."""
    return subprocess.run(
        [COMMAND, "dev", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment(folder, **more),
        timeout=_SECONDS,
        check=False,
    )


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
        process.wait(timeout=_SECONDS)


def colours(text: str) -> set[str]:
    """The colours that are asked for, as numbers of terminals; bold and dim are none."""
    asked = [code for codes, kind in _SEQUENCE.findall(text) if kind == "m" for code in codes.split(";")]
    return {code for code in asked if code not in ("", "0", "1", "2", "22", "39", "49")}


def plain(text: str) -> str:
    """The text without what moves the cursor and paints."""
    return _SEQUENCE.sub("", text).replace("\r", "")
