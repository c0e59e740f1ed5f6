"""The installed plugins, each imported when it is first needed and at most once."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import Distribution

from kruntimes_core.framework.plugin_registry.checks import check_plugin
from kruntimes_core.framework.plugin_registry.declarations import Declaration, is_off_by_default
from kruntimes_core.framework.plugin_registry.discovery import DiscoveredPlugin, discover
from kruntimes_core.framework.plugin_registry.failures import InvalidPlugin, LoadError
from kruntimes_core.framework.plugin_registry.imports import import_plugin


@dataclass(frozen=True, slots=True)
class LoadedPlugin:
    """A plugin that was imported and checked, not yet built.

    value: the class, module or object that its entry point names. hooks: hook name to the names of
    its arguments. origin: distribution, version and entry point, for errors.
    """

    name: str
    distribution: str
    version: str
    origin: str
    value: object
    declaration: Declaration
    hooks: Mapping[str, tuple[str, ...]]


class Catalog:
    """What is installed, by plugin name. Knows every claim at once, and imports nothing unasked."""

    def __init__(self, distributions: Iterable[Distribution] | None = None) -> None:
        """distributions: where to look; the environment of this process when None."""
        self._claims: dict[str, tuple[DiscoveredPlugin, ...]] = {}
        for candidate in discover(distributions):
            self._claims[candidate.name] = (*self._claims.get(candidate.name, ()), candidate)
        self._loaded: dict[str, LoadedPlugin | LoadError] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all installed plugins, sorted; broken and doubly claimed ones included."""
        return tuple(self._claims)

    def claims(self, name: str) -> tuple[DiscoveredPlugin, ...]:
        """The distributions that claim `name`: one where all is well, none where it is unknown."""
        return self._claims.get(name, ())

    def is_duplicate(self, name: str) -> bool:
        """Whether more than one distribution claims `name`, so that nobody can tell which is meant."""
        return len(self.claims(name)) > 1

    def load(self, name: str) -> LoadedPlugin:
        """Import and check the plugin `name`, which must be among `names`; remembers the outcome.

        Raises `LoadError`: claimed twice, not importable, or refused by a check.
        """
        if name not in self._loaded:
            self._loaded[name] = _load(self._claims[name])
        outcome = self._loaded[name]
        if isinstance(outcome, LoadError):
            raise outcome.with_traceback(None)
        return outcome

    def error(self, name: str) -> LoadError | None:
        """Why `name` cannot be loaded, or None. Loads it."""
        try:
            self.load(name)
        except LoadError as error:
            return error
        return None


def _load(claims: tuple[DiscoveredPlugin, ...]) -> LoadedPlugin | LoadError:
    first = claims[0]
    if len(claims) > 1:
        owners = " and ".join(f"{claim.distribution} {claim.version}" for claim in claims)
        return LoadError(first.name, owners, "both claim this name: uninstall one of them")
    value: object = None
    try:
        value = import_plugin(first)
        declaration, hooks = check_plugin(value)
    except InvalidPlugin as refusal:
        return LoadError(first.name, first.origin, str(refusal), off_by_default=is_off_by_default(value))
    if not inspect.isclass(value):
        # Its Arguments are its class's: it is built already, and what is configured would be lost.
        declaration = replace(declaration, arguments=None)
    return LoadedPlugin(
        first.name, first.distribution, first.version, first.origin, value, declaration, hooks
    )
