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
    help=f"Measure this one; may be given many times. Default: all: {', '.join(WORKLOADS)}.",
)
@_size("pods", "Runtime Pods in all.")
@_size("runs", "Runs that one repeat places.")
@_size("known", "Runs known beside them: four run on each Pod, the others have ended.", least=0)
@_size("waiting", "Runs that wait meanwhile.", least=0)
@_size("requests", "Different requests; so many classes of Runs wait.")
@_size("cohorts", "Different labels that required affinity asks for.")
@_size("preferences", "Different preferred affinities.")
@_size("namespaces", "Namespaces. Pods and Runs are spread over them evenly.")
@_size("runtimes", "Runtimes, with those that the configuration names before others.")
@number_option(
    "--repeat",
    kind=Count(1),
    default=5,
    about="How often each figure is measured, after once that does not count.",
)
@click.option(
    "--growth",
    is_flag=True,
    help="Measure at four sizes of each dimension, too, and fit how cost grows. Takes minutes.",
)
@CONFIG
@number_option("--seed", kind=click.INT, default=0, about="Chooses what lies on which Pod.")
@output_option(TABLE_OR_DOCUMENT, "json: nothing but one document on standard output.")
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
    """Measure what a decision costs, without an API server, and which plugin costs it.

    The engine of the scheduler and the plugins of the configuration decide about Pods and Runs in this
    process. Times are processor times. What the hooks cost is measured once more, with clocks around each
    call.

    Exit codes: 0 measured, 2 bad input or a broken plugin.
    """
    shape = Shape(seed=seed, **{dimension: sizes[dimension] for dimension in DIMENSIONS})
    from kruntimes_core.cli.bench.engine_tables import measure_and_show

    return measure_and_show(shape, workloads, config, repeat=repeat, growth=growth, form=form)
