"""A reader's shell: an environment, what the page tells the reader to write, and commands that are run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.docs.pages import ROOT

_MARK = "--- end of output ---"
_SECONDS = re.compile(r" in \d+\.\d+s\b")

# pip fetches nothing: what the packages of a page need is there already.
_PIP = {
    "PIP_NO_INDEX": "1",
    "PIP_NO_DEPS": "1",
    # The cache is the business of pip, and not of the page that leaves nothing behind.
    "PIP_NO_CACHE_DIR": "1",
    "PIP_NO_BUILD_ISOLATION": "0",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_ROOT_USER_ACTION": "ignore",
}
_SHIMS = {"kruntimes": "kruntimes_core.cli", "pip": "pip"}
# What a checkout has for a reader who installs from it.
_CHECKOUT = (
    "LICENSE",
    "README.md",
    "conftest.py",
    "pyproject.toml",
    "kruntimes_core",
    "plugins",
    "docs/examples",
)


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
    """A reader's folder, and what running commands in it prints."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self._environment = {"HOME": str(folder), "LANG": "C.UTF-8", **_PIP, **environment}

    def run(self, lines: Iterable[str]) -> list[str]:
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


def installed(folder: Path, examples: str = "docs/examples") -> Shell:
    """A reader who has installed the host and the supplied plugins, and has the examples at this path."""
    _copy("docs/examples", folder / examples)
    library = _library(folder, lambda name: "kruntimes_example_" not in name)
    venv.create(folder / ".venv", symlinks=True)
    bin_folder = folder / ".venv" / "bin"
    (site,) = (folder / ".venv" / "lib").glob("python*/site-packages")
    # By site, which also follows the links of packages that are installed as editable.
    (site / "library.pth").write_text(f"import site; site.addsitedir({str(library)!r})\n")
    for name, module in _SHIMS.items():
        shim = bin_folder / name
        shim.write_text(f'#!/bin/sh\nexec {bin_folder}/python -m {module} "$@"\n')
        shim.chmod(0o755)
    return Shell(folder, {"PATH": f"{bin_folder}:{os.environ['PATH']}"})


def newcomer(folder: Path) -> Shell:
    """A reader whose home holds a checkout, as `kruntimes`, and who has nothing of it installed."""
    for name in _CHECKOUT:
        _copy(name, folder / "kruntimes" / name)
    library = _library(folder, lambda name: "kruntimes" not in name)
    bin_folder, session = (folder / ".library" / name for name in (".bin", ".session"))
    for made in (bin_folder, session):
        made.mkdir(mode=0o700)
    (bin_folder / "python3").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (bin_folder / "python3").chmod(0o755)
    return Shell(
        folder,
        {
            "PATH": f"{bin_folder}:{os.defpath}",
            "PYTHONPATH": str(library),
            "XDG_RUNTIME_DIR": str(session),
        },
    )


def writing(name: str, text: str) -> str:
    """The command that writes a file as the reader is told to."""
    return f"mkdir -p {Path(name).parent} && cat > {name} << '{_MARK}'\n{text}{_MARK}"


def _copy(name: str, to: Path) -> None:
    source = ROOT / name
    to.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, to, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "dist", ".*"))
    else:
        shutil.copy(source, to)


def _library(folder: Path, wanted: Callable[[str], bool]) -> Path:
    """The packages of the environment that runs the tests, without some."""
    library = folder / ".library"
    library.mkdir()
    for package in Path(sysconfig.get_paths()["purelib"]).iterdir():
        if wanted(package.name):
            (library / package.name).symlink_to(package)
    return library


def alike(shown: str, printed: str) -> bool:
    """Whether an output is as shown; a line `...` stands for any lines, and durations may differ."""
    parts = [re.escape(_plain(part)) for part in re.split(r"^\.\.\.$\n?", shown, flags=re.MULTILINE)]
    return re.fullmatch("(?s:.*)".join(parts), _plain(printed)) is not None


def _plain(text: str) -> str:
    lines = [_SECONDS.sub(" in 0.01s", line.rstrip()) for line in text.splitlines()]
    return "".join(f"{line}\n" for line in lines)
