"""From the options of `kruntimes bench engine` to what is shown."""

from __future__ import annotations

import click

from kruntimes_core.cli.bench.engine.options import EngineOptions
from kruntimes_core.cli.bench.engine.tables import notes, tables
from kruntimes_core.cli.commands import Exit, with_time_limit
from kruntimes_core.cli.output.documents import write_json
from kruntimes_core.cli.output.screen import follow, standard_output
from kruntimes_core.cli.output.text import printable
from kruntimes_core.engine.engine import Settings
from kruntimes_core.framework.configuration import build_profiles, configuration_from
from kruntimes_core.framework.plugin_registry import PluginRegistry
from kruntimes_core.lab.bench.engine.measuring import Bench
from kruntimes_core.lab.bench.engine.report import report
from kruntimes_core.lab.bench.engine.site import Means
from kruntimes_core.lab.bench.engine.stopwatch import fine_clock, processor_clock
from kruntimes_core.lab.bench.engine.workloads import WORKLOADS


def answer(options: EngineOptions) -> Exit:
    """Measure and show. Raises: `InputError` for a configuration that cannot be, or a broken plugin."""
    configuration = configuration_from(options.config)
    profiles = build_profiles(configuration, PluginRegistry())
    means = Means(profiles, Settings.of(configuration), processor_clock, fine_clock, options.config)
    chosen = [one for one in WORKLOADS if not options.workloads or one.name in options.workloads]
    bench = Bench(chosen, options.shape, means, options.repeat, options.growth)
    follow(with_time_limit(bench.run(), means.under_way), "measuring", bench.steps)
    if options.form == "json":
        write_json(report(bench, options.shape, profiles, options.repeat))
    else:
        screen = standard_output()
        for line in tables(bench, options.shape, screen):
            click.echo(line, color=screen.colour)
    for line in notes(bench):
        click.echo(printable(line), err=True)
    return Exit.DONE
