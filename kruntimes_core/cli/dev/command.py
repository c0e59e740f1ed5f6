"""The options of `kruntimes dev`. What it does is imported when it is called."""

from __future__ import annotations

import click

from kruntimes_core.cli.dev.options import DevOptions
from kruntimes_core.cli.dev.values import DEFAULT_CAPACITY, CapacityType, DurationType, RuntimeName
from kruntimes_core.cli.exits import Exit
from kruntimes_core.cli.options import CONFIG, Count, FiniteRange
from kruntimes_core.cli.output.forms import TABLE_OR_DOCUMENT, form_option


def _no_repetition(ctx: click.Context, param: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if names.count(name) > 1:
            raise click.BadParameter(f"{name} is given twice: name each Runtime once")
    return names


@click.command()
@click.option(
    "--demo",
    is_flag=True,
    help="Feed Runs that show affinity, spreading, workspaces, functions and waiting.",
)
@click.option("--runs", type=Count(1), metavar="N", help="Feed N Runs: of the demo, or plain ones.")
@click.option(
    "--exit-when-done", is_flag=True, help="End when the Runs of --runs, and all others, have ended."
)
@click.option(
    "--runtime",
    "runtimes",
    type=RuntimeName(),
    multiple=True,
    callback=_no_repetition,
    help="A Runtime to begin with; may be given many times. Default: py; with --demo py, node and sql.",
)
@click.option(
    "--pods",
    type=Count(0, 1_000),
    metavar="N",
    default=3,
    show_default=True,
    help="Pods of each Runtime.",
)
@click.option(
    "--capacity",
    type=CapacityType(),
    default=DEFAULT_CAPACITY,
    metavar="CAPACITY",
    help="What each Pod offers. Default: runs=4,cpu=8.",
)
@click.option(
    "--duration",
    type=DurationType(),
    help="How long a Run takes: 2s, or a range as 1s-5s. Default: 2s; with --demo 3s-8s.",
)
@click.option(
    "--failure-rate",
    type=FiniteRange(0, 1),
    metavar="RATE",
    help="The share of attempts that fail, 0 to 1. Default: 0; with --demo 0.05, and Runs are tried again.",
)
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    metavar="N",
    help="Chooses durations, failures and the demo.",
)
@click.option(
    "--port",
    type=Count(0, 65535),
    default=0,
    metavar="PORT",
    help="Where to serve the API, on 127.0.0.1. Default: any port that is free.",
)
@click.option(
    "--kubeconfig-out",
    metavar="FILE",
    help="Where to write the kubeconfig. Default: a file in $XDG_RUNTIME_DIR, else in the cache folder.",
)
@CONFIG
@click.option("--no-table", is_flag=True, help="Print a line now and then, on a terminal too.")
@form_option(TABLE_OR_DOCUMENT, "json: nothing but one document at the end, on standard output.")
def dev(*, no_table: bool, **options: object) -> Exit:
    """Run the scheduler on a cluster of its own, in one process, with simulated Runtime Pods.

    It serves the Kubernetes API on loopback, so that kubectl works on it, and stops with Ctrl-C.

    Exit codes: 0 stopped, or every Run ended well, 1 --exit-when-done and a Run did not, 2 it cannot start.
    """
    asked = DevOptions(show_table=not no_table, **options)  # type: ignore[arg-type]
    if asked.exit_when_done and asked.runs is None:
        raise click.UsageError("--exit-when-done needs an end: add --runs N")
    from kruntimes_core.cli.dev.serve import serve

    return serve(asked)
