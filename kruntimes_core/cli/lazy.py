"""Subcommands that are imported when they are asked for: a command pays for no other one."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """A group whose commands are named as `module:attribute`."""

    def __init__(
        self, *arguments: Any, lazy: Mapping[str, str], works_alone: bool = False, **options: Any
    ) -> None:
        """lazy: the name of each command and where it lives; the rest is click's.

        works_alone: the group is a command too, for when none of its commands is asked for.
        """
        super().__init__(*arguments, **options | {"invoke_without_command": True})
        self._lazy = lazy
        self.works_alone = works_alone

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was asked for; without one, show what there is, as kubectl does."""
        outcome = super().invoke(ctx)
        if ctx.invoked_subcommand is None and not self.works_alone:
            click.echo(ctx.get_help())
        return outcome

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, as they are declared."""
        return list(self._lazy)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that was asked for. Raises: `click.UsageError` with the name that was meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as error:
            # Only here: its package brings the plugins' machinery, which no help needs.
            from kruntimes_core.model.messages import did_you_mean

            name = error.command_name
            raise click.UsageError(
                f"no such command {name!r}{did_you_mean(name, self._lazy)}", ctx
            ) from error

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command; None for a name that nobody declared."""
        if cmd_name not in self._lazy:
            return None
        module, _, attribute = self._lazy[cmd_name].partition(":")
        command = getattr(import_module(module), attribute)
        if not isinstance(command, click.Command):
            raise TypeError(f"{self._lazy[cmd_name]} is no click command")
        return command
