"""Builds what is missing with Go: once, under a lock, whole or not at all, and with progress to see.

A cold build takes minutes, so it never happens inside a test: `python -m realcluster` comes first.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from realcluster.assets import MODULE, TOOLS, AssetsError, Tool, cached, locate, version_of

_USUAL_GO = "/usr/local/go/bin/go"
_LINES_KEPT = 30
_SECONDS_BETWEEN_LINES = 20


def ensure(tools: Iterable[Tool] = TOOLS) -> dict[str, Path]:
    """Every tool's binary by its name, building what is not there."""
    return {tool.name: locate(tool) or _build_once(tool) for tool in tools}


def find_go() -> str | None:
    """The Go command, also where it is installed but not on the path."""
    return shutil.which("go") or shutil.which(_USUAL_GO)


def _build_once(tool: Tool) -> Path:
    target = cached(tool)
    target.parent.mkdir(parents=True, exist_ok=True)
    with _locked(target.parent / "lock", tool):
        if not target.exists():
            _build(tool, target)
    return target


@contextmanager
def _locked(path: Path, tool: Tool) -> Iterator[None]:
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say(f"waiting for another process that builds {tool.name}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(tool: Tool, target: Path) -> None:
    unfinished = target.with_suffix(".unfinished")
    command = [_go(), "build", "-v", "-o", str(unfinished), f"-ldflags={_link_flags(tool)}", tool.package]
    environment = {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"}
    # Of low priority: it fills every core for minutes, beside whatever else the machine does.
    with subprocess.Popen(
        ["/usr/bin/env", "nice", *command], cwd=MODULE, env=environment, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        last = _show_progress(f"building {tool.name} {version_of(tool)}", process.stderr)
    if process.returncode:
        raise AssetsError(f"{tool.name} could not be built in {MODULE}:\n" + "\n".join(last))
    unfinished.replace(target)


def _go() -> str:
    go = find_go()
    if go is None:
        raise AssetsError("no Go to build the API server with: install it from https://go.dev/dl/")
    return go


def _link_flags(tool: Tool) -> str:
    """Without symbols; Kubernetes' programs are told their version, or they call themselves v0.0.0."""
    version = version_of(tool)
    if tool.module != "k8s.io/kubernetes":
        return "-s -w"
    major, minor, _ = version.removeprefix("v").split(".", 2)
    told = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
    return " ".join(
        ["-s -w", *(f"-X k8s.io/component-base/version.{key}={value}" for key, value in told.items())]
    )


def _show_progress(what: str, lines: Iterable[str]) -> deque[str]:
    """Count the packages that Go names as it compiles them; returns the last lines, for an error."""
    terminal, last = sys.stderr.isatty(), deque[str](maxlen=_LINES_KEPT)
    started = shown = time.monotonic()
    _say(what)
    for count, line in enumerate(lines, 1):
        last.append(line.rstrip())
        now = time.monotonic()
        if now - shown > (1 if terminal else _SECONDS_BETWEEN_LINES):
            shown = now
            text = f"{what}: {count} packages, {now - started:.0f} s"
            _say(text, end="\r" if terminal else "\n")
    _say(f"{what}: done in {time.monotonic() - started:.0f} s")
    return last


def _say(text: str, end: str = "\n") -> None:
    sys.stderr.write(f"{text}   {end}")
    sys.stderr.flush()
