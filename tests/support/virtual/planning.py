"""Plans that run at once, on the loop's thread: no worker lives in virtual time."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kruntimes_core.cluster.plugin_worker import Done, PluginWork
from kruntimes_core.engine.plugin_work import Runners


class InlinePlanner:
    """Executes work in the call that brings it."""

    free = True

    def __init__(self) -> None:
        self._runners = Runners()

    @property
    def stuck(self) -> Mapping[str, int]:
        """A call that does not return would stop everything here, so there is never one."""
        return MappingProxyType({})

    def submit(self, work: PluginWork, done: Done) -> None:
        """Execute work at once."""
        done(work.execute(self._runners))

    def close(self) -> None:
        """There is nothing to close."""
