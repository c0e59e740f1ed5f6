"""`kruntimes bench`: its options. What it does is imported when it is called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
from click.core import ParameterSource

from kruntimes_core.cli.commands import Exit, LazyGroup
from kruntimes_core.cli.options import (
    TABLE_OR_DOCUMENT,
    Count,
    DurationType,
    FiniteRange,
    number_option,
    output_option,
)

ONLY_IN: Mapping[str, tuple[str, ...]] = {"runs": ("drain", "burst"), "rate": ("open",), "seconds": ("open",)}
"""Options that mean something in some modes only."""
_COUNT = Count(0)
_AT_LEAST_ONE = Count(1)
_SECONDS = FiniteRange(min=0, min_open=True)
# Each window is a line, and a second of a bench would be a thousand million lines of a nanosecond.
_WINDOW = FiniteRange(min=0.1)
_PROCESS = Count(1, 2**31 - 1)


class StayType(DurationType):
    """How long a Run is on its Pod: as a duration, or 0 for good."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The range, None for good; or a usage error."""
        return None if value in ("0", "0s") else super().convert(value, param, ctx)


@click.group(
    cls=LazyGroup, works_alone=True, lazy={"engine": "kruntimes_core.cli.bench.engine_command:engine"}
)
@click.option(
    "--mode",
    type=click.Choice(["drain", "burst", "open"]),
    default="drain",
    show_default=True,
    help="drain: the Runs wait when the scheduler starts. burst: they come at once. open: they arrive at"
    " random moments of a rate (Poisson), placed or not.",
)
@number_option("--runs", kind=Count(1, None), about="drain, burst: how many. Default: 1000.")
@number_option("--rate", kind=_SECONDS, about="open: Runs a second. Default: 40.")
@number_option("--seconds", kind=_SECONDS, about="open: for how long. Default: 30.")
@number_option("--pods", kind=_AT_LEAST_ONE, default=20, about="Runtime Pods in all.")
@number_option("--slots", kind=_AT_LEAST_ONE, about="Runs that a Pod takes. Default: enough for the load.")
@click.option(
    "--duration",
    type=StayType(),
    help="How long a Run occupies its slot: 500ms, or a range as 1s-5s; 0: for good. Default: 0.",
)
@number_option("--hopeless", kind=_COUNT, about="Runs beside the load that fit no Pod, ever.")
@number_option(
    "--waiting-elsewhere",
    kind=_COUNT,
    about="Runs beside the load that wait for another Runtime's Pod, or a resource that is in use.",
)
@number_option("--namespaces", kind=_AT_LEAST_ONE, default=1, about="How many to use.")
@number_option("--runtimes", kind=_AT_LEAST_ONE, default=1, about="How many to use.")
@number_option(
    "--heartbeat",
    "heartbeat_seconds",
    kind=FiniteRange(min=0),
    default=5.0,
    unit="SECONDS",
    about="Renew each Pod's lastProbeTime so often; 0: set it an hour ahead, once.",
)
@number_option(
    "--cohorts",
    kind=_COUNT,
    about="Groups of Runs that must each be on one Pod, by required affinity. Default: 0, none.",
)
@number_option("--seed", kind=click.INT, default=0, about="Chooses random moments.")
@click.option(
    "--scheduler-cmd",
    "command",
    metavar="COMMAND",
    help="Start this scheduler; {kubeconfig}, {namespaces} and {port} are filled in. Default: kruntimes"
    " scheduler, for the bench's namespaces alone.",
)
@click.option("--no-scheduler", is_flag=True, help="Start none: one runs already.")
@number_option(
    "--scheduler-pid", "pid", kind=_PROCESS, unit="PID", about="Start none, and measure this process."
)
@click.option("--config", metavar="FILE", help="The configuration of the scheduler of kruntimes.")
@number_option("--repeat", kind=_AT_LEAST_ONE, default=1, about="Rounds, in turn with the ceiling.")
@number_option(
    "--ceiling-patches",
    kind=_AT_LEAST_ONE,
    default=500,
    about="Bare patches that measure, before and after each round, what the API server takes.",
)
@number_option("--in-flight", kind=Count(1, 128), default=32, about="Bare patches at a time.")
@number_option(
    "--patience",
    "patience_seconds",
    kind=_SECONDS,
    default=60.0,
    unit="SECONDS",
    about="A round in which nothing was placed for so long is over.",
)
@number_option(
    "--window",
    kind=_WINDOW,
    default=10.0,
    unit="SECONDS",
    about="Length of the windows in which rates are given.",
)
@click.option("--kubeconfig", metavar="FILE", help="How to reach the cluster. Default: as the scheduler.")
@click.option("--context", metavar="NAME", help="The context of the kubeconfig. Default: the current one.")
@click.option(
    "--yes-load-this-cluster",
    "anywhere",
    is_flag=True,
    help="Load a server that is not on this machine, too.",
)
@output_option(TABLE_OR_DOCUMENT, "json: nothing but one document on standard output.")
@click.option("--html", metavar="FILE", help="Write a picture of it, too: one file that needs no other.")
@click.pass_context
def bench(ctx: click.Context, /, window: float, form: str, html: str | None, **options: Any) -> Exit | None:
    """Load a scheduler on a real API server, and judge it from outside.

    Any program that binds Runs can be measured. Everything is seen by a watch of the bench, on one clock,
    and rates are given as a share of what the same server takes in bare patches in the same minutes. It
    works in namespaces that it makes, and takes them away again.

    Exit codes: 0 every Run was placed by the rules, 1 one was not, 2 it cannot measure.
    """
    if ctx.invoked_subcommand is not None:
        _refuse_options(ctx)
        return None
    _check(options)
    from kruntimes_core.cli.bench.report import measure_and_show

    return measure_and_show(options, window, form, html)


def _refuse_options(ctx: click.Context) -> None:
    """What stands before the name of another command would be lost."""
    for parameter in ctx.command.params:
        if ctx.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"{parameter.opts[-1]} is not for {ctx.invoked_subcommand}: write its own options behind it"
            )


def _check(options: Mapping[str, Any]) -> None:
    """Raises `click.UsageError` for options that do not go together."""
    for name, modes in ONLY_IN.items():
        if options[name] is not None and options["mode"] not in modes:
            raise click.UsageError(f"--{name} means nothing with --mode {options['mode']}: leave it out")
    given = {
        "--scheduler-cmd": options["command"] is not None,
        "--no-scheduler": options["no_scheduler"],
        "--scheduler-pid": options["pid"] is not None,
    }
    chosen = [option for option, is_given in given.items() if is_given]
    if len(chosen) > 1:
        raise click.UsageError(f"{chosen[0]} and {chosen[1]} exclude each other: choose one")
    if chosen and options["config"] is not None:
        raise click.UsageError(f"--config is for the scheduler of kruntimes, not for {chosen[0]}")
    external = options["command"] is None and bool(chosen)
    if external and options["mode"] == "drain" and options["waiting_elsewhere"]:
        raise click.UsageError(
            f"--waiting-elsewhere needs Pods that are there before the Runs, which --mode drain with"
            f" {chosen[0]} has not: choose another mode"
        )
