"""Profiles: the plugins that decide for a set of Runs, in order, their hooks resolved to plain functions.

pluggy finds and checks the plugins; a cycle calls them directly, thirty times faster than through
pluggy's hook relay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any


class InterruptedCallError(BaseException):
    """Raised inside a call that took too long. Not an `Exception`, which a plugin might catch."""

    def __str__(self) -> str:
        return "interrupted: it took longer than the time limit"


class PluginError(Exception):
    """A plugin is broken: it raised, or returned what its hook may not. Never read as a rejection."""

    def __init__(self, plugin: str, origin: str, hook: str, problem: str, overtime: bool = False) -> None:
        """plugin: its name; origin: distribution and version; hook: where; problem: one line.

        overtime: whether it was interrupted; calls before it may have used the time up.
        """
        super().__init__(f"plugin {plugin} ({origin}) failed in {hook}: {problem}")
        self.plugin = plugin
        self.origin = origin
        self.hook = hook
        self.problem = problem
        self.overtime = overtime


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


@dataclass(frozen=True, slots=True)
class Profiles:
    """The profiles of a host; the first is the default one, for every Runtime that no other names."""

    all: tuple[Profile, ...]
    queue_plugin: ActivePlugin | None = field(init=False, repr=False, compare=False)
    """The plugin that orders the host's one queue, or None for the order of arrival.

    One instance for all Runs, that of the first profile with it: its keys must be comparable.
    """
    _by_runtime: Mapping[str, Profile] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        owned = {runtime: profile for profile in self.all for runtime in profile.runtimes or ()}
        ordering = [plugin for profile in self.all for plugin in profile.implementing("queue_key")]
        object.__setattr__(self, "queue_plugin", ordering[0] if ordering else None)
        object.__setattr__(self, "_by_runtime", owned)

    def of(self, runtime: str) -> Profile:
        """The profile that places the Runs of `runtime`."""
        return self._by_runtime.get(runtime, self.all[0])


def wrap_hooks(profiles: Profiles, wrap: Callable[[ActivePlugin, str, Hook], Callable[..., Any]]) -> Profiles:
    """The same profiles with something around every hook, to watch, count or time the calls.

    wrap: gives the function that the host calls in the place of a hook's own, with the same arguments.
    """

    def wrapped(plugin: ActivePlugin) -> ActivePlugin:
        hooks = {name: Hook(wrap(plugin, name, hook), hook.names) for name, hook in plugin.hooks.items()}
        return replace(plugin, hooks=hooks)

    return Profiles(
        tuple(replace(one, plugins=tuple(wrapped(plugin) for plugin in one.plugins)) for one in profiles.all)
    )
