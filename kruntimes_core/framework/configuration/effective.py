"""The configuration with every default filled in: what holds, and which line of which file says so.

`effective_document` is a configuration file again and means the same. A host that is started with it decides
the same after defaults have changed or further plugins were installed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kruntimes_core.framework.configuration.active_plugins import (
    ConfiguredPlugin,
    configured_plugins,
    is_active,
)
from kruntimes_core.framework.configuration.arguments import masked
from kruntimes_core.framework.configuration.models import (
    EVERY,
    Configuration,
    ConfiguredProfile,
    Origin,
    Path,
    Section,
    configured_profiles,
    dotted,
)
from kruntimes_core.framework.plugin_registry import PluginRegistry

DEFAULT = "default"
"""The origin of a value that no file sets."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One field outside of the profiles. field: as `backoff.maxSeconds`. origin: `FILE:LINE` or `default`."""

    field: str
    value: Any
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveEntry:
    """One active plugin of one profile.

    runtimes: None for all that no other profile names. weight: None for a plugin that does not score.
    arguments: as configured, without secrets; None where the plugin's own defaults hold. origin: as of a
    `Setting`.
    """

    profile: str
    runtimes: tuple[str, ...] | None
    name: str
    distribution: str
    version: str
    weight: int | None
    arguments: Mapping[str, Any] | None
    origin: str
    masked: bool = False
    """Whether a secret among the arguments is replaced by `MASK`: read back, it is refused."""


def effective_settings(configuration: Configuration) -> Iterator[Setting]:
    """Every single value, in the order of the file."""
    yield from _settings(configuration, (), configuration.origin)


def active_entries(configuration: Configuration, registry: PluginRegistry) -> Iterator[ActiveEntry]:
    """The active plugins, profile by profile, in the order in which they are called.

    Raises `LoadError` for one that cannot be loaded.
    """
    for profile in configured_profiles(configuration):
        for plugin in configured_plugins(profile, registry):
            if is_active(plugin, registry):
                yield _entry(profile, plugin, registry, configuration.origin)


def effective_document(configuration: Configuration, registry: PluginRegistry) -> dict[str, Any]:
    """All of it as a configuration file that sets every value. Raises as `active_entries`."""
    entries = list(active_entries(configuration, registry))
    whole = _plain(configuration.model_dump(mode="json", by_alias=True))
    sections = {section["name"]: section for section in whole["profiles"]}
    for profile in configured_profiles(configuration):
        enabled = [_written(entry) for entry in entries if entry.profile == profile.name]
        sections.get(profile.name, whole)["plugins"] = {"disabled": [EVERY], "enabled": enabled}
    return dict(whole)


def _settings(section: Section, path: Path, origin: Origin) -> Iterator[Setting]:
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        below = (*path, str(field.alias))
        if isinstance(value, tuple) or name == "plugins":
            continue
        if isinstance(value, Section):
            yield from _settings(value, below, origin)
            continue
        given = name in section.model_fields_set
        yield Setting(dotted(below), _plain(value), origin.place(below) if given else DEFAULT)


def _entry(
    profile: ConfiguredProfile, plugin: ConfiguredPlugin, registry: PluginRegistry, origin: Origin
) -> ActiveEntry:
    loaded = registry.load(plugin.name)
    given = plugin.arguments or None
    arguments = masked(loaded.declaration.arguments, given)
    return ActiveEntry(
        profile=profile.name,
        runtimes=None if profile.runtimes is None else tuple(sorted(profile.runtimes)),
        name=plugin.name,
        distribution=loaded.distribution,
        version=loaded.version,
        weight=plugin.weight if "score" in loaded.hooks else None,
        arguments=arguments,
        masked=arguments != given,
        origin=origin.place(plugin.path) if plugin.path is not None else DEFAULT,
    )


def _written(entry: ActiveEntry) -> dict[str, Any]:
    """An entry of `enabled` that says all that was decided about the plugin."""
    said = {"name": entry.name, "weight": entry.weight, "arguments": entry.arguments}
    return {key: value for key, value in said.items() if value is not None}


def _plain(value: Any) -> Any:
    """The value with whole numbers as people write them: 15, not 15.0."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
