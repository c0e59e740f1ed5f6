"""SIGHUP: the configuration is read again, and Runs are placed by it from then on."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Protocol

from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.framework.configuration import Configuration, Profiles, build_profiles, configuration_from
from kruntimes_core.framework.plugin_registry import PluginRegistry
from kruntimes_core.model.messages import InputError

_AT_ONCE = frozenset({"plugins", "profiles", "allow_no_capacity_filter"})
"""What counts from a reload on; all else from the next start."""


class Decider(Protocol):
    """What places Runs by profiles."""

    def reload(self, profiles: Profiles) -> None:
        """Place Runs by these from now on."""


class Reloading:
    """Reads beside the loop: a plugin that hangs while it is built holds up nobody."""

    def __init__(self, host: Decider, path: str | None, started_with: Configuration, log: Log) -> None:
        """path: of the configuration; None for the defaults, with the plugins that are installed then."""
        self._host = host
        self._path = path
        self._started_with = started_with
        self._log = log
        self._thread: Thread | None = None

    def on_hangup(self) -> None:
        """Begin at each SIGHUP, but not where it tells that a terminal is gone: there it ends the process."""
        if not _has_terminal():
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self.begin)

    def begin(self) -> None:
        """Read the configuration, and use it if it is good. What became of that is said in the log."""
        if self._thread is not None and self._thread.is_alive():
            self._refused("it is still being read")
            return
        loop = asyncio.get_running_loop()
        self._thread = Thread(target=self._read, args=(loop,), name="kruntimes-reloading", daemon=True)
        self._thread.start()

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            configuration = self._configuration()
            tell = partial(self._use, configuration, build_profiles(configuration, PluginRegistry()))
        except InputError as error:
            tell = partial(self._refused, str(error))
        # Once the loop is closed nobody decides any more.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(tell)

    def _configuration(self) -> Configuration:
        """Raises `InputError`."""
        if self._path is not None and Path(self._path).exists() and not Path(self._path).is_file():
            raise InputError(f"{self._path}: no file, and can be read once only: start anew")
        return configuration_from(self._path)

    def _use(self, configuration: Configuration, profiles: Profiles) -> None:
        self._host.reload(profiles)
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
