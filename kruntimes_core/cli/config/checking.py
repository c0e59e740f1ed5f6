"""`kruntimes config validate` and `schema`: what a configuration may say, and whether this one does."""

from __future__ import annotations

import sys

import click

from kruntimes_core.cli.exits import Exit
from kruntimes_core.cli.output.documents import write_json
from kruntimes_core.cli.output.text import printable
from kruntimes_core.framework.configuration import (
    Configuration,
    build_profiles,
    configuration_from,
    configuration_schema,
    load_configuration,
)
from kruntimes_core.framework.plugin_registry import PluginRegistry
from kruntimes_core.model.messages import counted
from kruntimes_core.model.yaml_files import SETTINGS_BYTES, read_stream

_STANDARD_INPUT = "-"
_ITS_NAME = "standard input"


def check(file: str) -> Exit:
    """Say that the configuration is valid. Raises: `InputError` as the scheduler's start would."""
    from_pipe = file == _STANDARD_INPUT
    name = _ITS_NAME if from_pipe else file
    configuration = _from_standard_input() if from_pipe else configuration_from(file)
    profiles = build_profiles(configuration, PluginRegistry())
    named = ", ".join(f"{one.name} ({counted(len(one.plugins), 'plugin')})" for one in profiles.all)
    empty = "; it sets nothing: all defaults hold" if configuration.sets_nothing else ""
    click.echo(printable(f"{name} is valid: {named}{empty}"))
    return Exit.DONE


def _from_standard_input() -> Configuration:
    return load_configuration(read_stream(sys.stdin.buffer, _ITS_NAME, SETTINGS_BYTES), _ITS_NAME)


def print_schema() -> Exit:
    """Print the schema; says on standard error which plugins' arguments it leaves unchecked."""
    schema = configuration_schema(PluginRegistry())
    write_json(schema.document)
    for problem in schema.problems:
        click.echo(printable(problem), err=True)
    return Exit.DONE
