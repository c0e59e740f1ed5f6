"""What `kruntimes plugins list` shows: every installed plugin, and why it decides or does not.

It works when the host would not start: a broken plugin is a row, not an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from kruntimes_core.framework.configuration.consistency import ConfiguredProfile, configured_profiles
from kruntimes_core.framework.configuration.failures import dotted
from kruntimes_core.framework.configuration.models import Configuration
from kruntimes_core.framework.configuration.selection import ConfiguredPlugin, configured_plugins, is_active
from kruntimes_core.framework.hookspecs import hook_names
from kruntimes_core.framework.plugin_registry import PluginRegistry
from kruntimes_core.framework.plugin_registry.discovery import DiscoveredPlugin


class ActivationState(StrEnum):
    """What a plugin is to this host."""

    ACTIVE = "active"
    OFF_BY_DEFAULT = "off by default"
    DISABLED = "disabled"
    BROKEN = "broken"
    DUPLICATE = "duplicate"
    UNKNOWN = "unknown"
    """The configuration cannot be read, so the plugin may be disabled: it was not imported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginState:
    """One claim of a distribution to a plugin name, in one profile.

    hooks: in the order of a cycle; empty where the plugin was not or could not be imported.
    weight: of an active scorer; None for a plugin that does not score, to which a weight means nothing.
    profile: whose state it is; None when the configuration cannot be read.
    why: why it is not active, in one line; empty when it is.
    """

    name: str
    distribution: str
    version: str
    state: ActivationState
    hooks: tuple[str, ...] = ()
    weight: int | None = None
    profile: str | None = None
    why: str = ""


def describe_plugins(configuration: Configuration | None, registry: PluginRegistry) -> list[PluginState]:
    """The state of every installed plugin in each profile.

    configuration: None when it cannot be read; then there are no profiles. Out: profile by profile,
    first what is active, in the order in which it is asked, then the rest by name. Raises nothing,
    and imports no plugin that every profile disables by its name.
    """
    if configuration is None:
        why = "the configuration cannot be read: correct it first"
        return [
            _state(claim, None, ActivationState.UNKNOWN, why=why)
            for name in registry.names
            for claim in registry.discovered(name)
        ]
    return [state for plan in configured_profiles(configuration) for state in _of_profile(plan, registry)]


def _of_profile(plan: ConfiguredProfile, registry: PluginRegistry) -> list[PluginState]:
    meant = {choice.name: choice for choice in configured_plugins(plan, registry)}
    others = [name for name in registry.names if name not in meant]
    states = [state for name in (*meant, *others) for state in _states(name, meant.get(name), plan, registry)]
    active = [state for state in states if state.state is ActivationState.ACTIVE]
    rest = [state for state in states if state.state is not ActivationState.ACTIVE]
    return active + sorted(rest, key=lambda state: state.name)


def _states(
    name: str, choice: ConfiguredPlugin | None, plan: ConfiguredProfile, registry: PluginRegistry
) -> Iterator[PluginState]:
    for claim in registry.discovered(name):
        if choice is None and name in plan.plugins.disabled:
            yield _state(claim, plan, ActivationState.DISABLED, why=f"named in {dotted(plan.path)}.disabled")
        elif (error := registry.error(name)) is not None:
            state = ActivationState.DUPLICATE if registry.is_duplicate(name) else ActivationState.BROKEN
            yield _state(
                claim, plan, state, why=error.cause if state is ActivationState.BROKEN else str(error)
            )
        else:
            yield _loaded(claim, choice, plan, registry)


def _loaded(
    claim: DiscoveredPlugin,
    choice: ConfiguredPlugin | None,
    plan: ConfiguredProfile,
    registry: PluginRegistry,
) -> PluginState:
    installed = registry.load(claim.name)
    hooks = tuple(hook for hook in hook_names() if hook in installed.hooks)
    place = dotted(plan.path)
    if choice is None:
        why = f'{place}.disabled has "*", and {place}.enabled does not name it'
        return _state(claim, plan, ActivationState.DISABLED, hooks=hooks, why=why)
    if not is_active(choice, registry):
        why = f"off by default: name it in {place}.enabled to use it"
        return _state(claim, plan, ActivationState.OFF_BY_DEFAULT, hooks=hooks, why=why)
    weight = choice.weight if "score" in hooks else None
    return _state(claim, plan, ActivationState.ACTIVE, hooks=hooks, weight=weight)


def _state(
    claim: DiscoveredPlugin,
    plan: ConfiguredProfile | None,
    state: ActivationState,
    *,
    hooks: tuple[str, ...] = (),
    weight: int | None = None,
    why: str = "",
) -> PluginState:
    return PluginState(
        name=claim.name,
        distribution=claim.distribution,
        version=claim.version,
        state=state,
        hooks=hooks,
        weight=weight,
        profile=plan.name if plan is not None else None,
        why=why,
    )
