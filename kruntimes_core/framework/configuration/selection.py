"""Which installed plugins a profile means, in which order.

The order is the configuration's, then this file's, then the alphabet's; never that of installation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kruntimes_core.framework.configuration.consistency import ProfilePlan
from kruntimes_core.framework.configuration.failures import Origin, Path, dotted
from kruntimes_core.framework.configuration.models import EVERY
from kruntimes_core.framework.loading.catalog import Catalog
from kruntimes_core.framework.loading.failures import LoadError
from kruntimes_core.model.messages import did_you_mean

SUPPLIED = (
    "RuntimePodAvailability",
    "RunAffinity",
    "WorkspacePlacement",
    "PreferredRunAffinity",
    "LeastLoaded",
)
"""The specification's plugins in its order: cheap and telling filters first, then the scorers."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A plugin that a profile may mean. path: its entry in `enabled`; None when no entry names it."""

    name: str
    weight: int = 1
    arguments: Mapping[str, Any] | None = None
    path: Path | None = None


def distribution_of(name: str) -> str:
    """The distribution that supplies one of the specification's plugins."""
    return "kruntimes" + re.sub(r"([A-Z])", r"-\1", name).lower()


def to_install(*names: str) -> str:
    """What to do about supplied plugins that are missing.

    No pip command line: the distributions are on no index, where a stranger may hold their names.
    """
    owners = [distribution_of(name) for name in names]
    return f"install the distribution{'s' if len(owners) > 1 else ''} {', '.join(owners)}"


def check_names(plan: ProfilePlan, catalog: Catalog, origin: Origin) -> None:
    """Raises `ConfigurationError` for a name in `enabled` or `disabled` that is not installed."""
    for index, name in enumerate(plan.plugins.disabled):
        if name != EVERY:
            _check_name(name, (*plan.path, "disabled", index), catalog, origin)
    for index, entry in enumerate(plan.plugins.enabled):
        _check_name(entry.name, (*plan.path, "enabled", index), catalog, origin)


def choices(plan: ProfilePlan, catalog: Catalog) -> tuple[Choice, ...]:
    """The installed plugins that `plan` does not disable, in order; imports none of them.

    Those that no entry names are meant only if they are on by default: see `is_meant`.
    """
    entries = {
        entry.name: Choice(entry.name, entry.weight, entry.arguments, (*plan.path, "enabled", index))
        for index, entry in enumerate(plan.plugins.enabled)
        if catalog.claims(entry.name)
    }
    disabled = set(plan.plugins.disabled)
    names: Iterable[str] = entries
    if EVERY not in disabled:
        installed = catalog.names
        names = dict.fromkeys([*(name for name in SUPPLIED if name in installed), *entries, *installed])
    return tuple(entries.get(name, Choice(name)) for name in names if name not in disabled)


def is_meant(choice: Choice, catalog: Catalog) -> bool:
    """Whether the plugin is active: named, or on by default. Raises `LoadError` when that one is broken."""
    try:
        installed = catalog.load(choice.name)
    except LoadError as error:
        if choice.path is None and error.off_by_default:
            return False
        raise
    return choice.path is not None or installed.declaration.on_by_default


def without(choice: Choice, plan: ProfilePlan) -> str:
    """What to do about a plugin that is broken and wanted."""
    place = dotted(plan.path)
    if choice.path is not None:
        return f"to start without it, take it out of {place}.enabled"
    return f"to start without it, configure {place}: {{disabled: [{choice.name}]}}"


def _check_name(name: str, path: Path, catalog: Catalog, origin: Origin) -> None:
    if catalog.claims(name):
        return
    if name in SUPPLIED:
        raise origin.error(path, f"plugin {name} is not installed: {to_install(name)}")
    raise origin.error(path, f"no plugin {name!r} is installed{did_you_mean(name, catalog.names)}")
