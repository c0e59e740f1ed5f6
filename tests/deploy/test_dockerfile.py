"""What the Dockerfiles say, without a build: pinned, without root, and only of what is meant."""

import re
from pathlib import Path

import pytest

from deployment.chart import DEPLOY, render
from deployment.dockerfile import Instruction, instructions, stages
from deployment.image import BuildError
from deployment.locks import NAMES, ROOT, lock
from deployment.scratch import Builder
from kruntimes_core import __version__

HOST = DEPLOY / "Dockerfile"
DERIVED = DEPLOY / "examples" / "with-plugins.Dockerfile"
EXAMPLES = sorted((DEPLOY / "examples").glob("*.Dockerfile"))
HASH = re.compile(r"    --hash=sha256:[0-9a-f]{64}( \\)?")
PINNED = re.compile(r"^[a-z0-9-]+==[^\s;]+( ; [^\\]+)? \\$")


def commands(path: Path) -> list[Instruction]:
    return [one for one in instructions(path) if one.name == "RUN"]


@pytest.mark.parametrize("path", [HOST, *EXAMPLES], ids=lambda path: path.name)
def test_every_stage_starts_from_an_image_that_the_builder_must_name(path: Path) -> None:
    declared = [one.value for one in instructions(path) if one.name == "ARG"]
    assert not any("=" in value for value in declared)
    bases = [stage[0].value.partition(" AS ")[0] for stage in stages(path)]
    assert set(bases) <= {*(f"${{{value}}}" for value in declared), "scratch"}


@pytest.mark.parametrize("base", ["python:3.11-slim-bookworm", "", f"python@sha256:{'0' * 64}"])
def test_a_base_without_tag_and_digest_is_refused(base: str, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="name it by tag and digest"):
        Builder(ROOT, tmp_path / "root", {"BASE_IMAGE": base}, {}).build(HOST)


@pytest.mark.parametrize("path", [HOST, *EXAMPLES], ids=lambda path: path.name)
def test_nothing_is_installed_without_a_hash_or_from_source(path: Path) -> None:
    for one in commands(path):
        for install in re.findall(r"pip[^&]* install [^&]*", one.value):
            assert "--no-deps" in install
            assert "--no-cache-dir" in install
            ours = "/wheels/*.whl" in install and "--no-index" in install
            assert ours or ("--require-hashes" in install and "--only-binary :all:" in install)
        assert not re.search(r"\b(apt-get|apk|curl|wget|gcc|make|sudo|chmod)\b", one.value)


@pytest.mark.parametrize("path", [HOST, DERIVED], ids=lambda path: path.name)
def test_the_image_runs_as_a_number_that_is_not_root(path: Path) -> None:
    *_, last = stages(path)
    user = [one.value for one in last if one.name == "USER"][-1]
    assert user == "65532:65532"


def test_the_image_starts_the_host_and_says_which() -> None:
    *_, last = stages(HOST)
    said = {one.name: one for one in last}
    assert said["ENTRYPOINT"].words == ["kruntimes"]
    assert said["CMD"].words == ["scheduler"]
    assert dict(said["LABEL"].pairs)["org.opencontainers.image.version"] == __version__
    ports = [str(port["containerPort"]) for port in render().pod["spec"]["containers"][0]["ports"]]
    assert said["EXPOSE"].words == ports


def test_the_builder_gets_only_what_is_copied() -> None:
    allowed = re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
    copied = [
        source
        for one in instructions(HOST)
        if one.name == "COPY" and not one.flag("from")
        for source in one.words[:-1]
    ]
    assert sorted(allowed) == sorted(copied)
    assert all((ROOT / source).exists() for source in copied)


@pytest.mark.parametrize("name", NAMES)
def test_a_lock_answers_what_our_projects_require(name: str, tmp_path: Path) -> None:
    locked = (DEPLOY / name).read_text()
    copy = tmp_path / name
    copy.write_text(locked)
    lock(name, copy)
    assert copy.read_text() == locked, "run `python -m deployment`"


@pytest.mark.parametrize("name", NAMES)
def test_a_lock_pins_every_file_and_no_package_of_ours(name: str) -> None:
    lines = [line for line in (DEPLOY / name).read_text().splitlines() if not re.match(r" *#", line)]
    pins = [line for line in lines if not line.startswith("    ")]
    assert pins
    assert all(PINNED.match(line) for line in pins)
    assert all(HASH.fullmatch(line) for line in lines if line not in pins)
    assert not any(line.startswith("kruntimes") for line in pins)
