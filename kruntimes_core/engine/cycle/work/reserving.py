"""Asking the plugins to keep something for a Run on its Pod, and to give it back."""

from __future__ import annotations

from dataclasses import dataclass

from kruntimes_core.engine.binding.assumption import Assumption
from kruntimes_core.engine.binding.reservations import Unreserve
from kruntimes_core.engine.cycle.work.base import Runners, RunWork
from kruntimes_core.framework.outcomes import PluginError, Reject
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.framework.runtime import PluginFailure, calls
from kruntimes_core.model.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class ReserveAnswer:
    """What the plugins' `reserve` said: all yes, or the first no or failure."""

    asked: tuple[ActivePlugin, ...]
    turned_down: tuple[ActivePlugin, Reject] | None = None
    broken: PluginError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReserveWork(RunWork):
    """Ask the plugins' `reserve` in order, until one says no or fails."""

    assumption: Assumption
    snapshot: Snapshot
    """What the Pod was chosen from, for the record."""

    def execute(self, runners: Runners) -> ReserveAnswer:
        """What they said."""
        asked: list[ActivePlugin] = []
        for place, plugin in enumerate(self.profile.plugins):
            hook = plugin.hooks.get("reserve")
            if hook is None:
                continue
            asked.append(plugin)
            ask = calls.positional(hook, calls.RESERVE)
            state = self.assumption.prepared.states[place]
            try:
                reject = calls.check_rejection(plugin, ask(self.assumption.pod, state, self.run), "reserve")
            except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is its own error
                return ReserveAnswer(tuple(asked), broken=calls.plugin_error(plugin, "reserve", error))
            if reject is not None:
                return ReserveAnswer(tuple(asked), turned_down=(plugin, reject))
        return ReserveAnswer(tuple(asked))

    def failed(self, error: PluginError) -> ReserveAnswer:
        """What it comes to when it never comes back: all were asked, up to the plugin that `error` names.

        Nobody was if it names none: an `unreserve` is owed for a `reserve` alone.
        """
        asking = self.profile.implementing("reserve")
        names = [plugin.name for plugin in asking] if error.hook == "reserve" else []
        asked = asking[: names.index(error.plugin) + 1] if error.plugin in names else ()
        return ReserveAnswer(asked, broken=error)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreserveWork:
    """Ask one plugin's `unreserve`."""

    due: Unreserve

    def execute(self, runners: Runners) -> PluginFailure | None:
        """None, or the failure; the reservation has ended either way."""
        plugin, assumption = self.due.plugin, self.due.assumption
        ask = calls.positional(plugin.hooks["unreserve"], calls.UNRESERVE)
        place = assumption.profile.plugins.index(plugin)
        try:
            ask(assumption.pod, assumption.prepared.states[place], assumption.run, self.due.bound)
        except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is its own error
            return PluginFailure(calls.plugin_error(plugin, "unreserve", error))
        return None
