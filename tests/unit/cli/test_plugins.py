import json
from collections.abc import Callable
from importlib.metadata import distributions
from pathlib import Path

import pytest
import yaml

from kruntimes_core.cli import plugins
from kruntimes_core.cli.main import main
from kruntimes_core.cli.output.screen import Screen
from kruntimes_core.framework import plugin_registry
from kruntimes_core.framework.plugin_registry import PluginRegistry

FILTER = """
from kruntimes_core import hookimpl

class {name}:
    provides = {{"capacity"}}

    @hookimpl
    def filter(self, pod):
        return None
"""
SCORER = """
from kruntimes_core import hookimpl

class {name}:
    @hookimpl
    def score(self, pod):
        return 7
"""
Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install plugins into an environment that holds nothing else."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(
        plugin_registry, "PluginRegistry", lambda: PluginRegistry(distributions(path=[str(tmp_path)]))
    )

    def put(name: str, source: str, version: str = "1.0") -> None:
        module = f"listed_{name.lower()}_{tmp_path.parent.name.replace('-', '_')}_{tmp_path.name}"
        (tmp_path / f"{module}.py").write_text(source.format(name=name))
        info = tmp_path / f"acme_{name.lower()}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: acme-{name.lower()}\nVersion: {version}\n"
        )
        (info / "entry_points.txt").write_text(f"[kruntimes.plugins]\n{name} = {module}:{name}\n")

    return put


def written(folder: Path, text: str) -> str:
    file = folder / "configuration.yaml"
    file.write_text(text)
    return str(file)


def test_an_environment_without_plugins_says_what_to_install(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plugins", "list"]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == (
        "the scheduler would not start: no plugins are installed: install the distributions"
        " kruntimes-runtime-pod-availability, kruntimes-run-affinity, kruntimes-workspace-placement,"
        " kruntimes-preferred-run-affinity, kruntimes-least-loaded\n"
    )


def test_a_host_that_may_work_without_plugins_would_start(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = written(tmp_path, "allowNoCapacityFilter: true\n")
    assert main(["plugins", "list", "--config", config]) == 0
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "no plugins are installed\n")


def test_every_plugin_is_a_row(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install("Room", FILTER)
    install("Lucky", SCORER, version="2.1")
    install("Broken", "raise RuntimeError('not today')")
    assert main(["plugins", "list"]) == 1
    shown = capsys.readouterr()
    lines = shown.out.splitlines()
    assert lines[0].split() == ["NAME", "DISTRIBUTION", "VERSION", "STATE", "HOOKS", "WEIGHT", "WHY", "NOT"]
    assert lines[1].split() == ["Lucky", "acme-lucky", "2.1", "active", "score", "1", "<none>"]
    assert lines[2].split() == ["Room", "acme-room", "1.0", "active", "filter", "<none>", "<none>"]
    assert lines[3].split()[:6] == ["Broken", "acme-broken", "1.0", "broken", "<none>", "<none>"]
    assert "RuntimeError: not today" in lines[3]
    assert shown.err.startswith("the scheduler would not start: cannot load plugin Broken (acme-broken 1.0")


def test_a_configuration_decides_what_is_active(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install("Room", FILTER)
    install("Lucky", SCORER)
    install("Never", "raise SystemExit('it was imported')")
    config = written(tmp_path, "plugins: {disabled: [Never], enabled: [{name: Lucky, weight: 3}]}\n")
    assert main(["plugins", "list", "--config", config, "-o", "json"]) == 0
    shown = capsys.readouterr()
    document = json.loads(shown.out)
    assert shown.err == ""
    assert document["apiVersion"] == "kruntimes.io/plugins/v1"
    assert document["plugins"][0] == {
        "profile": "default",
        "name": "Lucky",
        "distribution": "acme-lucky",
        "version": "1.0",
        "state": "active",
        "hooks": ["score"],
        "weight": 3,
        "why": None,
    }
    assert [plugin["state"] for plugin in document["plugins"]] == ["active", "active", "disabled"]
    assert document["plugins"][2]["why"] == "named in plugins.disabled"
    main(["plugins", "list", "--config", config, "-o", "yaml"])
    assert yaml.safe_load(capsys.readouterr().out) == document


def test_wide_names_the_profile(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install("Room", FILTER)
    assert main(["plugins", "list", "-o", "wide"]) == 0
    heading, row = capsys.readouterr().out.splitlines()
    assert heading.split()[:2] == ["PROFILE", "NAME"]
    assert row.split()[:2] == ["default", "Room"]


def test_several_profiles_are_listed_one_after_the_other(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install("Room", FILTER)
    install("Lucky", SCORER)
    config = written(
        tmp_path,
        "profiles: [{name: gpu, runtimes: [torch], plugins:"
        " {disabled: ['*'], enabled: [Room, {name: Lucky, weight: 4}]}}]\n",
    )
    assert main(["plugins", "list", "--config", config]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [(row[0], row[1], row[4], row[6]) for row in rows[1:]] == [
        ("default", "Lucky", "active", "1"),
        ("default", "Room", "active", "<none>"),
        ("gpu", "Room", "active", "<none>"),
        ("gpu", "Lucky", "active", "4"),
    ]
    assert main(["plugins", "list", "--config", config, "-o", "name"]) == 0
    assert capsys.readouterr().out == "Lucky\nRoom\n"


def test_the_cause_of_a_failure_is_whole_on_a_narrow_screen(
    install: Install, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install("Broken", "raise RuntimeError('first word, and so on, to the last word')")
    monkeypatch.setattr(plugins, "standard_output", lambda: Screen(columns=110))
    main(["plugins", "list"])
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines()[:3])) <= 110
    assert "RuntimeError: first word, and so on, to the last word" in " ".join(shown.split())


def test_names_alone(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install("Room", FILTER)
    install("Lucky", SCORER)
    assert main(["plugins", "list", "-o", "name"]) == 0
    assert capsys.readouterr().out == "Lucky\nRoom\n"


@pytest.mark.parametrize("text", ["plugins: [", "plugin: {}", None])
def test_a_configuration_that_cannot_be_read_hides_no_plugin(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None
) -> None:
    install("Room", FILTER)
    config = str(tmp_path / "missing.yaml") if text is None else written(tmp_path, text)
    assert main(["plugins", "list", "--config", config]) == 2
    shown = capsys.readouterr()
    assert shown.out.splitlines()[1].split()[:4] == ["Room", "acme-room", "1.0", "unknown"]
    assert shown.err.startswith(f"error: {config}")
    assert shown.err.count("\n") == 1


def test_a_configuration_with_an_unknown_plugin_is_told_beside_the_list(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install("Room", FILTER)
    config = written(tmp_path, "plugins: {enabled: [Rooom]}\n")
    assert main(["plugins", "list", "--config", config]) == 1
    shown = capsys.readouterr()
    assert "Room" in shown.out
    assert shown.err.startswith(f"the scheduler would not start: {config}:1: ")
