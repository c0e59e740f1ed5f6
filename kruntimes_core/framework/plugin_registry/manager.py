"""The one place that talks to pluggy, through its public API."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pluggy

from kruntimes_core.framework.hookspecs import SchedulerHooks
from kruntimes_core.framework.names import PROJECT
from kruntimes_core.framework.plugin_registry.failures import InvalidPlugin


@dataclass(frozen=True, slots=True)
class HookImplementation:
    """A function that a plugin marked with `hookimpl`: for which hook, and with which options."""

    hook: str
    function: Callable[..., Any]
    options: frozenset[str]
    """The marker's options that are not at their default, as `tryfirst`."""


def create_manager() -> pluggy.PluginManager:
    """A manager that knows the seven hooks and no plugin."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(SchedulerHooks)
    return manager


def implementations(plugin: object) -> tuple[HookImplementation, ...]:
    """What `plugin` (a class, a module or an object) marked, by hook name, before any check.

    A manager without specifications accepts everything, so that the checks can say more about a
    misspelt name than that it is unknown.
    """
    return _registered(pluggy.PluginManager(PROJECT), plugin, "plugin")


def register(manager: pluggy.PluginManager, name: str, plugin: object) -> tuple[HookImplementation, ...]:
    """Register a built plugin, let pluggy check it against the specifications, and return its hooks.

    Raises `InvalidPlugin` for what pluggy refuses; a plugin is registered once, under one name.
    """
    try:
        found = _registered(manager, plugin, name)
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        raise InvalidPlugin(f"pluggy refuses it: {error}") from error
    except ValueError as error:
        raise InvalidPlugin("the same object is a plugin under another name: keep one of the two") from error
    return found


def _registered(manager: pluggy.PluginManager, plugin: object, name: str) -> tuple[HookImplementation, ...]:
    manager.register(plugin, name=name)
    found = [
        HookImplementation(caller.name, implementation.function, _options(dict(implementation.opts)))
        for caller in manager.get_hookcallers(plugin) or ()
        for implementation in caller.get_hookimpls()
        if implementation.plugin is plugin
    ]
    return tuple(sorted(found, key=lambda implementation: implementation.hook))


def _options(options: dict[str, object]) -> frozenset[str]:
    return frozenset(name for name, value in options.items() if value)
