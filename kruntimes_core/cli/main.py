"""The entry of the command: whatever happens inside, the user gets one line and an exit code."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import click

from kruntimes_core.cli.app import app
from kruntimes_core.cli.debugging import DEBUG
from kruntimes_core.cli.exits import Exit
from kruntimes_core.cli.output.readers import for_want_of_a_reader
from kruntimes_core.cli.output.text import printable
from kruntimes_core.model.messages import InputError

PROGRAM = "kruntimes"
# How kubectl finds the command, and how its users call it.
_KUBECTL_PLUGIN, _BY_KUBECTL = "kubectl-kruntimes", "kubectl kruntimes"
_COMPLETION = "_KRUNTIMES_COMPLETE"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with `arguments` (the process' own when None) and give its exit code."""
    try:
        _prepare_streams()
        code = _invoke(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except (KeyboardInterrupt, click.Abort):
        return Exit.INTERRUPTED
    except OSError as error:
        lost = for_want_of_a_reader(error, (sys.stdout, sys.stderr))
        return Exit.PIPE_CLOSED if lost else _report(error)
    except Exception as error:  # noqa: BLE001 - the one place where a defect becomes a line
        return _report(error)
    finally:
        _drop_output()
    return code


def _invoke(arguments: list[str]) -> int:
    if _COMPLETION in os.environ:
        app.main(arguments, prog_name=PROGRAM, complete_var=_COMPLETION)
    try:
        with app.make_context(_invoked_as(), arguments) as context:
            return app.invoke(context) or Exit.DONE
    except click.exceptions.Exit as end:
        return end.exit_code


def _invoked_as() -> str:
    """What the user types to get here, for help and errors."""
    return _BY_KUBECTL if Path(sys.argv[0]).stem == _KUBECTL_PLUGIN else PROGRAM


def _prepare_streams() -> None:
    """Stand in for streams that the caller closed, and let names that an encoding lacks come out escaped."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - open to the end
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _report(error: Exception) -> int:
    # Where nobody can read the line, the code alone says it.
    with contextlib.suppress(OSError):
        if os.environ.get(DEBUG):
            traceback.print_exception(error)
        click.echo(f"error: {printable(_line(error))}", err=True)
    return Exit.BAD_INPUT


def _line(error: Exception) -> str:
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx else _invoked_as()
        return f"{_lowered(error.format_message())} (see {path} --help)"
    if isinstance(error, click.ClickException):
        return _lowered(error.format_message())
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, OSError):
        return _of_the_system(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory: give less at once, or allow more"
    return f"unexpected {type(error).__name__}: {error} (set {DEBUG}=1 to see where)"


def _of_the_system(error: OSError) -> str:
    """For what nobody below knew better: a file if there is one, else a stream of the command."""
    doing = "read input or write output" if error.filename is None else f"use {error.filename}"
    return f"cannot {doing}: {_lowered(error.strerror or str(error))}"


def _lowered(message: str) -> str:
    line = " ".join(message.split()).removesuffix(".")
    return line[:1].lower() + line[1:]


def _drop_output() -> None:
    """Write what is in the buffers, or drop it where nobody reads: the interpreter's last flush is silent."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
