"""Mistakes that no single field shows: a name twice, a Runtime in two profiles, a start above its end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kruntimes_core.framework.configuration.failures import Path, dotted
from kruntimes_core.framework.configuration.models import EVERY, Configuration, PluginSet

DEFAULT_PROFILE = "default"


@dataclass(frozen=True, slots=True)
class ConfiguredProfile:
    """One profile as configured: its name, its Runtimes (None: all others), its plugins, and where."""

    name: str
    runtimes: frozenset[str] | None
    plugins: PluginSet
    path: Path


def configured_profiles(configuration: Configuration) -> Iterator[ConfiguredProfile]:
    """The default profile, and then the others as they stand in the file."""
    yield ConfiguredProfile(DEFAULT_PROFILE, None, configuration.plugins, ("plugins",))
    for index, section in enumerate(configuration.profiles):
        path = ("profiles", index, "plugins")
        yield ConfiguredProfile(section.name, frozenset(section.runtimes), section.plugins, path)


def check_consistency(configuration: Configuration) -> None:
    """Raises `ConfigurationError` for the first contradiction."""
    for plan in configured_profiles(configuration):
        _check_plugins(configuration, plan)
    _check_profiles(configuration)
    backoff = configuration.backoff
    if backoff.initial_seconds > backoff.max_seconds:
        problem = f"must not exceed backoff.maxSeconds ({backoff.max_seconds:g})"
        raise configuration.origin.error(("backoff", "initialSeconds"), problem)


def _check_plugins(configuration: Configuration, plan: ConfiguredProfile) -> None:
    first: dict[str, Path] = {}
    for index, entry in enumerate(plan.plugins.enabled):
        path = (*plan.path, "enabled", index)
        problem = None
        if entry.name == EVERY:
            problem = '"*" stands in disabled only: name each plugin here'
        elif entry.name in plan.plugins.disabled:
            problem = f"{entry.name} is both enabled and disabled: remove one of the two"
        elif entry.name in first:
            problem = f"{entry.name} is enabled twice ({dotted(first[entry.name])} too): keep one entry"
        if problem is not None:
            raise configuration.origin.error(path, problem)
        first[entry.name] = path


def _check_profiles(configuration: Configuration) -> None:
    names = {DEFAULT_PROFILE: "the profile of all other Runs"}
    owners: dict[str, str] = {}
    for index, section in enumerate(configuration.profiles):
        if section.name in names:
            problem = f"{section.name} is already the name of {names[section.name]}: choose another"
            raise configuration.origin.error(("profiles", index, "name"), problem)
        names[section.name] = f"profiles[{index}]"
        for place, runtime in enumerate(section.runtimes):
            if runtime in owners:
                problem = f"runtime {runtime} already belongs to profile {owners[runtime]}: name it once"
                raise configuration.origin.error(("profiles", index, "runtimes", place), problem)
            owners[runtime] = section.name
