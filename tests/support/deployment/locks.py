"""The lock files of the image: what an index gives, in exact versions, each file by its hash."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

from uv import find_uv_bin

from deployment.chart import DEPLOY

ROOT = DEPLOY.parent
NAMES = ("requirements.lock", "build.lock")
"""What the host needs to run, and what builds its wheels."""

_OLDEST_PYTHON = "3.11"


def wanted(name: str) -> list[str]:
    """The requirements that a lock file answers, as our projects state them."""
    host = tomllib.loads((ROOT / "pyproject.toml").read_text())
    if name == "requirements.lock":
        return list(host["project"]["dependencies"])
    projects = [host, *(tomllib.loads(path.read_text()) for path in ROOT.glob("plugins/*/pyproject.toml"))]
    return sorted({line for project in projects for line in project["build-system"]["requires"]})


def lock(name: str, output: Path, *, upgrade: bool = False) -> None:
    """Write a lock file, which keeps the versions that stand in it unless `upgrade` is set."""
    options = [
        "--universal",
        f"--python-version={_OLDEST_PYTHON}",
        "--generate-hashes",
        "--custom-compile-command=python -m deployment",
        f"--output-file={output}",
        *(["--upgrade"] if upgrade else []),
    ]
    subprocess.run(
        [find_uv_bin(), "pip", "compile", "--quiet", *options, "-"],
        input="\n".join(wanted(name)),
        text=True,
        check=True,
        stdout=subprocess.DEVNULL,
    )
