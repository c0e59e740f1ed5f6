"""A reader's shell: a copy of the examples, an environment of one's own, and commands that are run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.docs.pages import ROOT

_MARK = "--- end of output ---"
_SECONDS = re.compile(r" in \d+\.\d+s\b")

# What `.venv/bin` holds for the reader. Packages are installed into the reader's folder, from their
# sources and without an index, so that nothing is fetched and no page changes the plugins of another.
_SHIMS = {
    "python": 'exec {python} -S "$@"',
    "kruntimes": 'exec {python} -S -m kruntimes_core.cli "$@"',
    "pip": 'test "$1" = install && shift && exec {python} -S -m pip install --no-index --no-deps'
    ' --no-build-isolation --disable-pip-version-check --root-user-action ignore --target {site} "$@"',
}
# Installed in every test environment, and not by the line of the README.
_EXAMPLE = "kruntimes_example_"


@dataclass(frozen=True, slots=True)
class Command:
    """A command as it is shown, and the output that is shown below it."""

    line: str
    shown: str


def commands(text: str) -> Iterator[Command]:
    """The commands of a console block: `$ ` begins one, `> ` goes on with it, the rest is output."""
    line, shown = "", ""
    for part in text.splitlines(keepends=True):
        if part.startswith("$ "):
            if line:
                yield Command(line, shown)
            line, shown = part[2:], ""
        elif part.startswith("> ") and not shown:
            line += part[2:]
        else:
            shown += part
    yield Command(line, shown)


class Shell:
    """A folder that looks like the reader's checkout, and what running commands in it prints."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "dist")
        shutil.copytree(ROOT / "docs" / "examples", folder / "docs" / "examples", ignore=ignored)
        bin_folder, site, library = (folder / ".venv" / name for name in ("bin", "site", "library"))
        for created in (bin_folder, library):
            created.mkdir(parents=True)
        for installed in Path(sysconfig.get_paths()["purelib"]).iterdir():
            if not installed.name.startswith(_EXAMPLE):
                (library / installed.name).symlink_to(installed)
        for name, body in _SHIMS.items():
            shim = bin_folder / name
            shim.write_text(f"#!/bin/sh\n{body.format(python=sys.executable, site=site)}\n")
            shim.chmod(0o755)
        self._environment = {
            "PATH": f"{bin_folder}:{os.environ['PATH']}",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "PYTHONPATH": f"{site}:{library}",
            "PYTHONSAFEPATH": "1",
        }

    def write(self, name: str, text: str) -> None:
        """Write a file as the reader is told to."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run(self, lines: list[str]) -> list[str]:
        """Run commands one after the other in one shell; gives what each printed, errors included."""
        # The status goes on from command to command, so that `echo $?` shows what the reader would see.
        script = "".join(f"{line}\nstatus=$?; echo '{_MARK}'; (exit $status)\n" for line in lines)
        done = subprocess.run(
            ["/bin/bash", "--noprofile", "--norc"],
            input=script,
            cwd=self.folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.stdout.split(f"{_MARK}\n")[:-1]


def alike(shown: str, printed: str) -> bool:
    """Whether an output is as shown; a line `...` stands for any lines, and durations may differ."""
    parts = [re.escape(_plain(part)) for part in re.split(r"^\.\.\.$\n?", shown, flags=re.MULTILINE)]
    return re.fullmatch("(?s:.*)".join(parts), _plain(printed)) is not None


def _plain(text: str) -> str:
    lines = [_SECONDS.sub(" in 0.01s", line.rstrip()) for line in text.splitlines()]
    return "".join(f"{line}\n" for line in lines)
