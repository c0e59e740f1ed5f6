"""The commands of the Dockerfile, carried out in a folder: what is in the image, and that it works there."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from deployment.chart import DEPLOY, render
from deployment.image import Image
from kruntimes_core import __version__
from kruntimes_core.framework.configuration import SUPPLIED

pytestmark = [pytest.mark.xdist_group("image"), pytest.mark.timeout(300)]
PYTHON = "/opt/kruntimes/bin/python"


def files(image: Image) -> Iterator[tuple[Path, int]]:
    for path in image.path("/opt/kruntimes").rglob("*"):
        if not path.is_symlink():
            yield path, path.stat().st_mode


def state(image: Image) -> dict[Path, int]:
    return {path: path.lstat().st_mtime_ns for path in image.root.rglob("*")}


def pins(text: str) -> dict[str, str]:
    # A line with a condition after its version is for another system.
    found = re.findall(r"^([\w.-]+)==(\S+)(?: \\)?$", text, re.MULTILINE)
    return {canonicalize_name(name): version for name, version in found}


def test_it_holds_the_environment_of_the_host_and_no_trace_of_its_build(image: Image) -> None:
    assert [path.name for path in image.root.iterdir()] == ["opt"]
    assert [path.name for path in image.path("/opt").iterdir()] == ["kruntimes"]
    programs = {path.name for path in image.path("/opt/kruntimes/bin").iterdir()}
    assert {"kruntimes", "kubectl-kruntimes", "python"} <= programs
    assert not programs & {"pip", "hatchling", "uv", "pytest"}


def test_everybody_may_read_it_and_nobody_may_change_it(image: Image) -> None:
    for path, mode in files(image):
        assert mode & stat.S_IROTH, path
        assert not mode & (stat.S_IWOTH | stat.S_IWGRP | stat.S_ISUID | stat.S_ISGID), path


def test_it_has_what_is_locked_and_our_wheels(image: Image) -> None:
    listed = image.run("pip", "--python", PYTHON, "list", "--format=freeze", writes=True)
    installed = pins(listed.stdout)
    ours = {name for name in installed if name.startswith("kruntimes-")}
    locked = pins((DEPLOY / "requirements.lock").read_text())
    assert {name: installed[name] for name in installed.keys() - ours} == locked
    assert len(ours) == 1 + len(SUPPLIED)


def test_nothing_that_it_needs_is_missing(image: Image) -> None:
    checked = image.run("pip", "--python", PYTHON, "check", writes=True)
    assert checked.returncode == 0, checked.stdout


def test_it_shows_its_commands_as_another_user_on_a_file_system_that_it_only_reads(image: Image) -> None:
    before = state(image)
    helped = image.run(*image.entry_point, *image.command, "--help")
    assert (helped.returncode, helped.stderr) == (0, "")
    assert "Place the Runs of a cluster" in helped.stdout
    assert image.run("kruntimes", "--version").stdout.strip().endswith(__version__)
    assert state(image) == before


def test_the_supplied_plugins_are_active_in_it(image: Image) -> None:
    listed = image.run("kruntimes", "plugins", "list", "-o", "name")
    assert (listed.returncode, listed.stdout.split()) == (0, list(SUPPLIED))


def test_without_a_cluster_it_ends_with_one_line(image: Image) -> None:
    ended = image.run(*image.entry_point, *image.command, "--kubeconfig=/etc/kruntimes/none")
    assert ended.returncode == 2
    assert len(ended.stderr.splitlines()) == 1
    assert "Traceback" not in ended.stderr


def test_it_can_run_what_helm_test_asks_of_it(image: Image) -> None:
    (container,) = render().one("Pod")["spec"]["containers"]
    script, _, _, replicas, _ = container["args"]
    ended = image.run(*container["command"], script, "127.0.0.1", "1", replicas, "0")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == "127.0.0.1 has 1 of 2 replicas: 127.0.0.1\n"


def test_its_modules_are_compiled_and_not_looked_at_again(image: Image) -> None:
    compiled = list(image.path("/opt/kruntimes/lib").rglob("kruntimes_core/**/__pycache__/*.pyc"))
    sources = list(image.path("/opt/kruntimes/lib").rglob("kruntimes_core/**/*.py"))
    assert len(compiled) == len(sources)
    # PEP 552: flags of a file that is known by a hash, and not checked.
    assert all(path.read_bytes()[4:8] == b"\x01\0\0\0" for path in compiled)
