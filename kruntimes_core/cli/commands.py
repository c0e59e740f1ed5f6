"""The parts that commands share: exit codes, groups that import late, time limits for plugins, signals."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable, Iterator, Mapping
from enum import IntEnum
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kruntimes_core.model.messages import InputError, did_you_mean

if TYPE_CHECKING:
    from kruntimes_core.cluster.plugin_thread import AttendedCalls
    from kruntimes_core.framework.profile import CurrentCall

T = TypeVar("T")

DEBUG = "KRUNTIMES_DEBUG"
"""The variable with which errors have a traceback, and calls of plugins no time limit. Any value sets it."""


class Exit(IntEnum):
    """The exit codes of all commands. A script can distinguish a negative result from bad input."""

    DONE = 0
    ANSWER_IS_NO = 1
    """A Run does not fit, or a check fails."""
    BAD_INPUT = 2
    """An option, a file, a configuration or a plugin cannot be used."""
    INTERRUPTED = 130
    """Ctrl-C. As in shells, 128 + SIGINT."""
    PIPE_CLOSED = 141
    """The reader of the output closed the pipe. As in shells, 128 + SIGPIPE."""


class LazyGroup(click.Group):
    """A group that imports a command only when it is called, so that each command starts fast."""

    def __init__(
        self,
        *arguments: Any,
        lazy: Mapping[str, str] | None = None,
        works_alone: bool = False,
        **options: Any,
    ) -> None:
        """lazy: the commands by name, each as `module:attribute`. All other arguments are for click.

        works_alone: whether the group itself does something if no command is given.
        """
        super().__init__(*arguments, **options | {"invoke_without_command": True})
        self._lazy = lazy or {}
        self.works_alone = works_alone

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; without one, show the help, as kubectl does."""
        outcome = super().invoke(ctx)
        if ctx.invoked_subcommand is None and not self.works_alone:
            click.echo(ctx.get_help())
        return outcome

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands."""
        return sorted({*self._lazy, *self.commands})

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command. Raises: `click.UsageError`, with a similar name, if there is no such command."""
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as error:
            similar = did_you_mean(error.command_name, self.list_commands(ctx))
            raise click.UsageError(f"no such command {error.command_name!r}{similar}", ctx) from error

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command; None for an unknown name."""
        if cmd_name not in self._lazy:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = self._lazy[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command


class UnlimitedCalls:
    """Like `AttendedCalls`, but on the thread of the command, so that a debugger can stop in a plugin."""

    def call(self, action: Callable[[], T]) -> T:
        """Do something, and return what it returns."""
        return action()

    def values(self, values: Iterator[T]) -> Iterator[T]:
        """The same values."""
        return values


def with_time_limit(current: CurrentCall) -> AttendedCalls | UnlimitedCalls:
    """Calls plugins with the time limit that the scheduler has; with `KRUNTIMES_DEBUG` without a limit.

    current: where each call is noted. The thread of the calls ends with the command.
    """
    if os.environ.get(DEBUG):
        return UnlimitedCalls()
    # Imported here, because `--help` does not need it.
    from kruntimes_core.cluster.plugin_thread import AttendedCalls

    calls = AttendedCalls(current)
    click.get_current_context().call_on_close(calls.close)
    return calls


def stop_on_signals(stop: Callable[[signal.Signals], None], *numbers: signal.Signals) -> None:
    """Call `stop` at the first of these signals; the second one ends the process at once."""
    import asyncio

    received: list[signal.Signals] = []

    def on_signal(number: signal.Signals) -> None:
        if received:
            os._exit(128 + number)
        received.append(number)
        stop(number)

    loop = asyncio.get_running_loop()
    for number in numbers:
        loop.add_signal_handler(number, on_signal, number)


def require_descriptors(needed: int) -> None:
    """Raise the limit of open files if it is too low. Raises `InputError` if that is not allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
    except (ValueError, OSError) as error:
        raise InputError(
            f"this process may have {hard} files and connections open, and the scheduler needs {needed}:"
            " raise the limit (ulimit -n, LimitNOFILE)"
        ) from error
