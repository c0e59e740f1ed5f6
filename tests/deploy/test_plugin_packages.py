"""Three ways in which plugins come into a Pod, carried out in a folder: each shows them to the host."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from deployment.chart import DEPLOY, Rendered, render
from deployment.image import BuildError, Image
from deployment.scratch import Builder
from kruntimes_core import __version__

pytestmark = [pytest.mark.xdist_group("image"), pytest.mark.timeout(300)]
PLUGIN = "ZoneSpread"
HOST = f"registry.example.com/kruntimes-scheduler:{__version__}@sha256:{'0' * 64}"


@dataclass(frozen=True)
class Wheels:
    """A folder that has a wheel of a plugin in `wheels`, and its `requirements.txt`."""

    folder: Path

    @property
    def requirements(self) -> str:
        return (self.folder / "requirements.txt").read_text()


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Wheels:
    folder = tmp_path_factory.mktemp("plugins")
    options = ["--no-index", "--no-deps", "--no-build-isolation", "--quiet"]
    source, built = DEPLOY.parent / "docs" / "examples" / "zone-spread", folder / "wheels"
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", *options, f"--wheel-dir={built}", source], check=True
    )
    (wheel,) = built.iterdir()
    name, version, *_ = wheel.name.split("-")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    line = f"{name.replace('_', '-')}=={version} \\\n    --hash=sha256:{digest}\n"
    (folder / "requirements.txt").write_text(line)
    return Wheels(folder)


@pytest.fixture
def pod(image: Image, tmp_path: Path) -> Image:
    """The image, where volumes may be mounted."""
    return image.copied_to(tmp_path / "root")


def names(image: Image) -> list[str]:
    listed = image.run("kruntimes", "plugins", "list", "-o", "name")
    assert listed.returncode == 0, listed.stderr
    return listed.stdout.split()


def volume(pod: Image, path: str) -> Path:
    """An empty volume in which the user of the image may write."""
    folder = pod.path(path)
    folder.mkdir(parents=True)
    if os.geteuid() == 0:
        os.chown(folder, *map(int, pod.user.split(":")))
    return folder


def start(rendered: Rendered, pod: Image, wheels: Wheels) -> subprocess.CompletedProcess[str]:
    """Mount the volumes of the rendered Pod, and run its init container."""
    (container,) = rendered.pod["spec"]["initContainers"]
    for mount in container["volumeMounts"]:
        path = volume(pod, mount["mountPath"])
        if mount["name"] == "configuration":
            for name, text in rendered.files.items():
                (path / name).write_text(text)
        if mount["name"] == "wheelhouse":
            shutil.copytree(wheels.folder / "wheels", path, dirs_exist_ok=True)
    return pod.run(*container["command"], *container["args"], writes=True)


def at_start(requirements: str) -> Rendered:
    return render({"plugins": {"requirements": requirements, "wheelhouse": {"emptyDir": {}}}})


def test_an_image_of_ones_own_has_its_plugins(image: Image, wheels: Wheels, tmp_path: Path) -> None:
    builder = Builder(wheels.folder, tmp_path / "root", {"HOST_IMAGE": HOST}, {HOST: image})
    derived = builder.build(DEPLOY / "examples" / "with-plugins.Dockerfile")
    assert names(derived) == [*names(image), PLUGIN]
    assert (derived.user, derived.entry_point) == (image.user, image.entry_point)
    assert derived.command == image.command
    assert not any(derived.path("/mnt").iterdir())


def test_a_wheel_that_is_not_the_one_that_was_meant_stops_the_build(
    image: Image, wheels: Wheels, tmp_path: Path
) -> None:
    changed = shutil.copytree(wheels.folder, tmp_path / "context")
    (changed / "requirements.txt").write_text(wheels.requirements.rpartition(":")[0] + ":" + "0" * 64)
    builder = Builder(changed, tmp_path / "root", {"HOST_IMAGE": HOST}, {HOST: image})
    with pytest.raises(BuildError, match="DO NOT MATCH THE HASHES"):
        builder.build(DEPLOY / "examples" / "with-plugins.Dockerfile")


def test_plugins_are_installed_when_a_pod_starts(pod: Image, wheels: Wheels) -> None:
    supplied = names(pod)
    installed = start(at_start(wheels.requirements), pod, wheels)
    assert installed.returncode == 0, installed.stderr
    assert names(pod) == [*supplied, PLUGIN]


def test_an_init_container_that_is_run_again_does_the_same(pod: Image, wheels: Wheels) -> None:
    rendered = at_start(wheels.requirements)
    start(rendered, pod, wheels)
    (container,) = rendered.pod["spec"]["initContainers"]
    again = pod.run(*container["command"], *container["args"], writes=True)
    assert again.returncode == 0, again.stderr
    assert PLUGIN in names(pod)


@pytest.mark.parametrize(
    ("requirements", "problem"),
    [
        ("kruntimes-example-zone-spread", "all requirements must have their versions pinned"),
        (f"absent==1 --hash=sha256:{'0' * 64}", "No matching distribution found for absent==1"),
    ],
    ids=["without hash", "not there"],
)
def test_what_cannot_be_installed_keeps_the_pod_from_starting(
    pod: Image, wheels: Wheels, requirements: str, problem: str
) -> None:
    installed = start(at_start(requirements), pod, wheels)
    assert installed.returncode != 0
    assert problem in installed.stderr


def test_a_volume_brings_plugins(pod: Image, image: Image, wheels: Wheels, tmp_path: Path) -> None:
    builder = Builder(wheels.folder, tmp_path / "volume", {"HOST_IMAGE": HOST}, {HOST: image})
    built = builder.build(DEPLOY / "examples" / "plugins-volume.Dockerfile")
    rendered = render({"plugins": {"volume": {"image": {"reference": "registry.example.com/plugins:1"}}}})
    (mount,) = (m for m in rendered.pod["spec"]["containers"][0]["volumeMounts"] if m["name"] == "plugins")
    shutil.copytree(built.root, pod.path(mount["mountPath"]))
    assert names(pod) == [*names(image), PLUGIN]


def test_what_is_mounted_adds_and_replaces_nothing(pod: Image) -> None:
    mounted = volume(pod, "/plugins")
    for package in ("kruntimes_core", "click", "json"):
        (mounted / package).mkdir()
        (mounted / package / "__init__.py").write_text("raise SystemExit('a stranger')\n")
    shown = pod.run("kruntimes", "--version")
    assert (shown.returncode, shown.stdout.split()[-1]) == (0, __version__)
