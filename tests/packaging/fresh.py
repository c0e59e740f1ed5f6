"""Distributions built from this checkout, and an environment that holds nothing but what they need.

Nothing comes from an index: third-party packages are linked from the environment of the tests, and
only those that our own metadata asks for. What is used and not declared is therefore missing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution
from pathlib import Path
from zipfile import ZipFile

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
HOST = "kruntimes-core"
SOURCES = {
    HOST: ROOT,
    **{folder.name: folder for folder in sorted((ROOT / "plugins").iterdir()) if folder.is_dir()},
}
"""Where each distribution of ours is built from, by its name."""
_SECONDS = 50


def built(source: Path, target: str, folder: Path) -> Path:
    """Build one distribution of a source tree into `folder`; target: `wheel` or `sdist`."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    _run(command, source)
    (file,) = folder.glob("*.whl" if target == "wheel" else "*.tar.gz")
    return file


def unpacked(sdist: Path, folder: Path) -> Path:
    """The source tree in an sdist."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (tree,) = folder.iterdir()
    return tree


def contents(wheel: Path) -> dict[str, bytes]:
    """Every file of a wheel, by its name."""
    with ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


class FreshEnvironment:
    """A virtual environment with the third-party packages that the host declares, and no more."""

    def __init__(self, folder: Path) -> None:
        _run([sys.executable, "-m", "venv", "--without-pip", str(folder)], ROOT)
        self._bin = folder / "bin"
        (self.site,) = folder.glob("lib/python*/site-packages")
        for needed in _closure(HOST):
            _link(needed, self.site)

    def install(self, wheels: Path, *names: str) -> None:
        """Install distributions of ours; pip refuses if they need what is not there."""
        python = str(self._bin / "python")
        options = ["--no-index", "--find-links", str(wheels), "--disable-pip-version-check", "--quiet"]
        _run([sys.executable, "-m", "pip", "--python", python, "install", *options, *names], wheels)

    def run(self, script: str, folder: Path) -> subprocess.CompletedProcess[str]:
        """Run a line of bash in `folder`, by a user whose home cannot be written to."""
        return subprocess.run(
            ["/bin/bash", "--noprofile", "--norc", "-o", "pipefail", "-c", script],
            cwd=folder,
            # Not even root makes a file there.
            env={"PATH": f"{self._bin}:{os.defpath}", "HOME": "/proc"},
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
        )


def _closure(name: str) -> Iterable[Distribution]:
    """The third-party distributions that `name` needs without any extra, each once."""
    found: dict[str, Distribution] = {}
    waiting = [name]
    while waiting:
        for line in distribution(waiting.pop()).requires or ():
            needed = Requirement(line)
            key = canonicalize_name(needed.name)
            if key not in found and (needed.marker is None or needed.marker.evaluate({"extra": ""})):
                found[key] = distribution(needed.name)
                waiting.append(needed.name)
    return found.values()


def _link(installed: Distribution, site: Path) -> None:
    for top in sorted({file.parts[0] for file in installed.files or () if file.parts[0] != ".."}):
        if top != "__pycache__" and not (site / top).exists():
            (site / top).symlink_to(str(installed.locate_file(top)))


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=_SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
