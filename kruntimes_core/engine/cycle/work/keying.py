"""Asking a plugin for a Run's place in the queue."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kruntimes_core.engine.cycle.work.base import Runners, RunWork
from kruntimes_core.engine.queueing.order import check_key
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.framework.runtime import PluginFailure, calls


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyWork(RunWork):
    """Ask `queue_key` for a Run."""

    plugin: ActivePlugin
    now: datetime
    last: Any
    sample: Any

    def execute(self, runners: Runners) -> Any:
        """The key, or `Broken`."""
        ask = calls.positional(self.plugin.hooks["queue_key"], calls.QUEUE_KEY)
        try:
            key = ask(self.run, self.now, self.last)
            check_key(self.plugin, key, self.sample, self.last)
        except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is its own error
            return PluginFailure(calls.plugin_error(self.plugin, "queue_key", error))
        return key
