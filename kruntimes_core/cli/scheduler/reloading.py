"""SIGHUP: a scheduler reads its configuration again, and places Runs by it from then on."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Thread

from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.framework.configuration import Configuration, Profiles, configuration_from
from kruntimes_core.framework.plugin_registry import PluginRegistry
from kruntimes_core.model.messages import InputError

_AT_ONCE = frozenset({"plugins", "profiles", "allow_no_capacity_filter"})
"""What a reload changes; all else counts from the next start."""


class Reloading:
    """Reads on a thread beside the loop, so that a plugin that hangs while it is built holds up no Run.

    It is named after the same time as a call of a hook, and the last good configuration goes on deciding.
    """

    def __init__(
        self,
        use: Callable[[Profiles], None],
        path: str | None,
        started_with: Configuration,
        registry: PluginRegistry,
        build: Callable[[Configuration, PluginRegistry], Profiles],
        log: Log,
    ) -> None:
        """use: places Runs by these profiles from then on. registry: of the plugins that decide now.

        path: of the configuration; None for the defaults, with the plugins that are installed then.
        build: see `ThreadPluginWorker.build`.
        """
        self.in_force = (started_with, registry)
        """The configuration by which Runs are placed now, and its plugins."""
        self._build = build
        self._reload = use
        self._path = path
        self._started_with = started_with
        self._log = log
        self._thread: Thread | None = None

    def on_hangup(self) -> None:
        """Reload at each SIGHUP; but a process with a terminal gets one when that closes, and ends."""
        if not _has_terminal():
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self.begin)

    def begin(self) -> None:
        """Read the configuration, and use it if it is valid. The log says which."""
        if self._thread is not None and self._thread.is_alive():
            self._refused("it is still being read")
            return
        loop = asyncio.get_running_loop()
        self._thread = Thread(target=self._read, args=(loop,), name="kruntimes-reloading", daemon=True)
        self._thread.start()

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            configuration, registry = self._configuration(), PluginRegistry()
            use = partial(self._use, configuration, registry, self._build(configuration, registry))
        except InputError as error:
            use = partial(self._refused, str(error))
        # Once the loop is closed, nothing is decided any more.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(use)

    def _configuration(self) -> Configuration:
        """Raises `InputError`."""
        if self._path is not None and Path(self._path).exists() and not Path(self._path).is_file():
            raise InputError(f"{self._path}: no file, and can be read once only: start anew")
        return configuration_from(self._path)

    def _use(self, configuration: Configuration, registry: PluginRegistry, profiles: Profiles) -> None:
        self._reload(profiles)
        self.in_force = (configuration, registry)
        later = ",".join(
            field.alias or name
            for name, field in Configuration.model_fields.items()
            if name not in _AT_ONCE and getattr(configuration, name) != getattr(self._started_with, name)
        )
        plugins = sum(len(profile.plugins) for profile in profiles.all)
        self._log.info(
            "the configuration was reloaded",
            profiles=len(profiles.all),
            plugins=plugins,
            not_before_a_restart=later or None,
        )

    def _refused(self, why: str) -> None:
        self._log.warning("the configuration was not reloaded", why=why)


def _has_terminal() -> bool:
    """Whether this process belongs to a terminal, which may go away."""
    try:
        os.close(os.open(os.ctermid(), os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True
