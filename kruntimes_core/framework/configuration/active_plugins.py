"""The plugins of each profile: which installed ones are active, in which order, and why the others are not.

The order is the configuration's, then this file's, then the alphabet's; never that of installation.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any

from pydantic import ValidationError

from kruntimes_core.framework.configuration.arguments import hides, known_arguments, unknown_argument
from kruntimes_core.framework.configuration.files import check_consistency, worded
from kruntimes_core.framework.configuration.models import (
    EVERY,
    Configuration,
    ConfigurationError,
    ConfiguredProfile,
    Origin,
    Path,
    configured_profiles,
    dotted,
)
from kruntimes_core.framework.hookspecs import hook_names
from kruntimes_core.framework.plugin_registry import (
    CAPACITY,
    DiscoveredPlugin,
    LoadedPlugin,
    LoadError,
    PluginRegistry,
    build_plugin,
)
from kruntimes_core.framework.profile import ActivePlugin, CurrentCall, PluginError, Profile, Profiles
from kruntimes_core.framework.runtime.plugin_calls import describe
from kruntimes_core.model.messages import InputError, did_you_mean

SUPPLIED = (
    "RuntimePodAvailability",
    "RunAffinity",
    "WorkspacePlacement",
    "PreferredRunAffinity",
    "LeastLoaded",
)
"""The specification's plugins in its order: cheap and telling filters first, then the scorers."""

_DOCUMENT_VERSION = "kruntimes.io/plugins/v1"
BuildAttempts = dict[tuple[str, str], ActivePlugin | InputError]
"""What became of each plugin that was built: by the names of its profile and its own.

A constructor may open a file or a port: it is called once, also by a command that builds and describes.
"""

# What pydantic says of an argument that is not there, or should not be, as the rest of a sentence.
_PROBLEMS = {"missing": "is required: add it", "extra_forbidden": "unknown argument: correct or remove it"}


@dataclass(frozen=True, slots=True)
class ConfiguredPlugin:
    """A plugin that a profile does not disable. path: its entry in `enabled`; None when no entry names it."""

    name: str
    weight: int = 1
    arguments: Mapping[str, Any] | None = field(default=None, repr=False)
    path: Path | None = None


class ActivationState(StrEnum):
    """Whether a host calls a plugin, and why not."""

    ACTIVE = "active"
    OFF_BY_DEFAULT = "off by default"
    DISABLED = "disabled"
    BROKEN = "broken"
    DUPLICATE = "duplicate"
    SHADOWED = "shadowed"
    """Another version of its distribution comes first on the path, and counts instead."""
    UNKNOWN = "unknown"
    """The configuration cannot be read, so the plugin may be disabled: it was not imported."""


@dataclass(frozen=True, slots=True)
class PluginState:
    """One claim of a distribution to a plugin name, in one profile, as `kruntimes plugins list` shows it.

    profile: whose state it is; None when the configuration cannot be read.
    hooks: in the order of a cycle; empty where the plugin was not or could not be imported.
    weight: of an active scorer; None for a plugin that does not score, to which a weight means nothing.
    why: why it is not active, in one line; empty when it is.
    """

    profile: str | None
    name: str
    distribution: str
    version: str
    state: ActivationState
    hooks: tuple[str, ...] = ()
    weight: int | None = None
    why: str = ""


def configured_plugins(profile: ConfiguredProfile, registry: PluginRegistry) -> tuple[ConfiguredPlugin, ...]:
    """The installed plugins that `profile` does not disable, in order; imports none of them.

    Those that no entry names are active only if they are on by default: see `is_active`.
    """
    entries = {
        entry.name: ConfiguredPlugin(
            entry.name, entry.weight, entry.arguments, (*profile.path, "enabled", index)
        )
        for index, entry in enumerate(profile.plugins.enabled)
        if registry.discovered(entry.name)
    }
    disabled = set(profile.plugins.disabled)
    names: Iterable[str] = entries
    if EVERY not in disabled:
        installed = registry.names
        names = dict.fromkeys([*(name for name in SUPPLIED if name in installed), *entries, *installed])
    return tuple(entries.get(name, ConfiguredPlugin(name)) for name in names if name not in disabled)


def is_active(plugin: ConfiguredPlugin, registry: PluginRegistry) -> bool:
    """Whether the plugin is named, or on by default. Raises `LoadError` when it is and cannot be loaded."""
    try:
        loaded = registry.load(plugin.name)
    except LoadError as error:
        if plugin.path is None and error.off_by_default:
            return False
        raise
    return plugin.path is not None or loaded.declaration.on_by_default


def build_profiles(
    configuration: Configuration,
    registry: PluginRegistry,
    build_on: Callable[[Callable[[], Profile]], Profile] = lambda build: build(),
    attempts: BuildAttempts | None = None,
) -> Profiles:
    """Load and build every plugin that is active in `configuration`.

    build_on: builds each profile, on the thread that will call its plugins. attempts: filled with what
    became of each plugin, up to the first that cannot be built. Raises `ConfigurationError` for names,
    arguments and combinations that are not valid, and `LoadError` for an active plugin that is broken; no
    plugin is silently skipped.
    """
    check_consistency(configuration)
    builders = _builders(configuration, registry, attempts)
    for builder in builders:
        builder.check_names()
    profiles = Profiles(tuple(build_on(builder.build) for builder in builders))
    _check_queue(profiles, configuration.origin)
    if not configuration.allow_no_capacity_filter:
        for builder, built in zip(builders, profiles.all, strict=True):
            builder.check_capacity(built)
    return profiles


def describe_plugins(
    configuration: Configuration | None,
    registry: PluginRegistry,
    attempts: BuildAttempts | None = None,
    decides: Profiles | None = None,
) -> list[PluginState]:
    """The state of every installed plugin in each profile; works when the host would not start.

    configuration: None when it cannot be read; then there are no profiles. attempts: of `build_profiles` with
    the same configuration; each active plugin that is not among them is built, so that "active" means it.
    decides: the profiles built from it, in a host that runs: then nothing is imported or built here.
    Out: profile by profile, first what is active, in the order in which it is called, then the rest by name.
    Raises nothing, and imports no plugin that every profile disables by its name.
    """
    if configuration is None:
        why = "the configuration cannot be read: correct it first"
        return [
            _state(claim, None, ActivationState.UNKNOWN, why=why)
            for name in registry.names
            for claim in registry.discovered(name)
        ]
    if decides is not None:
        attempts = {(one.name, plugin.name): plugin for one in decides.all for plugin in one.plugins}
    builders = _builders(configuration, registry, attempts)
    return [state for one in builders for state in one.states(imports=decides is None)]


def plugins_document(states: Sequence[PluginState]) -> dict[str, Any]:
    """The list for other programs; keys in the order of the table's columns."""
    plugins = [
        asdict(state) | {"state": state.state.value, "hooks": list(state.hooks), "why": state.why or None}
        for state in states
    ]
    return {"apiVersion": _DOCUMENT_VERSION, "plugins": plugins}


def to_install(*names: str) -> str:
    """What to do about supplied plugins that are missing.

    No pip command line: the distributions are not on PyPI, and others may own their names there.
    """
    owners = ["kruntimes" + re.sub(r"([A-Z])", r"-\1", name).lower() for name in names]
    return f"install the distribution{'s' if len(owners) > 1 else ''} {', '.join(owners)}"


def _builders(
    configuration: Configuration, registry: PluginRegistry, attempts: BuildAttempts | None
) -> list[_ProfileBuilder]:
    noted: BuildAttempts = {} if attempts is None else attempts
    profiles = configured_profiles(configuration)
    return [_ProfileBuilder(profile, registry, configuration.origin, noted) for profile in profiles]


@dataclass(frozen=True, slots=True)
class _ProfileBuilder:
    """One profile as configured, and the installed plugins that it is built of."""

    profile: ConfiguredProfile
    registry: PluginRegistry
    origin: Origin
    attempts: BuildAttempts

    def check_names(self) -> None:
        """Raises `ConfigurationError` for a plugin that is named and not installed."""
        path, plugins = self.profile.path, self.profile.plugins
        named = [((*path, "disabled", at), name) for at, name in enumerate(plugins.disabled)]
        named += [((*path, "enabled", at), entry.name) for at, entry in enumerate(plugins.enabled)]
        for place, name in named:
            if name == EVERY or self.registry.discovered(name):
                continue
            if name in SUPPLIED:
                raise self.origin.error(place, f"plugin {name} is not installed: {to_install(name)}")
            hint = did_you_mean(name, self.registry.names)
            raise self.origin.error(place, f"no plugin {name!r} is installed{hint}")

    def build(self) -> Profile:
        """Build the plugins that are active. Raises as `build_profiles`."""
        active, plugins = [], []
        for plugin in configured_plugins(self.profile, self.registry):
            try:
                if is_active(plugin, self.registry):
                    active.append(plugin)
                    plugins.append(self._attempt(plugin))
            except LoadError as error:
                raise error.advising(self._how_to_disable(plugin)) from error
        return Profile(
            name=self.profile.name,
            plugins=tuple(plugins),
            runtimes=self.profile.runtimes,
            build=partial(_build_again, active, self.registry),
        )

    def check_capacity(self, built: Profile) -> None:
        """Raises `ConfigurationError` where no plugin of the profile that was built provides capacity."""
        if any(CAPACITY in plugin.provides for plugin in built.plugins):
            return
        supplied = "RuntimePodAvailability"
        remedy = f"enable {supplied}" if self.registry.discovered(supplied) else to_install(supplied)
        raise self.origin.complaint(
            self.profile.path,
            f"no active plugin of profile {built.name} provides capacity, so no filter would keep Runs off"
            f" Pods that are full or not ready: {remedy}, or set allowNoCapacityFilter: true",
        )

    def states(self, imports: bool) -> list[PluginState]:
        """See `describe_plugins`. imports: import what is not active, to know its hooks."""
        configured = {plugin.name: plugin for plugin in configured_plugins(self.profile, self.registry)}
        if imports:
            self._build_what_was_not_tried(configured.values())
        names = dict.fromkeys([*configured, *self.registry.names])
        states = [state for name in names for state in self._states(name, configured.get(name), imports)]
        for claim in self.registry.shadowed:
            why = f"{claim.shadowed_by} comes first on the path, and counts: uninstall one of the two"
            states.append(_state(claim, self.profile, ActivationState.SHADOWED, why=why))
        active = [state for state in states if state.state is ActivationState.ACTIVE]
        rest = [state for state in states if state.state is not ActivationState.ACTIVE]
        return active + sorted(rest, key=lambda state: state.name)

    def _attempt(self, plugin: ConfiguredPlugin) -> ActivePlugin:
        """Build a plugin, and note what became of it. Raises as `_build`."""
        key = (self.profile.name, plugin.name)
        try:
            loaded = self.registry.load(plugin.name)
            self._check_single(loaded)
            built = self._build(plugin, loaded)
        except InputError as error:
            self.attempts[key] = error
            raise
        self.attempts[key] = built
        return built

    def _check_single(self, loaded: LoadedPlugin) -> None:
        """Raises `LoadError` for one class as two plugins of a profile, or one object in two profiles."""
        for (other_profile, name), built in self.attempts.items():
            if isinstance(built, InputError) or self.registry.load(name).value is not loaded.value:
                continue
            if other_profile == self.profile.name and name != loaded.name:
                problem = f"it is plugin {name} of {built.origin} under another name: keep one of the two"
                raise LoadError(loaded.name, loaded.origin, problem)
            if other_profile != self.profile.name and not inspect.isclass(loaded.value):
                problem = (
                    f"it is one object, which profile {other_profile} has already, and each profile needs an"
                    " instance of its own: name a class in its entry point, or disable it in one of the two"
                )
                raise LoadError(loaded.name, loaded.origin, problem)

    def _build(self, plugin: ConfiguredPlugin, loaded: LoadedPlugin) -> ActivePlugin:
        model = loaded.declaration.arguments
        if plugin.path is not None:
            path = (*plugin.path, "arguments")
            if plugin.arguments and model is None:
                raise self.origin.error(path, f"{plugin.name} takes no arguments: remove them")
            unknown = unknown_argument(model, plugin.arguments)
            if unknown is not None:
                hint = did_you_mean(str(unknown[-1]), known_arguments(model, unknown, plugin.arguments))
                raise self.origin.error((*path, *unknown), f"unknown argument{hint}")
        try:
            return build_plugin(loaded, plugin.arguments, plugin.weight, self.registry.current)
        except ValidationError as error:
            # Not "from error", whose traceback would show the values, secrets among them.
            raise self._bad_arguments(error, model, plugin) from None

    def _bad_arguments(
        self, error: ValidationError, model: Any, plugin: ConfiguredPlugin
    ) -> ConfigurationError:
        details = error.errors(include_url=False)[0]
        hidden = hides(model, details["loc"], plugin.arguments)
        problem = _PROBLEMS.get(details["type"]) or worded(details["msg"], details["input"], hidden=hidden)
        if plugin.path is not None:
            return self.origin.error((*plugin.path, "arguments", *details["loc"]), problem)
        where, enabled = dotted(("arguments", *details["loc"])), (*self.profile.path, "enabled")
        advice = f"name {plugin.name} in {dotted(enabled)} with its arguments, or disable it"
        return self.origin.complaint(
            enabled, f"{plugin.name} is on by default: its {where} {problem}: {advice}"
        )

    def _how_to_disable(self, plugin: ConfiguredPlugin) -> str:
        place = dotted(self.profile.path)
        if plugin.path is not None:
            return f"to start without it, take it out of {place}.enabled"
        return f"to start without it, configure {place}: {{disabled: [{plugin.name}]}}"

    def _build_what_was_not_tried(self, plugins: Iterable[ConfiguredPlugin]) -> None:
        for plugin in plugins:
            with suppress(InputError):
                if (self.profile.name, plugin.name) not in self.attempts and is_active(plugin, self.registry):
                    self._attempt(plugin)

    def _states(self, name: str, plugin: ConfiguredPlugin | None, imports: bool) -> Iterator[PluginState]:
        for claim in self.registry.discovered(name):
            if plugin is None and name in self.profile.plugins.disabled:
                why = f"named in {dotted(self.profile.path)}.disabled"
                yield _state(claim, self.profile, ActivationState.DISABLED, why=why)
            elif plugin is None and not imports:
                yield _state(claim, self.profile, ActivationState.DISABLED, why=self._why_not_named())
            elif (error := self.registry.error(name)) is None:
                yield self._state_of_loaded(claim, plugin)
            elif self.registry.is_duplicate(name):
                yield _state(claim, self.profile, ActivationState.DUPLICATE, why=str(error))
            else:
                yield _state(claim, self.profile, ActivationState.BROKEN, why=error.cause)

    def _state_of_loaded(self, claim: DiscoveredPlugin, plugin: ConfiguredPlugin | None) -> PluginState:
        loaded = self.registry.load(claim.name)
        hooks = tuple(hook for hook in hook_names() if hook in loaded.hooks)
        if plugin is None:
            return _state(claim, self.profile, ActivationState.DISABLED, hooks, why=self._why_not_named())
        if not is_active(plugin, self.registry):
            why = f"off by default: name it in {dotted(self.profile.path)}.enabled to use it"
            return _state(claim, self.profile, ActivationState.OFF_BY_DEFAULT, hooks, why=why)
        error = self.attempts.get((self.profile.name, claim.name))
        if isinstance(error, InputError):
            why = error.cause if isinstance(error, LoadError) else str(error)
            return _state(claim, self.profile, ActivationState.BROKEN, hooks, why=why)
        weight = plugin.weight if "score" in hooks else None
        return _state(claim, self.profile, ActivationState.ACTIVE, hooks, weight)

    def _why_not_named(self) -> str:
        place = dotted(self.profile.path)
        return f'{place}.disabled has "*", and {place}.enabled does not name it'


def _build_again(
    active: Iterable[ConfiguredPlugin], registry: PluginRegistry, current: CurrentCall
) -> tuple[ActivePlugin, ...]:
    """New instances of the plugins of a profile. Raises `PluginError` for one that cannot be built now."""
    plugins = []
    for plugin in active:
        loaded = registry.load(plugin.name)
        try:
            plugins.append(build_plugin(loaded, plugin.arguments, plugin.weight, current))
        except (LoadError, ValidationError) as error:
            cause = error.cause if isinstance(error, LoadError) else describe(error)
            origin = f"{loaded.distribution} {loaded.version}"
            raise PluginError(loaded.name, origin, "constructor", cause) from error
    return tuple(plugins)


def _check_queue(profiles: Profiles, origin: Origin) -> None:
    origins: dict[str, str] = {}
    for profile in profiles.all:
        origins |= {one.name: f"{one.name} ({one.origin})" for one in profile.implementing("queue_key")}
    if len(origins) > 1:
        owners = " and ".join(origins.values())
        raise origin.complaint(
            ("plugins",), f"{owners} all order the queue, and a host has one: keep one enabled"
        )


def _state(
    claim: DiscoveredPlugin,
    profile: ConfiguredProfile | None,
    state: ActivationState,
    hooks: tuple[str, ...] = (),
    weight: int | None = None,
    why: str = "",
) -> PluginState:
    name = profile.name if profile is not None else None
    return PluginState(name, claim.name, claim.distribution, claim.version, state, hooks, weight, why)
