"""`python -m performance` measures, and writes the figures into the pages of docs.

`engine`: the table of the engine by itself. `memory`: what a scheduler's process takes. `live`: the tables
of a scheduler on a real API server, which is started for it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from performance import engine as engine_part
from performance.live.measuring import FailedError, measure, real_servers, run_bench
from performance.live.results import Results, default_folder
from performance.live.workloads import WORKLOADS, chosen
from performance.live.writing import write_live
from performance.memory.process import resident_bytes
from performance.memory.sizing import measure as measure_memory
from realcluster.assets import AssetsError

_NAMES = click.Choice([one.name for one in WORKLOADS])


@click.group(help=__doc__)
def main() -> None:
    """Which part is measured."""


@main.command()
def engine() -> None:
    """Measure the engine by itself: ten minutes."""
    engine_part.measure()


@main.command()
def memory() -> None:
    """Measure what a scheduler takes that knows many Pods and Runs: two minutes."""
    measure_memory(resident_bytes)


@main.command()
@click.option(
    "--only", "names", multiple=True, type=_NAMES, help="Measure this workload; many times. Default: all."
)
@click.option(
    "--rounds",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    help="How often each is measured, in turn with the others. 0: write what is kept.",
)
@click.option("--resume", is_flag=True, help="Measure only what is not kept from before.")
@click.option(
    "--results",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=default_folder,
    show_default="in the user's cache",
    help="Where reports are kept.",
)
def live(names: tuple[str, ...], rounds: int, resume: bool, folder: Path) -> None:
    """Measure on a real API server: 25 minutes for three rounds.

    Each report is kept. The page also shows the kept figures of workloads that are not measured now.
    """
    results, workloads = Results(folder), chosen(names)
    if rounds and not resume:
        for workload in workloads:
            results.forget(workload)
    try:
        measure(workloads, rounds, results, run_bench, real_servers)
    except AssetsError as error:
        raise click.ClickException(str(error)) from error
    except FailedError as error:
        write_live(results)
        raise click.ClickException(str(error)) from error
    write_live(results)


if __name__ == "__main__":
    sys.exit(main())
