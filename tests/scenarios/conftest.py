"""What the scenarios are played with: plans in this process, the installed command, fake distributions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml

from kruntimes_core.cli.main import main
from kruntimes_core.framework.configuration import Profiles
from tests.scenarios.planning import Object, Plan, document_of, installed_profiles
from tests.scenarios.site import Completed, Site

Planned = Callable[..., Plan]
Write = Callable[..., Path]
Configure = Callable[..., Path]
Command = Callable[..., Completed]


@pytest.fixture(scope="session")
def profiles() -> Profiles:
    """The installed plugins, by the default configuration."""
    return installed_profiles()


@pytest.fixture
def plan(profiles: Profiles) -> Planned:
    """Plan objects by the installed plugins."""

    def planned(*objects: Object, **options: Any) -> Plan:
        return Plan(document_of(objects, profiles, **options))

    return planned


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A folder for fake distributions."""
    return Site(tmp_path / "site")


@pytest.fixture
def manifests(tmp_path: Path) -> Write:
    """Write objects to a file: JSON, unless its name says YAML."""

    def write(*objects: Object, name: str = "objects.json") -> Path:
        file = tmp_path / name
        listed = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        file.write_text(json.dumps(listed) if name.endswith("json") else yaml.safe_dump(listed))
        return file

    return write


@pytest.fixture
def configured(tmp_path: Path) -> Configure:
    """Write a configuration file."""

    def write(text: str, name: str = "config.yaml") -> Path:
        file = tmp_path / name
        file.write_text(dedent(text))
        return file

    return write


@pytest.fixture
def kruntimes(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """The installed command, called in this process: what a table of many lines is played with."""
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*arguments: str | Path) -> Completed:
        code = main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return Completed(["kruntimes", *map(str, arguments)], code, said.out, said.err)

    return run
