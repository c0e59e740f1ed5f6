"""Every distribution of the workspace is checked by every tool, however late it was added."""

import tomllib
from configparser import ConfigParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MEMBERS = [*sorted((ROOT / "plugins").iterdir()), ROOT / "docs" / "examples" / "zone-spread"]
PROJECTS = [
    (member, tomllib.loads((member / "pyproject.toml").read_text())["project"])
    for member in MEMBERS
    if (member / "pyproject.toml").exists()
]


@pytest.fixture(params=PROJECTS, ids=[project["name"] for _, project in PROJECTS])
def member(request: pytest.FixtureRequest) -> tuple[Path, str]:
    folder, project = request.param
    return folder, project["name"]


def settings(file: str) -> ConfigParser:
    parser = ConfigParser(interpolation=None)
    parser.read_string((ROOT / file).read_text())
    return parser


def test_tests_and_layers_run_on_its_wheel(member: tuple[Path, str]) -> None:
    assert member[1] in settings("tox.ini")["ours"]["names"].replace("\\", "").split()


def test_mypy_finds_its_sources(member: tuple[Path, str]) -> None:
    paths = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]["mypy_path"]
    assert f"$MYPY_CONFIG_FILE_DIR/{member[0].relative_to(ROOT)}/src" in paths


def test_its_imports_are_watched(member: tuple[Path, str]) -> None:
    package, rules = member[1].replace("-", "_"), settings(".importlinter")
    assert package in rules["importlinter"]["root_packages"].split()
    assert package in rules["importlinter:contract:host"]["forbidden_modules"].split()
    assert package in rules["importlinter:contract:plugins"]["source_modules"].split()


def test_it_has_what_an_author_would_look_for(member: tuple[Path, str]) -> None:
    package = member[1].replace("-", "_")
    assert (member[0] / "README.md").stat().st_size > 500
    assert (member[0] / "src" / package / "py.typed").exists()
    assert list((member[0] / "tests").glob("test_*.py"))


def test_ci_runs_the_line_of_the_readme() -> None:
    line = (ROOT / ".ci" / "run").read_text().splitlines()[-1]
    assert line in (ROOT / "README.md").read_text()
