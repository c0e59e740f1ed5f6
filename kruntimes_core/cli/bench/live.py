"""Measures a scheduler as the options of `kruntimes bench` say, and shows the results."""

from __future__ import annotations

import asyncio
import signal
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from kruntimes_core.cli.bench.report import check_page, report, write_page
from kruntimes_core.cli.commands import Exit, stop_on_signals
from kruntimes_core.cli.output.documents import write_json
from kruntimes_core.cli.output.screen import print_lines, print_note, print_notes, standard_output
from kruntimes_core.cluster.clock import SystemClock
from kruntimes_core.cluster.observability.log import Level, Log
from kruntimes_core.lab.bench.live.bench import measure
from kruntimes_core.lab.bench.live.load import BenchLoad, BenchSettings, Mode
from kruntimes_core.lab.bench.live.results import Results
from kruntimes_core.lab.bench.live.scheduler import SchedulerEndedError

T = TypeVar("T")


def measure_and_show(options: Mapping[str, Any], window: float, form: str, html: str | None) -> Exit:
    """Measure as the options of the command say. Raises `InputError` for what keeps it from measuring."""
    if html is not None:
        check_page(Path(html))
    with tempfile.TemporaryDirectory(prefix="kruntimes-bench-") as folder:
        try:
            results = asyncio.run(_measured(settings_of(options), Path(folder)))
        except SchedulerEndedError as error:
            print_notes(f"  {line}" for line in error.lines)
            raise
        except asyncio.CancelledError:
            return Exit.INTERRUPTED
    if form == "json":
        write_json(results.document(window))
    else:
        screen = standard_output()
        print_lines(report(results, window, screen), screen)
    if html is not None:
        write_page(Path(html), results)
    return Exit.DONE if results.passed else Exit.ANSWER_IS_NO


def settings_of(options: Mapping[str, Any]) -> BenchSettings:
    """What is asked for; an option that was not given has the default of the load."""
    external = options["no_scheduler"] or options["pid"] is not None
    asked = {**options, "mode": Mode(options["mode"]), "external": external}
    return _made_of(BenchSettings, {**asked, "load": _made_of(BenchLoad, asked)})


def _made_of(kind: type[T], values: Mapping[str, Any]) -> T:
    """A dataclass of those of its fields that are given."""
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    return kind(**{name: values[name] for name in names if values.get(name) is not None})


async def _measured(settings: BenchSettings, folder: Path) -> Results:
    """Measure until the end or a signal, which lets it clean up; a second one ends it at once."""
    log = Log(sys.stderr, SystemClock(), Level.WARNING)
    work = asyncio.create_task(measure(settings, folder, print_note, log), name="bench")

    def stop(number: signal.Signals) -> None:
        print_note(f"{number.name}: cleaning up")
        work.cancel()

    stop_on_signals(stop, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    return await work
