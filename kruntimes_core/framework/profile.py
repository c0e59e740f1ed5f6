"""Profiles: the plugins that decide for a set of Runs, in order, their hooks resolved to plain functions.

pluggy finds and checks the plugins; a cycle calls them directly, thirty times faster than through
pluggy's hook relay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

T = TypeVar("T")


class InterruptedCallError(BaseException):
    """Raised inside a call that took too long. Not an `Exception`, which a plugin might catch."""

    def __str__(self) -> str:
        return "interrupted: it took longer than the time limit"


class PluginError(Exception):
    """A plugin is broken: it raised, or returned what its hook may not. Never read as a rejection."""

    def __init__(
        self, plugin: str, origin: str, hook: str, problem: str, overtime: bool = False, place: str = ""
    ) -> None:
        """plugin: its name; origin: distribution and version; hook: where; problem: one line.

        overtime: whether it was interrupted; calls before it may have used the time up. place: the file and
        line of the plugin's own code that raised, as in `acme/rules.py:12`; empty if none did.
        """
        super().__init__(f"plugin {plugin} ({origin}) failed in {hook}: {problem}")
        self.plugin = plugin
        self.origin = origin
        self.hook = hook
        self.problem = problem
        self.overtime = overtime
        self.place = place
        self.traceback = ""
        """The whole traceback of what the plugin raised, where `KRUNTIMES_DEBUG` is set."""

    @property
    def with_place(self) -> str:
        """The error with the place in the plugin's code, where that is known."""
        return f"{self}, at {self.place}" if self.place else str(self)


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

    def error(self, hook: str, problem: str, overtime: bool = False, place: str = "") -> PluginError:
        """The error that names this plugin. overtime, place: see `PluginError`."""
        return PluginError(self.name, self.origin, hook, problem, overtime, place)


@dataclass(frozen=True, slots=True)
class LoadingStep:
    """A step of the loading of a plugin that runs code of that plugin."""

    plugin: str
    origin: str
    """Distribution and version."""
    step: str
    """`import` or `constructor`, where errors name a hook."""


class CurrentCall:
    """What a thread runs of plugins now, noted by that thread and read by the one that limits its time."""

    def __init__(self) -> None:
        self.number = 0
        """Of the last call; it grows with each one."""
        self.plugins: Sequence[ActivePlugin] = ()
        """Those whose hooks the current call may run; none between two calls."""
        self.loading: LoadingStep | None = None
        """What is being imported or built."""

    @property
    def calling(self) -> bool:
        """Whether code of a plugin may be running."""
        return bool(self.plugins) or self.loading is not None

    def call(self, plugins: Sequence[ActivePlugin], action: Callable[[], T]) -> T:
        """Do what calls hooks of these plugins, and note so meanwhile."""
        self.number += 1
        self.plugins = plugins
        result = action()
        self.plugins = ()
        return result

    @contextmanager
    def load(self, plugin: str, origin: str, step: str) -> Iterator[None]:
        """Note that the block imports or builds a plugin; see `LoadingStep`."""
        self.number += 1
        self.loading = LoadingStep(plugin, origin, step)
        try:
            yield
        finally:
            self.loading = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class Profile:
    """The active plugins in their order; `runtimes` is None for the profile of all other Runs.

    Two profiles are the same only if they were built together: each has instances of its own.
    """

    name: str = "default"
    plugins: tuple[ActivePlugin, ...] = ()
    runtimes: frozenset[str] | None = None
    build: Callable[[CurrentCall], tuple[ActivePlugin, ...]] | None = None
    """Builds the plugins again, with new instances; None where they are functions without state.

    Raises `PluginError` for a constructor that fails.
    """

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
    queue_profile: Profile | None = field(init=False, repr=False, compare=False)
    """The profile whose instance that is."""
    _by_runtime: Mapping[str, Profile] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        owned = {runtime: profile for profile in self.all for runtime in profile.runtimes or ()}
        ordering = next((profile for profile in self.all if profile.implementing("queue_key")), None)
        plugin = ordering.implementing("queue_key")[0] if ordering is not None else None
        object.__setattr__(self, "queue_plugin", plugin)
        object.__setattr__(self, "queue_profile", ordering)
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

    def wrapped_profile(profile: Profile) -> Profile:
        build = profile.build
        return replace(
            profile,
            plugins=tuple(map(wrapped, profile.plugins)),
            build=(lambda current: tuple(map(wrapped, build(current)))) if build is not None else None,
        )

    return Profiles(tuple(map(wrapped_profile, profiles.all)))
