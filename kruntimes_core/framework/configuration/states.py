"""What `kruntimes plugins list` shows: every installed plugin, and why it decides or does not.

It works when the host would not start: a broken plugin is a row, not an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from kruntimes_core.framework.configuration.consistency import ProfilePlan, plans
from kruntimes_core.framework.configuration.failures import dotted
from kruntimes_core.framework.configuration.models import Configuration
from kruntimes_core.framework.configuration.selection import Choice, choices
from kruntimes_core.framework.loading.catalog import Catalog
from kruntimes_core.framework.loading.discovery import Candidate
from kruntimes_core.framework.loading.signatures import hook_names


class State(StrEnum):
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
    """One claim of a distribution to a plugin name.

    hooks: in the order of a cycle; empty where the plugin was not or could not be imported.
    weight: of an active scorer in the first profile that has it. profiles: where it is active.
    why: why it is not active, in one line; empty when it is.
    """

    name: str
    distribution: str
    version: str
    state: State
    hooks: tuple[str, ...] = ()
    weight: int | None = None
    profiles: tuple[str, ...] = ()
    why: str = ""


def describe(configuration: Configuration | None, catalog: Catalog) -> list[PluginState]:
    """The state of every installed plugin, by name.

    configuration: None when it cannot be read. Raises nothing, and imports no plugin that is
    disabled by its name.
    """
    planned = None if configuration is None else list(plans(configuration))
    return [state for name in catalog.names for state in _states(name, planned, catalog)]


def _states(name: str, planned: list[ProfilePlan] | None, catalog: Catalog) -> Iterator[PluginState]:
    for claim in catalog.claims(name):
        if planned is None:
            yield _state(claim, State.UNKNOWN, why="the configuration cannot be read: correct it first")
            continue
        meant = [
            (plan, choice) for plan in planned for choice in choices(plan, catalog) if choice.name == name
        ]
        disabling = next((plan for plan in planned if name in plan.plugins.disabled), None)
        if not meant and disabling is not None:
            yield _state(claim, State.DISABLED, why=f"named in {dotted(disabling.path)}.disabled")
        elif (error := catalog.error(name)) is not None:
            state = State.DUPLICATE if catalog.is_duplicate(name) else State.BROKEN
            yield _state(claim, state, why=error.cause if state is State.BROKEN else str(error))
        else:
            yield _loaded(claim, meant, catalog)


def _loaded(claim: Candidate, meant: list[tuple[ProfilePlan, Choice]], catalog: Catalog) -> PluginState:
    installed = catalog.load(claim.name)
    hooks = tuple(hook for hook in hook_names() if hook in installed.hooks)
    by_default = installed.declaration.on_by_default
    active = [(plan, choice) for plan, choice in meant if by_default or choice.path is not None]
    if active:
        profiles = tuple(plan.name for plan, _ in active)
        weight = active[0][1].weight if "score" in hooks else None
        return _state(claim, State.ACTIVE, hooks=hooks, weight=weight, profiles=profiles)
    if meant:
        why = "off by default: name it in plugins.enabled to use it"
        return _state(claim, State.OFF_BY_DEFAULT, hooks=hooks, why=why)
    why = 'plugins.disabled has "*", and plugins.enabled does not name it'
    return _state(claim, State.DISABLED, hooks=hooks, why=why)


def _state(
    claim: Candidate,
    state: State,
    *,
    hooks: tuple[str, ...] = (),
    weight: int | None = None,
    profiles: tuple[str, ...] = (),
    why: str = "",
) -> PluginState:
    return PluginState(
        name=claim.name,
        distribution=claim.distribution,
        version=claim.version,
        state=state,
        hooks=hooks,
        weight=weight,
        profiles=profiles,
        why=why,
    )
