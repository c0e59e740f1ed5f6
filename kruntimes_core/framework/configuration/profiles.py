"""From a configuration and what is installed to the profiles that decide."""

from __future__ import annotations

from collections.abc import Iterable

import pluggy
from pydantic import ValidationError

from kruntimes_core.framework.configuration.consistency import (
    ConfiguredProfile,
    check_consistency,
    configured_profiles,
)
from kruntimes_core.framework.configuration.failures import ConfigurationError, Origin, dotted
from kruntimes_core.framework.configuration.files import worded
from kruntimes_core.framework.configuration.models import Configuration
from kruntimes_core.framework.configuration.selection import (
    ConfiguredPlugin,
    advice_to_disable,
    check_names,
    configured_plugins,
    is_active,
    to_install,
)
from kruntimes_core.framework.plugin_registry import (
    CAPACITY,
    LoadedPlugin,
    LoadError,
    PluginRegistry,
    build_plugin,
    create_manager,
)
from kruntimes_core.framework.profile import ActivePlugin, Profile, Profiles

# What pydantic says of an argument that is not there, or should not be, as the rest of a sentence.
_PROBLEMS = {"missing": "is required: add it", "extra_forbidden": "unknown argument: correct or remove it"}


def build_profiles(configuration: Configuration, registry: PluginRegistry) -> Profiles:
    """Load and build every plugin that `configuration` means.

    Raises `ConfigurationError` for names, arguments and combinations that cannot be, and `LoadError`
    for a plugin that is meant and broken; nothing is skipped in silence.
    """
    check_consistency(configuration)
    planned = list(configured_profiles(configuration))
    for plan in planned:
        check_names(plan, registry, configuration.origin)
    profiles = Profiles(tuple(_build_profile(plan, registry, configuration.origin) for plan in planned))
    _check_queue(profiles, configuration.origin)
    if not configuration.allow_no_capacity_filter:
        for plan, profile in zip(planned, profiles.all, strict=True):
            _check_capacity(plan, profile, registry, configuration.origin)
    return profiles


def _build_profile(plan: ConfiguredProfile, registry: PluginRegistry, origin: Origin) -> Profile:
    manager = create_manager()
    plugins = []
    for choice in configured_plugins(plan, registry):
        try:
            if is_active(choice, registry):
                plugins.append(_build(manager, registry.load(choice.name), choice, plan, origin))
        except LoadError as error:
            raise error.advising(advice_to_disable(choice, plan)) from error
    return Profile(name=plan.name, plugins=tuple(plugins), runtimes=plan.runtimes)


def _build(
    manager: pluggy.PluginManager,
    installed: LoadedPlugin,
    choice: ConfiguredPlugin,
    plan: ConfiguredProfile,
    origin: Origin,
) -> ActivePlugin:
    if choice.arguments and choice.path and installed.declaration.arguments is None:
        raise origin.error((*choice.path, "arguments"), f"{choice.name} takes no arguments: remove them")
    try:
        return build_plugin(manager, installed, arguments=choice.arguments, weight=choice.weight)
    except ValidationError as error:
        raise _bad_arguments(error, choice, plan, origin) from error


def _bad_arguments(
    error: ValidationError, choice: ConfiguredPlugin, plan: ConfiguredProfile, origin: Origin
) -> ConfigurationError:
    details = error.errors(include_url=False)[0]
    problem = _PROBLEMS.get(details["type"]) or worded(details["msg"], details["input"])
    if choice.path is not None:
        return origin.error((*choice.path, "arguments", *details["loc"]), problem)
    where, enabled = dotted(("arguments", *details["loc"])), (*plan.path, "enabled")
    advice = f"name {choice.name} in {dotted(enabled)} with its arguments, or disable it"
    return origin.complaint(enabled, f"{choice.name} is on by default: its {where} {problem}: {advice}")


def _check_queue(profiles: Profiles, origin: Origin) -> None:
    origins: dict[str, str] = {}
    for profile in profiles.all:
        origins |= {one.name: f"{one.name} ({one.origin})" for one in profile.implementing("queue_key")}
    if len(origins) > 1:
        owners = _and(origins.values())
        raise origin.complaint(
            ("plugins",), f"{owners} all order the queue, and a host has one: keep one enabled"
        )


def _check_capacity(
    plan: ConfiguredProfile, profile: Profile, registry: PluginRegistry, origin: Origin
) -> None:
    if any(CAPACITY in plugin.provides for plugin in profile.plugins):
        return
    supplied = "RuntimePodAvailability"
    remedy = f"enable {supplied}" if registry.discovered(supplied) else to_install(supplied)
    raise origin.complaint(
        plan.path,
        f"no active plugin of profile {plan.name} provides capacity, so nothing would look at a Pod's"
        f" readiness, and at its room only when it is reserved: {remedy}, or set allowNoCapacityFilter: true",
    )


def _and(words: Iterable[str]) -> str:
    return " and ".join(words)
