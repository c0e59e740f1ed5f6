"""SIGHUP: a scheduler reads its configuration again, and places Runs by it from then on."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Thread
from time import sleep
from traceback import extract_tb

from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.framework.configuration import Configuration, Profiles, configuration_from
from kruntimes_core.framework.plugin_registry import PluginRegistry
from kruntimes_core.framework.runtime.plugin_calls import describe
from kruntimes_core.model.messages import InputError

_AT_ONCE = frozenset({"plugins", "profiles", "allow_no_capacity_filter"})
"""What a reload changes; all else counts from the next start."""
_HOST = "kruntimes-core"
_PAUSE_SECONDS = 0.1
"""Between two readings of the file, which must be equal."""


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
        profiles: Profiles,
        build: Callable[[Configuration, PluginRegistry], Profiles],
        log: Log,
    ) -> None:
        """use: places Runs by these profiles from then on. registry, profiles: of what decides now.

        path: of the configuration; None for the defaults. build: see `ThreadPluginWorker.build`.
        """
        self.in_force = (started_with, registry, profiles)
        """The configuration by which Runs are placed now, its plugins, and the profiles built from it."""
        self._build = build
        self._reload = use
        self._path = path
        self._started_with = started_with
        self._log = log
        self._reading = False
        self._host_version = registry.version_of(_HOST)

    def on_hangup(self) -> None:
        """Reload at each SIGHUP; but a process with a terminal gets one when that closes, and ends."""
        if not _has_terminal():
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self.begin)

    def begin(self) -> None:
        """Read the configuration, and use it if it is valid. The log says which."""
        if self._reading:
            self._refused("it is still being read")
            return
        self._reading = True
        loop = asyncio.get_running_loop()
        try:
            Thread(target=self._read, args=(loop,), name="kruntimes-reloading", daemon=True).start()
        except RuntimeError as error:  # there may be no more threads
            self._end(partial(self._refused, _described(error), None))

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        restart_needed = None
        try:
            registry = self.in_force[1].again()
            restart_needed = self._changed_packages(registry)
            configuration = self._configuration()
            profiles = self._build(configuration, registry)
            use = partial(self._use, configuration, registry, profiles, restart_needed)
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything: the log says what it was
            use = partial(self._refused, _described(error), restart_needed)
        # Once the loop is closed, nothing is decided any more.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(self._end, use)

    def _end(self, use: Callable[[], None]) -> None:
        self._reading = False
        use()

    def _configuration(self) -> Configuration:
        """Raises `InputError`."""
        if self._path is None:
            return Configuration()
        self._require_readable_again(self._path)
        first = configuration_from(self._path)
        # Half of a file that is being written may be valid: it would switch off plugins in silence.
        sleep(_PAUSE_SECONDS)
        second = configuration_from(self._path)
        if first.origin.text != second.origin.text:
            raise InputError(f"{self._path}: it changes while it is read: send SIGHUP when it is written")
        return second

    def _require_readable_again(self, path: str) -> None:
        with suppress(OSError):  # to be told by who opens it
            mode = os.stat(path).st_mode
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                raise InputError(
                    f"{path}: not a regular file, so it can be read only once: restart the scheduler"
                )

    def _changed_packages(self, registry: PluginRegistry) -> str | None:
        """What a restart would load in another version than is in memory: `acme-plugin 1.0 -> 1.1`."""
        changed, host = dict(registry.changed), registry.version_of(_HOST)
        if host != self._host_version:
            changed[_HOST] = f"{self._host_version} -> {host}"
        return ", ".join(f"{package} {change}" for package, change in sorted(changed.items())) or None

    def _use(
        self,
        configuration: Configuration,
        registry: PluginRegistry,
        profiles: Profiles,
        restart_needed: str | None,
    ) -> None:
        self._reload(profiles)
        self.in_force = (configuration, registry, profiles)
        later = ",".join(
            field.alias or name
            for name, field in Configuration.model_fields.items()
            if name not in _AT_ONCE and getattr(configuration, name) != getattr(self._started_with, name)
        )
        plugins = sum(len(profile.plugins) for profile in profiles.all)
        log, message = self._log.info, "the configuration was reloaded"
        if restart_needed is not None:
            log, message = self._log.warning, f"{message}, but packages that changed need a restart"
        log(
            message,
            profiles=len(profiles.all),
            plugins=plugins,
            not_before_a_restart=later or None,
            restart_needed_for=restart_needed,
        )

    def _refused(self, why: str, restart_needed: str | None = None) -> None:
        self._log.warning("the configuration was not reloaded", why=why, restart_needed_for=restart_needed)


def _described(error: BaseException) -> str:
    """What a user can correct, or what a defect is and where."""
    if isinstance(error, InputError):
        return str(error)
    place = extract_tb(error.__traceback__)[-1]
    return f"{describe(error)} (at {place.filename}:{place.lineno})"


def _has_terminal() -> bool:
    """Whether this process belongs to a terminal, which may go away."""
    try:
        os.close(os.open(os.ctermid(), os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True
