"""What operators look up is what the code says: configuration, command, plan document, counters."""

import json
import re
from collections.abc import Iterator
from typing import Any

import click
import pytest
from annotated_types import Ge, Le

from kruntimes_core.cli.commands import Exit
from kruntimes_core.cli.main import app
from kruntimes_core.cli.options import FORMS
from kruntimes_core.engine.counters import ConflictStage, Counters, SyncResult, WakeupSource
from kruntimes_core.engine.decisions import Outcome
from kruntimes_core.framework.configuration import ActivationState, models
from kruntimes_core.framework.configuration.models import Section
from tests.docs.pages import ROOT, all_pages, first_column, page, rows
from tests.docs.shell import installed

CONFIGURATION = page("docs/reference/configuration.md")
COMMAND = page("docs/reference/cli.md")
DOCUMENT = page("docs/reference/plan-document.md")
METRICS = page("docs/reference/metrics.md")

SECTIONS = [kind for kind in vars(models).values() if isinstance(kind, type) and issubclass(kind, Section)]
SECTIONS.remove(Section)


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_of_the_configuration_has_these_fields(section: type[Section]) -> None:
    assert first_column(CONFIGURATION.section(section.__name__)) == [
        field.alias for field in section.model_fields.values()
    ]


@pytest.mark.parametrize("section", SECTIONS)
def test_defaults_and_bounds_are_those_of_the_fields(section: type[Section]) -> None:
    said = {row[0]: (row[1], row[2]) for row in rows(CONFIGURATION.section(section.__name__))}
    for field in section.model_fields.values():
        default, bounds = said[str(field.alias)]
        if field.is_required():
            assert default == "required"
        elif isinstance(field.default, bool):
            assert default == str(field.default).lower()
        elif isinstance(field.default, int | float):
            assert default == f"{field.default:g}"
        elif isinstance(field.default, str):
            assert default == field.default
        else:
            assert default == ("all defaults" if field.default else "none")
        lowest = [limit.ge for limit in field.metadata if isinstance(limit, Ge)]
        highest = [limit.le for limit in field.metadata if isinstance(limit, Le)]
        if lowest:
            assert bounds == f"{lowest[0]:g} to {highest[0]:g}"


def test_the_example_of_the_configuration_names_every_field_of_the_file() -> None:
    (block,) = [block for block in CONFIGURATION.blocks if block.language == "yaml"]
    assert re.findall(r"^(\w+):", block.text, re.MULTILINE) == [
        field.alias for field in models.Configuration.model_fields.values()
    ]


def leaves(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    """Every command that does something by itself, with the words that call it."""
    if not isinstance(command, click.Group):
        yield path, command
        return
    if getattr(command, "works_alone", False):
        yield path, command
    for name in command.list_commands(click.Context(command)):
        below = command.get_command(click.Context(command), name)
        assert below is not None
        yield from leaves(below, f"{path} {name}")


COMMANDS = {"kruntimes": app, **dict(leaves(app, "kruntimes"))}
# A command has a page, or a section of the page of its group.
DESCRIBED = {
    title: described.section(title)
    for described in (COMMAND, *(one for one in all_pages() if one.name.startswith("docs/reference/cli/")))
    for title in re.findall(r"^##? (kruntimes.*)$", described.text, re.MULTILINE)
}


def test_every_command_is_described() -> None:
    assert sorted(DESCRIBED) == sorted(COMMANDS)


@pytest.mark.parametrize("path", COMMANDS)
def test_a_command_has_these_options(path: str) -> None:
    said = re.findall(r"(?<!\S)--?[\w-]+", " ".join(c for c in first_column(DESCRIBED[path]) if c[0] == "-"))
    options = [one for one in COMMANDS[path].params if isinstance(one, click.Option)]
    taken = [option for parameter in options for option in parameter.opts]
    assert sorted(option.strip(",") for option in said) == sorted(
        taken + ["-h", "--help"] * (path == "kruntimes")
    )


@pytest.mark.parametrize("path", ["kruntimes plan", "kruntimes plugins list"])
def test_the_forms_of_output_are_named(path: str) -> None:
    assert all(f"`{form}`" in DESCRIBED[path] for form in FORMS)


def test_exit_codes_are_those_of_the_command() -> None:
    assert first_column(COMMAND.section("Exit codes")) == [str(code.value) for code in Exit]


def test_states_of_plugins_are_those_that_are_shown() -> None:
    listed = [cell for cell in first_column(DESCRIBED["kruntimes plugins list"]) if cell[0] != "-"]
    assert listed == [state.value for state in ActivationState]


def test_outcomes_are_those_of_the_record() -> None:
    asked = page("docs/how-to/why-a-run-waits.md").section("Look up an outcome")
    assert first_column(asked) == [outcome.value for outcome in Outcome]
    assert ", ".join(f"`{outcome.value}`" for outcome in Outcome) in DOCUMENT.section("decision")


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    shell = installed(tmp_path_factory.mktemp("reader"))
    (text,) = shell.run(["kruntimes plan -f docs/examples/first-plan.yaml --explain -o json"])
    return json.loads(text)


def keys(title: str) -> list[str]:
    return [key for cell in first_column(DOCUMENT.section(title)) for key in cell.split(", ")]


def test_the_plan_document_has_these_keys(printed: Any) -> None:
    decision = printed["decisions"][0]
    candidate = decision["candidates"][0]
    assert keys("document") == list(printed)
    assert keys("plugin") == list(printed["plugins"][0])
    assert keys("decision") == list(decision)
    assert keys("candidate") == list(candidate)
    assert keys("score") == list(next(iter(candidate["scores"].values())))


def test_the_reasons_of_the_host_stand_in_its_code() -> None:
    source = "\n".join(path.read_text() for path in (ROOT / "kruntimes_core").rglob("*.py"))
    for reason, outcome, _ in rows(DOCUMENT.section("Reasons of the host")):
        assert f'"{reason}"' in source
        assert outcome in set(Outcome)


def test_counters_are_those_of_the_tally() -> None:
    assert first_column(METRICS.text.partition("\n## ")[0]) == list(vars(Counters()))


@pytest.mark.parametrize("labels", [SyncResult, ConflictStage, WakeupSource])
def test_labels_are_closed_sets(labels: type[SyncResult | ConflictStage | WakeupSource]) -> None:
    metric, label = re.findall(r"`(\w+)\{(\w+)\}`", labels.__doc__ or "")[0]
    assert first_column(METRICS.section(label)) == [value.value for value in labels]
    assert f"| `{metric}` | `{label}` |" in METRICS.text
