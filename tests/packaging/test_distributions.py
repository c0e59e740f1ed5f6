"""What is handed out: complete, the same by either way, and without what only a checkout needs."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from tests.packaging.fresh import HOST, ROOT, SOURCES, built, contents, unpacked


@pytest.mark.parametrize("name", SOURCES)
def test_the_sdist_builds_the_wheel_that_the_checkout_builds(name: str, tmp_path: Path) -> None:
    direct = contents(built(SOURCES[name], "wheel", tmp_path / "direct"))
    sdist = built(SOURCES[name], "sdist", tmp_path / "sdist")
    again = contents(built(unpacked(sdist, tmp_path / "tree"), "wheel", tmp_path / "again"))
    assert list(again) == list(direct)
    assert again == direct


@pytest.mark.parametrize("name", SOURCES)
def test_the_wheel_holds_the_whole_package_and_nothing_else(name: str, tmp_path: Path) -> None:
    package = name.replace("-", "_")
    folder = ROOT / package if name == HOST else SOURCES[name] / "src" / package
    files = {
        f"{package}/{path.relative_to(folder).as_posix()}"
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    held = set(contents(built(SOURCES[name], "wheel", tmp_path)))
    assert {path for path in held if ".dist-info/" not in path} == files
    assert f"{package}/py.typed" in files


def test_the_sdist_of_the_host_holds_its_package_alone(tmp_path: Path) -> None:
    with tarfile.open(built(ROOT, "sdist", tmp_path)) as archive:
        tops = {name.split("/")[1] for name in archive.getnames()}
    assert tops == {"kruntimes_core", "README.md", "LICENSE", "pyproject.toml", "PKG-INFO", ".gitignore"}
