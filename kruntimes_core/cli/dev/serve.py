"""From the options of `kruntimes dev` to a cluster that runs until it is stopped, or has done its work."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from shlex import quote
from urllib.parse import urlsplit

import click

from kruntimes_core.cli.dev.displays import Display, Lines, LivePicture, is_live
from kruntimes_core.cli.dev.options import DevOptions
from kruntimes_core.cli.dev.settings import arrivals_of, settings_of
from kruntimes_core.cli.dev.summary import summary_document, summary_line
from kruntimes_core.cli.exits import Exit
from kruntimes_core.cli.output.documents import write_json
from kruntimes_core.cli.output.screen import standard_output
from kruntimes_core.cli.output.text import wrapped
from kruntimes_core.cli.signals import stop_on_signals
from kruntimes_core.cluster.clock import SystemClock
from kruntimes_core.cluster.event_recorder.recorder import EventSettings
from kruntimes_core.cluster.observability.log import Level, Log
from kruntimes_core.engine.engine import Settings
from kruntimes_core.framework.configuration import Profiles, build_profiles, configuration_from
from kruntimes_core.framework.plugin_registry import PluginRegistry
from kruntimes_core.framework.profile import Profile
from kruntimes_core.lab.dev.cluster import DevCluster, dev_cluster
from kruntimes_core.lab.dev.kubeconfig import default_path, kubeconfig
from kruntimes_core.lab.dev.overview import Observer
from kruntimes_core.lab.dev.workload import Arrival

_UNCHECKED = "rules of the CRDs: not asked, kruntimes-core is without its extra dev"


def serve(options: DevOptions) -> Exit:
    """Run the cluster, and sum up. Raises `InputError` for whatever keeps it from starting."""
    configuration = configuration_from(options.config)
    profiles = build_profiles(configuration, PluginRegistry())
    session = _Session(options, profiles, Settings.of(configuration), EventSettings.of(configuration))
    asyncio.run(session.run())
    return session.outcome


class _Session:
    """One call of the command."""

    def __init__(
        self, options: DevOptions, profiles: Profiles, engine: Settings, events: EventSettings
    ) -> None:
        self._options = options
        self._profiles = profiles
        self._engine = engine
        self._events = events
        self._clock = SystemClock()
        self.outcome = Exit.DONE

    async def run(self) -> None:
        """Serve until the end."""
        display = self._display()
        log = Log(display.notices, self._clock, Level.WARNING)
        settings = settings_of(self._options)
        async with dev_cluster(
            settings, self._profiles, self._engine, self._events, self._clock, log
        ) as cluster:
            path = self._kubeconfig_path(cluster)
            # Before there is a file to take away. SIGHUP says that the terminal is gone.
            stop_on_signals(lambda _: cluster.stop(), signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
            with kubeconfig(path, cluster.server.url):
                self._introduce(cluster, path)
                await self._work(cluster, display, arrivals_of(self._options, settings))
            if display.stays:
                click.echo()
            self._sum_up(cluster)

    async def _work(self, cluster: DevCluster, display: Display, arrivals: Iterable[Arrival]) -> None:
        """Let the cluster run and show it; what ends the one ends the other."""
        observer = Observer(cluster, self._clock)
        running = asyncio.create_task(
            cluster.run(arrivals, exit_when_done=self._options.exit_when_done), name="cluster"
        )
        with display:
            showing = asyncio.create_task(_show(display, observer), name="display")
            await asyncio.wait({running, showing}, return_when=asyncio.FIRST_COMPLETED)
            cluster.stop()
            await running
            if display.stays and not showing.done():
                display.show(observer.look())
            showing.cancel()
            with suppress(asyncio.CancelledError):
                await showing

    # Before and after

    def _display(self) -> Display:
        if self._aside:
            return Lines(sys.stderr, sys.stderr)
        if not self._options.show_table or not is_live(sys.stdout):
            return Lines(sys.stdout, sys.stderr)
        from rich.console import Console

        return LivePicture(Console(file=sys.stdout, highlight=False))

    def _kubeconfig_path(self, cluster: DevCluster) -> Path:
        asked = self._options.kubeconfig_out
        if asked is not None:
            return Path(asked)
        return default_path(urlsplit(cluster.server.url).port or 0, os.environ)

    def _introduce(self, cluster: DevCluster, path: Path) -> None:
        click.echo(f"serving the Kubernetes API on {cluster.server.url}, until Ctrl-C", err=self._aside)
        click.echo(f"  export KUBECONFIG={quote(str(path))}", err=self._aside)
        for profile in self._profiles.all:
            for line in _plugins(profile, len(self._profiles.all), standard_output().columns):
                click.echo(f"  {line}", err=self._aside)
        if not cluster.server.api.rules_checked:
            click.echo(f"  {_UNCHECKED}", err=self._aside)
        click.echo(err=self._aside)

    @property
    def _aside(self) -> bool:
        """Whether standard output is for the document alone."""
        return self._options.form == "json"

    def _sum_up(self, cluster: DevCluster) -> None:
        if self._aside:
            write_json(summary_document(cluster, self._profiles))
        else:
            click.echo(summary_line(cluster.book))
        if self._options.exit_when_done and not (cluster.finished and cluster.book.well):
            self.outcome = Exit.ANSWER_IS_NO


def _plugins(profile: Profile, profiles: int, columns: int | None) -> list[str]:
    """The active plugins of a profile, in lines that fit."""
    whose = f" of profile {profile.name}" if profiles > 1 else ""
    names = ", ".join(plugin.name for plugin in profile.plugins) or "none"
    line = f"plugins{whose}: {names}"
    return [line] if columns is None else wrapped(line, columns - 2)


async def _show(display: Display, observer: Observer) -> None:
    """Show how it goes, until cancelled; raises what writing raises."""
    while True:
        display.show(observer.look())
        await asyncio.sleep(display.seconds)
