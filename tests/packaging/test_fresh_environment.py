"""The wheels where somebody else installs them: no checkout, no tools of ours, no home to write to."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.packaging.fresh import HOST, ROOT, SOURCES, FreshEnvironment, built
from tests.packaging.test_installed_wheels import SUPPLIED


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    for name, source in SOURCES.items():
        shutil.move(built(source, "wheel", folder / name), folder)
    return folder


@pytest.fixture(scope="module")
def host_alone(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> FreshEnvironment:
    made = FreshEnvironment(tmp_path_factory.mktemp("host"))
    made.install(wheels, HOST)
    return made


@pytest.fixture(scope="module")
def complete(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> FreshEnvironment:
    made = FreshEnvironment(tmp_path_factory.mktemp("complete"))
    made.install(wheels, *SOURCES)
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the user works: a folder with a plan's input and a configuration."""
    shutil.copy(ROOT / "docs" / "examples" / "first-plan.yaml", tmp_path)
    (tmp_path / "c.yaml").write_text("plugins: {enabled: [{name: LeastLoaded, weight: 2}]}\n")
    return tmp_path


COMMANDS = {
    "kruntimes version": 0,
    "kruntimes --help": 0,
    "kubectl-kruntimes version": 0,
    "python -m kruntimes_core.cli version": 0,
    "kruntimes plugins list": 0,
    "kruntimes plugins list -o json": 0,
    "kruntimes config schema": 0,
    "kruntimes config show": 0,
    "kruntimes config show --config c.yaml": 0,
    "kruntimes config show --config c.yaml -o yaml": 0,
    "kruntimes config validate c.yaml": 0,
    "kruntimes plan -f first-plan.yaml": 1,
    "kruntimes plan -f first-plan.yaml --explain -o json": 1,
    "kruntimes plan -f first-plan.yaml --config c.yaml -o yaml": 1,
    "kruntimes dev --runs 2 --duration 50ms --exit-when-done --kubeconfig-out k": 0,
}


@pytest.mark.parametrize(("line", "code"), COMMANDS.items())
def test_every_command_works(complete: FreshEnvironment, folder: Path, line: str, code: int) -> None:
    shown = complete.run(line, folder)
    assert shown.returncode == code, shown.stderr
    assert shown.stdout
    assert "Traceback" not in shown.stderr


@pytest.mark.parametrize("line", COMMANDS)
def test_a_reader_of_one_line_gets_one_line(complete: FreshEnvironment, folder: Path, line: str) -> None:
    shown = complete.run(f"{line} | head -1", folder)
    assert shown.returncode in (COMMANDS[line], 141)
    assert not has_traceback(shown.stderr)
    assert shown.stdout.count("\n") == 1


@pytest.mark.parametrize("pipe", ["| head -1", "2>&1 | head -1", "2>&- | true"])
@pytest.mark.parametrize("form", ["table", "json --explain", "yaml", "name"])
def test_neither_does_who_leaves_a_large_answer_half_read(
    complete: FreshEnvironment, folder: Path, form: str, pipe: str
) -> None:
    """Larger than what a pipe takes by itself."""
    (folder / "large.json").write_text(
        json.dumps({"kind": "List", "apiVersion": "v1", "items": [run(n) for n in range(4_000)]})
    )
    shown = complete.run(f"kruntimes plan -f large.json -o {form} {pipe}", folder)
    assert shown.returncode == 141
    assert not has_traceback(shown.stdout + shown.stderr)
    assert shown.stdout.count("\n") == ("head" in pipe)


def run(number: int) -> dict[str, Any]:
    metadata = {"name": f"r{number}", "namespace": "a", "creationTimestamp": "2026-01-02T03:04:05Z"}
    spec = {"runtime": "py", "mode": {"task": {"entrypoint": "main.py"}}}
    return {"apiVersion": "kruntimes.io/v1alpha1", "kind": "Run", "metadata": metadata, "spec": spec}


def has_traceback(text: str) -> bool:
    return re.search("Traceback|Error|Exception", text) is not None


@pytest.mark.parametrize("line", ["config schema", "config show", "plugins list", "plan -f first-plan.yaml"])
def test_it_works_without_docstrings_and_assertions(
    complete: FreshEnvironment, folder: Path, line: str
) -> None:
    shown = complete.run(f"python -OO -m kruntimes_core.cli {line}", folder)
    assert shown.returncode == COMMANDS[f"kruntimes {line}"], shown.stderr
    assert shown.stdout


def test_what_runs_lies_in_the_environment_and_brings_its_plugins(
    complete: FreshEnvironment, folder: Path
) -> None:
    shown = complete.run("python -c 'import kruntimes_core; print(kruntimes_core.__file__)'", folder)
    assert Path(shown.stdout.strip()) == complete.site / "kruntimes_core" / "__init__.py"
    listed = json.loads(complete.run("kruntimes plugins list -o json", folder).stdout)["plugins"]
    assert [one["name"] for one in listed if one["state"] == "active"] == list(SUPPLIED)


def test_the_host_alone_answers_and_says_what_to_install(host_alone: FreshEnvironment, folder: Path) -> None:
    for line in ("kruntimes version", "kruntimes config schema", "kruntimes plan --help"):
        assert host_alone.run(line, folder).returncode == 0
    for line in ("kruntimes plugins list", "kruntimes config show", "kruntimes plan -f first-plan.yaml"):
        shown = host_alone.run(line, folder)
        assert shown.returncode != 0
        assert "kruntimes-runtime-pod-availability" in shown.stderr
        assert shown.stderr.count("\n") == 1


def test_a_home_that_cannot_be_written_to_is_named_where_one_is_needed(
    complete: FreshEnvironment, folder: Path
) -> None:
    shown = complete.run("kruntimes dev --runs 1 --exit-when-done", folder)
    assert shown.returncode == 2
    assert re.fullmatch(
        r"error: cannot write the kubeconfig /proc/\S+: .*: choose another --kubeconfig-out\n", shown.stderr
    )


def test_no_tool_of_the_tests_is_there(complete: FreshEnvironment) -> None:
    names = set(_names(complete.site))
    assert {"kruntimes_core", "pluggy", "click", "kubernetes"} <= names
    assert names.isdisjoint({"pytest", "_pytest", "hypothesis", "hatchling", "mypy"})


def _names(site: Path) -> Iterator[str]:
    for path in site.iterdir():
        yield path.name.partition(".")[0]
