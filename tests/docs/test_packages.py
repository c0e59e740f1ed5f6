"""The tests of each package of the checkout run alone, with settings of their own, wherever pytest starts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

PACKAGES = [*sorted((ROOT / "plugins").glob("*/")), ROOT / "docs" / "examples" / "zone-spread"]


@pytest.mark.parametrize("start", ["in the package", "at the root", "anywhere"])
@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_a_package_has_its_own_settings(package: Path, start: str, tmp_path: Path) -> None:
    folder = {"in the package": package, "at the root": ROOT, "anywhere": tmp_path}[start]
    printed = alone(folder, [] if folder == package else [str(package)], tmp_path, "--collect-only")
    # The project's settings need a plugin of pytest that is switched off here, and its conftest.py is above.
    assert f"rootdir: {package}\n" in printed
    assert "configfile: pyproject.toml" in printed
    assert "no tests" not in printed


def test_the_tests_of_the_example_pass(tmp_path: Path) -> None:
    assert " passed in " in alone(PACKAGES[-1], [], tmp_path)


def alone(folder: Path, arguments: list[str], scratch: Path, *options: str) -> str:
    """What pytest prints in a folder. It writes nothing into the checkout."""
    command = [sys.executable, "-P", "-B", "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:timeout"]
    done = subprocess.run(
        [*command, *options, *arguments],
        cwd=folder,
        env={**os.environ, "HYPOTHESIS_STORAGE_DIRECTORY": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout
