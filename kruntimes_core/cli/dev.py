"""The options of `kruntimes dev`, a cluster of its own in one process."""

from __future__ import annotations

import re
from collections.abc import Mapping

import click

from kruntimes_core.cli.commands import Exit
from kruntimes_core.cli.options import (
    CONFIG,
    TABLE_OR_DOCUMENT,
    Count,
    DurationType,
    FiniteRange,
    NameType,
    number_option,
    output_option,
)

# Short enough for the names of its Pods.
_RUNTIME = NameType(50, "name: use at most 50 of a-z, 0-9 and -, with no - at either end")
_RESOURCE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_LONGEST_RESOURCE = 63 - len("capacity.")


class CapacityType(click.ParamType[Mapping[str, str]]):
    """`runs=4,cpu=8`: resources and Kubernetes quantities."""

    name = "capacity"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Mapping[str, str]:
        """The quantities by resource; or a usage error."""
        # Only here: help needs no quantities.
        from kruntimes_core.model.quantity import capacity_amount

        if isinstance(value, Mapping):
            return value
        capacity: dict[str, str] = {}
        for part in str(value).split(","):
            resource, _, amount = (side.strip() for side in part.partition("="))
            if not _RESOURCE.fullmatch(resource) or len(resource) > _LONGEST_RESOURCE:
                self.fail(f"{part!r} does not name a resource: write it as runs=4,cpu=8", param, ctx)
            if resource in capacity:
                self.fail(f"{resource} is given twice: keep one", param, ctx)
            if capacity_amount(amount) is None:
                self.fail(
                    f"{amount!r} is not a valid amount of {resource}: write a positive quantity", param, ctx
                )
            capacity[resource] = amount
        return capacity


def _no_repetition(ctx: click.Context, param: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if names.count(name) > 1:
            raise click.BadParameter(f"{name} is given twice: name each Runtime once")
    return names


@click.command()
@click.option(
    "--demo",
    is_flag=True,
    help="Create Runs that show affinity, spreading, workspaces, functions and waiting.",
)
@number_option(
    "--runs",
    kind=Count(1),
    about="Create N Runs: with --demo those of the demo, otherwise without constraints.",
)
@click.option("--exit-when-done", is_flag=True, help="End when all Runs have ended. Needs --runs.")
@click.option(
    "--runtime",
    "runtimes",
    type=_RUNTIME,
    multiple=True,
    callback=_no_repetition,
    help="Create this Runtime. May be given many times. Default: py; with --demo py, node and sql.",
)
@number_option("--pods", kind=Count(0, 1_000), default=3, about="Pods of each Runtime.")
@click.option(
    "--capacity",
    type=CapacityType(),
    default="runs=4,cpu=8",
    show_default=True,
    metavar="CAPACITY",
    help="What each Pod offers.",
)
@click.option(
    "--duration",
    type=DurationType(),
    help="How long a Run takes: 2s, or a range such as 1s-5s. Default: 2s; with --demo 3s-8s.",
)
@number_option(
    "--failure-rate",
    kind=FiniteRange(0, 1),
    unit="RATE",
    about="The share of attempts that fail, 0 to 1. Default: 0; with --demo 0.05, and Runs are retried.",
)
@number_option(
    "--seed", kind=click.INT, default=0, about="Determines durations, failures and the demo's Runs."
)
@number_option(
    "--port",
    kind=Count(0, 65535),
    unit="PORT",
    about="The port of the API, on 127.0.0.1. Default: any free port.",
)
@click.option(
    "--kubeconfig-out",
    metavar="FILE",
    help="Where to write the kubeconfig. Default: a file in $XDG_RUNTIME_DIR, else in the cache folder.",
)
@CONFIG
@click.option("--no-table", is_flag=True, help="Print a line from time to time, on a terminal too.")
@output_option(TABLE_OR_DOCUMENT, "json: only one document, at the end, on standard output.")
def dev(**options: object) -> Exit:
    """Run the scheduler on a simulated cluster, in one process.

    The command serves the Kubernetes API for kubectl on 127.0.0.1. Ctrl-C ends it.

    Exit codes: 0 it was stopped, or every Run succeeded, 1 with --exit-when-done a Run did not succeed, 2 it
    cannot start.
    """
    if options["exit_when_done"] and options["runs"] is None:
        raise click.UsageError("--exit-when-done needs an end: add --runs N")
    # Only here: help needs no cluster.
    from kruntimes_core.cli.dev_session import DevOptions, serve

    return serve(DevOptions(**options))  # type: ignore[arg-type]
