"""`kruntimes bench engine`: what a decision costs without an API server, and which plugin costs it.

What it does is imported when it is called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from kruntimes_core.cli.commands import Exit
from kruntimes_core.cli.options import CONFIG, TABLE_OR_DOCUMENT, Count, number_option, output_option
from kruntimes_core.lab.bench.engine.shape import DIMENSIONS, Shape

WORKLOADS = (
    "placements",
    "burst",
    "affinity",
    "preferences",
    "new-states",
    "freed-slot",
    "heartbeats",
    "restart",
    "pauses",
    "memory",
)
"""The names of the workloads, here because help must not import them; a test holds them to the catalogue."""
_DEFAULT = Shape()


def _size(dimension: str, about: str, least: int = 1) -> Callable[..., Any]:
    """The option for one dimension of the cluster."""
    default = getattr(_DEFAULT, dimension)
    return number_option(f"--{dimension}", kind=Count(least), default=default, about=about)


@click.command()
@click.option(
    "--workload",
    "workloads",
    type=click.Choice(WORKLOADS),
    metavar="NAME",
    multiple=True,
    help=f"Measure this workload; may be given many times. Default: all: {', '.join(WORKLOADS)}.",
)
@_size("pods", "Runtime Pods in all.")
@_size("runs", "Runs that one repeat places.")
@_size("known", "Other Runs that the engine knows: four run on each Pod, and the rest have ended.", least=0)
@_size("waiting", "Runs that wait meanwhile.", least=0)
@_size("requests", "Different requests, and so equivalence classes of waiting Runs.")
@_size("cohorts", "Different labels that required affinity selects.")
@_size("preferences", "Different preferred affinities.")
@_size("namespaces", "Namespaces. Pods and Runs are spread over them evenly.")
@_size("runtimes", "Runtimes: one with the default profile, then those that the configuration names.")
@number_option(
    "--repeat",
    kind=Count(1),
    default=5,
    about="How often each figure is measured, after one repeat that does not count.",
)
@click.option(
    "--growth",
    is_flag=True,
    help="Also measure at four sizes of each dimension, and calculate how the cost grows. Takes minutes.",
)
@CONFIG
@number_option("--seed", kind=click.INT, default=0, about="Determines which Runs are on which Pod.")
@output_option(TABLE_OR_DOCUMENT, "json: only one document on standard output.")
def engine(
    *,
    workloads: tuple[str, ...],
    repeat: int,
    growth: bool,
    config: str | None,
    seed: int,
    form: str,
    **sizes: int,
) -> Exit:
    """Measure what a decision costs without an API server, and which plugin causes the cost.

    The scheduler's engine decides about generated Pods and Runs, with the plugins of the configuration, in
    this process. Times are processor times. The cost of hooks is measured in one more repeat, by the wall
    clock.

    Exit codes: 0 measured, 2 bad input or a broken plugin.
    """
    shape = Shape(seed=seed, **{dimension: sizes[dimension] for dimension in DIMENSIONS})
    from kruntimes_core.cli.bench.engine_tables import measure_and_show

    return measure_and_show(shape, workloads, config, repeat=repeat, growth=growth, form=form)
