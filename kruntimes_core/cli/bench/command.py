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
    help="drain: the Runs wait when the scheduler starts. burst: all are created at once. open: they arrive"
    " at random moments (Poisson), whether or not earlier Runs have been placed.",
)
@number_option("--runs", kind=Count(1, None), about="drain, burst: how many Runs. Default: 1000.")
@number_option("--rate", kind=_SECONDS, about="open: Runs a second. Default: 40.")
@number_option("--seconds", kind=_SECONDS, about="open: for how long Runs arrive. Default: 30.")
@number_option("--pods", kind=_AT_LEAST_ONE, default=20, about="Runtime Pods in all.")
@number_option("--slots", kind=_AT_LEAST_ONE, about="Runs that a Pod takes. Default: enough for the load.")
@click.option(
    "--duration",
    type=StayType(),
    help="How long a Run occupies its slot: 500ms, or a range such as 1s-5s; 0: without end. Default: 0.",
)
@number_option("--hopeless", kind=_COUNT, about="Runs beside the load that request more than any Pod has.")
@number_option(
    "--waiting-elsewhere",
    kind=_COUNT,
    about="Runs beside the load that wait for a Pod of another Runtime, or for a resource that is in use.",
)
@number_option("--namespaces", kind=_AT_LEAST_ONE, default=1, about="The number of namespaces.")
@number_option("--runtimes", kind=_AT_LEAST_ONE, default=1, about="The number of Runtimes.")
@number_option(
    "--heartbeat",
    "heartbeat_seconds",
    kind=FiniteRange(min=0),
    default=5.0,
    unit="SECONDS",
    about="Seconds between two heartbeats of a Pod; 0: only one heartbeat, an hour ahead.",
)
@number_option(
    "--cohorts",
    kind=_COUNT,
    about="Groups of Runs; required affinity keeps each group on one Pod. Default: 0, none.",
)
@number_option("--seed", kind=click.INT, default=0, about="Determines all random choices.")
@click.option(
    "--scheduler-cmd",
    "command",
    metavar="COMMAND",
    help="Start this scheduler; {kubeconfig}, {namespaces} and {port} are filled in. Default: kruntimes"
    " scheduler, for the bench's namespaces only.",
)
@click.option("--no-scheduler", is_flag=True, help="Start no scheduler: one runs already.")
@number_option(
    "--scheduler-pid", "pid", kind=_PROCESS, unit="PID", about="Start no scheduler; measure this process."
)
@click.option("--config", metavar="FILE", help="The configuration of kruntimes scheduler.")
@number_option(
    "--repeat", kind=_AT_LEAST_ONE, default=1, about="Rounds; the ceiling is measured between them."
)
@number_option(
    "--ceiling-patches",
    kind=_AT_LEAST_ONE,
    default=500,
    about="Bare patches that measure, before and after each round, how many the API server takes.",
)
@number_option("--in-flight", kind=Count(1, 128), default=32, about="Bare patches at a time.")
@number_option(
    "--patience",
    "patience_seconds",
    kind=_SECONDS,
    default=60.0,
    unit="SECONDS",
    about="End a round when no Run was placed for this long.",
)
@number_option(
    "--window",
    kind=_WINDOW,
    default=10.0,
    unit="SECONDS",
    about="The length of the time windows for which rates are reported.",
)
@click.option(
    "--kubeconfig", metavar="FILE", help="How to reach the cluster. Default: as kruntimes scheduler."
)
@click.option("--context", metavar="NAME", help="The context of the kubeconfig. Default: the current one.")
@click.option(
    "--yes-load-this-cluster",
    "anywhere",
    is_flag=True,
    help="Load an API server even if it is not on this machine.",
)
@output_option(TABLE_OR_DOCUMENT, "json: only one document on standard output.")
@click.option("--html", metavar="FILE", help="Also write a chart: one HTML file that needs no other.")
@click.pass_context
def bench(ctx: click.Context, /, window: float, form: str, html: str | None, **options: Any) -> Exit | None:
    """Load a scheduler on a real API server, and judge it from outside.

    The bench can measure any program that binds Runs. It observes the Runs with its own watch and one clock.
    It reports rates as a share of the bare patches that the same API server takes in the same minutes. It
    creates its own namespaces, and deletes them at the end.

    Exit codes: 0 every Run was placed and every rule was kept, 1 otherwise, 2 the bench cannot measure.
    """
    if ctx.invoked_subcommand is not None:
        _refuse_options(ctx)
        return None
    _check(options)
    from kruntimes_core.cli.bench.report import measure_and_show

    return measure_and_show(options, window, form, html)


def _refuse_options(ctx: click.Context) -> None:
    """Refuse options before the name of another command, which would have no effect."""
    for parameter in ctx.command.params:
        if ctx.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"{parameter.opts[-1]} is not an option of {ctx.invoked_subcommand}: write only its own,"
                " behind its name"
            )


def _check(options: Mapping[str, Any]) -> None:
    """Raises `click.UsageError` for options that do not go together."""
    for name, modes in ONLY_IN.items():
        if options[name] is not None and options["mode"] not in modes:
            raise click.UsageError(f"--{name} has no effect with --mode {options['mode']}: leave it out")
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
            f"--waiting-elsewhere needs Pods that exist before the Runs, but --mode drain with {chosen[0]}"
            f" creates the Runs first: choose another mode"
        )
