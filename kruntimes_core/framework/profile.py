"""A profile: the plugins that decide for a set of Runs, resolved to plain functions and in order.

pluggy finds and checks the plugins; a cycle calls them directly, thirty times faster than through
a hook relay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kruntimes_core.framework.outcomes import PluginError


@dataclass(frozen=True, slots=True)
class Hook:
    """One implementation: a bound function and the names of its arguments, in its own order."""

    function: Callable[..., Any]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivePlugin:
    """One plugin of a profile, built with its arguments."""

    name: str
    distribution: str
    version: str
    hooks: Mapping[str, Hook]
    reasons: Mapping[str, str] = field(default_factory=dict)
    weight: int = 1
    stateful: bool = False
    provides: frozenset[str] = frozenset()
    normalize_keeps_best: bool = False

    @property
    def origin(self) -> str:
        """Distribution and version, as errors name them."""
        return f"{self.distribution} {self.version}"

    def error(self, hook: str, problem: str, overtime: bool = False) -> PluginError:
        """The error that names this plugin. overtime: see `PluginError`."""
        return PluginError(self.name, self.origin, hook, problem, overtime)


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The active plugins in their order; `runtimes` is None for the profile of all other Runs."""

    name: str = "default"
    plugins: tuple[ActivePlugin, ...] = ()
    runtimes: frozenset[str] | None = None

    def implementing(self, hook: str) -> tuple[ActivePlugin, ...]:
        """The plugins with an implementation of `hook`, in order."""
        return tuple(plugin for plugin in self.plugins if hook in plugin.hooks)
