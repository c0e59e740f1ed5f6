"""The entry point of the command, and its subcommands. Every error becomes one line and an exit code."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import click

from kruntimes_core import __version__
from kruntimes_core.cli.commands import DEBUG, Exit, LazyGroup
from kruntimes_core.cli.output.screen import lost_its_reader
from kruntimes_core.cli.output.text import printable
from kruntimes_core.model.messages import InputError

PROGRAM = "kruntimes"
# The name by which kubectl finds the command, and the words with which its users call it.
_KUBECTL_PLUGIN, _BY_KUBECTL = "kubectl-kruntimes", "kubectl kruntimes"
_COMPLETION = "_KRUNTIMES_COMPLETE"
_SHARED_METRICS = ("PROMETHEUS_MULTIPROC_DIR", "prometheus_multiproc_dir")
_TLS_KEYS = "SSLKEYLOGFILE"


@click.group(
    cls=LazyGroup,
    lazy={
        "bench": "kruntimes_core.cli.bench.command:bench",
        "config": "kruntimes_core.cli.config:config",
        "dev": "kruntimes_core.cli.dev:dev",
        "plan": "kruntimes_core.cli.plan:plan",
        "plugins": "kruntimes_core.cli.plugins:plugins",
        "scheduler": "kruntimes_core.cli.scheduler.command:scheduler",
    },
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name=PROGRAM, message="%(prog)s %(version)s")
def app() -> None:
    """Place Runs on warm Runtime Pods, by rules that are installed as plugins.

    Exit codes: 0 success, 1 a negative result (a Run does not fit, a check fails), 2 bad input.
    """


@app.command()
def version() -> Exit:
    """Show the versions of kruntimes and of its Python."""
    click.echo(f"{PROGRAM} {__version__} (Python {sys.version.split()[0]})")
    return Exit.DONE


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with `arguments` (those of the process when None). Returns its exit code."""
    try:
        _prepare_streams()
        _prepare_environment()
        code = _invoke(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except (KeyboardInterrupt, click.Abort):
        return Exit.INTERRUPTED
    except OSError as error:
        return Exit.PIPE_CLOSED if lost_its_reader(error, (sys.stdout, sys.stderr)) else _report(error)
    except Exception as error:  # noqa: BLE001 - the one place where a defect becomes a line
        return _report(error)
    finally:
        _flush_output()
    return code


def _invoke(arguments: list[str]) -> int:
    instruction = os.environ.get(_COMPLETION, "")
    if instruction.endswith("_source") or (instruction and "COMP_WORDS" in os.environ):
        app.main(arguments, prog_name=PROGRAM, complete_var=_COMPLETION)
    try:
        with app.make_context(_invoked_as(), arguments) as context:
            return app.invoke(context) or Exit.DONE
    except click.exceptions.Exit as end:
        return end.exit_code


def _invoked_as() -> str:
    """The command as the user typed it, for help and errors."""
    return _BY_KUBECTL if Path(sys.argv[0]).stem == _KUBECTL_PLUGIN else PROGRAM


def _prepare_streams() -> None:
    """Replace streams that the caller closed, and escape characters that its encoding does not have."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - open to the end
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _prepare_environment() -> None:
    """Remove variables with which the metrics library would write metrics to files shared by processes."""
    for name in _SHARED_METRICS:
        os.environ.pop(name, None)


def _report(error: Exception) -> int:
    # If standard error has no reader, the exit code has to be enough.
    with contextlib.suppress(OSError):
        if os.environ.get(DEBUG):
            traceback.print_exception(error)
        click.echo(f"error: {printable(_line(error))}", err=True)
    return Exit.BAD_INPUT


def _line(error: Exception) -> str:
    match error:
        case click.UsageError():
            path = error.ctx.command_path if error.ctx else _invoked_as()
            return f"{_lowered(error.format_message())} (see {path} --help)"
        case click.ClickException():
            return _lowered(error.format_message())
        case InputError():
            return str(error)
        case OSError() if error.filename is not None and error.filename == os.environ.get(_TLS_KEYS):
            why = _lowered(error.strerror or str(error))
            return f"TLS keys cannot be written to {error.filename}: {why}: correct {_TLS_KEYS}, or unset it"
        case OSError():
            doing = "read input or write output" if error.filename is None else f"use {error.filename}"
            return f"cannot {doing}: {_lowered(error.strerror or str(error))}"
        case MemoryError():
            return "there is not enough memory: give less input, or allow more memory"
    return f"unexpected {type(error).__name__}: {error} (set {DEBUG}=1 to see where)"


def _lowered(message: str) -> str:
    line = " ".join(message.split()).removesuffix(".")
    return line[:1].lower() + line[1:]


def _flush_output() -> None:
    """Flush the streams, and discard what has no reader: else Python's own flush at the end would fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
