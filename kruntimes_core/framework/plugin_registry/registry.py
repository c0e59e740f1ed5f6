"""The registry of plugins: each one that an installed distribution names in its entry points is imported when
first needed and at most once, and built for each profile from there.

pluggy would import the first claim to a name and silently skip a second one. The registry keeps every claim
with its owner, so that the host can refuse both and `plugins list` can show them.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from importlib import invalidate_caches
from importlib.metadata import Distribution, distributions
from typing import Any

from pydantic import ValidationError

from kruntimes_core.framework.plugin_registry.checks import (
    Declaration,
    check_plugin,
    check_specification,
    is_off_by_default,
)
from kruntimes_core.framework.plugin_registry.discovery import (
    OTHER_FILES,
    DiscoveredPlugin,
    changed_owners,
    discover,
    module_changed_at,
    other_owner,
    owner_key,
)
from kruntimes_core.framework.plugin_registry.errors import InvalidPlugin, LoadError, plugin_code
from kruntimes_core.framework.profile import ActivePlugin, CurrentCall, Hook


@dataclass(frozen=True, slots=True)
class LoadedPlugin:
    """A plugin that was imported and checked, not yet built.

    value: the class, module or object that its entry point names. origin: distribution, version and entry
    point, for errors.
    """

    name: str
    distribution: str
    version: str
    origin: str
    value: object
    declaration: Declaration
    hooks: Mapping[str, Hook]
    code_changed_at: int | None
    """See `module_changed_at`."""


class PluginRegistry:
    """What is installed, by plugin name. It reads all entry points at once and imports a plugin by `load`."""

    def __init__(self, distributions: Iterable[Distribution] | None = None) -> None:
        """distributions: where to look; the environment of this process when None."""
        # The path as it is now: a plugin may change it.
        self._path = list(sys.path)
        self._given = None if distributions is None else tuple(distributions)
        self._discovered: dict[str, tuple[DiscoveredPlugin, ...]] = {}
        claims = discover(self._installed)
        for plugin in claims:
            if plugin.shadowed_by is None:
                self._discovered[plugin.name] = (*self.discovered(plugin.name), plugin)
        self.shadowed = tuple(plugin for plugin in claims if plugin.shadowed_by is not None)
        """Claims that do not count: another version of their distribution comes first on the path."""
        self._loaded: dict[str, LoadedPlugin | LoadError] = {}
        self.current = CurrentCall()
        """What is being imported or built now: for a thread that limits the time of that."""
        self.changed: Mapping[str, str] = {}
        """Distributions that a restart would load otherwise: `1.0 -> 1.1` by name. See `again`."""

    @property
    def _installed(self) -> Iterable[Distribution]:
        return distributions(path=self._path) if self._given is None else self._given

    def version_of(self, distribution: str) -> str:
        """The version of a distribution that lies on the disk now; `none` where there is none to be read."""
        try:
            return next(iter(Distribution.discover(name=distribution, path=self._path))).version
        except Exception:  # noqa: BLE001 - not installed, or with broken metadata
            return "none"

    def again(self) -> PluginRegistry:
        """The same plugins for a reload, and which distributions changed on the disk meanwhile.

        Python does not load a module twice. So what is loaded stays, under the version that it had; what
        failed is tried again; and a plugin of a changed distribution that is not loaded yet is refused: its
        version would be known wrongly, or its modules be of two versions.
        """
        invalidate_caches()
        claims = [claim for claims in self._discovered.values() for claim in claims]
        again = copy(self)
        again.changed = self._edited() | changed_owners(claims, discover(self._installed))
        again.current = CurrentCall()
        again._loaded = {
            name: outcome
            for name, outcome in self._loaded.items()
            if isinstance(outcome, LoadedPlugin) or again._change_of(name) is not None
        }
        return again

    def _edited(self) -> dict[str, str]:
        """The distributions of loaded plugins whose files were changed, as those of an editable install."""
        return {
            owner_key(claim): f"{claim.version} -> {claim.version}{OTHER_FILES}"
            for name, loaded in self._loaded.items()
            if isinstance(loaded, LoadedPlugin)
            for claim in self._discovered[name]
            if claim.entry_point is not None
            and module_changed_at(claim.entry_point.module) != loaded.code_changed_at
        }

    def _change_of(self, name: str) -> str | None:
        """The change of the first distribution with a claim to `name` that changed."""
        for claim in self.discovered(name):
            if (change := self.changed.get(owner_key(claim))) is not None:
                return f"{claim.distribution} changed since the start ({change}): restart to load it"
        return None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all installed plugins, sorted; broken and doubly claimed ones included."""
        return tuple(self._discovered)

    def discovered(self, name: str) -> tuple[DiscoveredPlugin, ...]:
        """The claims to `name`: one where all is well, none where the name is unknown."""
        return self._discovered.get(name, ())

    def is_duplicate(self, name: str) -> bool:
        """Whether more than one distribution claims `name`, so that it is unknown which one is wanted."""
        return len(self.discovered(name)) > 1

    def load(self, name: str) -> LoadedPlugin:
        """Import and check the plugin `name`, which must be among `names`; remembers the outcome.

        Raises `LoadError`: claimed twice, not importable, or refused by a check.
        """
        if name not in self._loaded:
            first = self._discovered[name][0]
            if (change := self._change_of(name)) is not None:
                raise LoadError(name, first.origin, change)
            # A filter that turns warnings into errors would do so in this host's code too.
            with (
                warnings.catch_warnings(),
                self.current.load(name, f"{first.distribution} {first.version}", "import"),
            ):
                self._loaded[name] = _load(self._discovered[name], self._installed)
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


def build_plugin(
    loaded: LoadedPlugin,
    arguments: Mapping[str, Any] | None = None,
    weight: int = 1,
    current: CurrentCall | None = None,
) -> ActivePlugin:
    """Build one plugin for one profile, and resolve its hooks.

    arguments: as configured; None when nothing is. current: where that is noted. Raises
    `pydantic.ValidationError` for arguments that the plugin's `Arguments` refuses, and `LoadError` for
    everything else.
    """
    noting = current or CurrentCall()
    try:
        with (
            warnings.catch_warnings(),
            noting.load(loaded.name, f"{loaded.distribution} {loaded.version}", "constructor"),
        ):
            plugin = _instance(loaded, arguments)
            # Attributes may be set while it is built, so what was checked of the class is checked again.
            declaration, hooks = check_plugin(plugin)
            check_specification(plugin)
    except InvalidPlugin as invalid:
        raise LoadError(loaded.name, loaded.origin, str(invalid)) from invalid
    return ActivePlugin(
        name=loaded.name,
        distribution=loaded.distribution,
        version=loaded.version,
        hooks=hooks,
        reasons=declaration.reasons,
        weight=weight,
        stateful=declaration.stateful,
        provides=declaration.provides,
        normalize_keeps_best=declaration.normalize_keeps_best,
    )


def _import(discovered: DiscoveredPlugin, installed: Iterable[Distribution] | None) -> object:
    """What the entry point names: a class, a module or an object.

    Raises `InvalidPlugin`, also where the module is another distribution's, which may fail, or may lack what
    the entry point names.
    """
    entry_point = discovered.entry_point
    if discovered.problem is not None or entry_point is None:
        raise InvalidPlugin(discovered.problem)
    try:
        with plugin_code(advice=f"correct or upgrade {discovered.distribution}"):
            return entry_point.load()
    finally:
        other = other_owner(entry_point, installed)
        if other is not None:
            raise InvalidPlugin(
                f"its module {entry_point.module} is shipped by {discovered.distribution} and by {other},"
                " whose file Python imports: uninstall one of the two"
            )


def _load(
    discovered: tuple[DiscoveredPlugin, ...], installed: Iterable[Distribution] | None
) -> LoadedPlugin | LoadError:
    first = discovered[0]
    if len(discovered) > 1:
        owners = " and ".join(f"{one.distribution} {one.version}" for one in discovered)
        return LoadError(first.name, owners, "both claim this name: uninstall one of them")
    value: object = None
    try:
        value = _import(first, installed)
        declaration, hooks = check_plugin(value)
    except InvalidPlugin as invalid:
        return LoadError(first.name, first.origin, str(invalid), off_by_default=is_off_by_default(value))
    if not inspect.isclass(value):
        # Its Arguments are its class's: it is built already, and what is configured would be lost.
        declaration = replace(declaration, arguments=None)
    module = first.entry_point.module if first.entry_point is not None else ""
    return LoadedPlugin(
        first.name,
        first.distribution,
        first.version,
        first.origin,
        value,
        declaration,
        hooks,
        module_changed_at(module),
    )


def _instance(loaded: LoadedPlugin, arguments: Mapping[str, Any] | None) -> object:
    if not inspect.isclass(loaded.value):
        return loaded.value
    create: Callable[..., object] = loaded.value
    model = loaded.declaration.arguments
    advice = f"correct or upgrade {loaded.distribution}"
    with plugin_code("its Arguments fail", advice, passes=ValidationError):
        given = () if model is None else (model.model_validate(dict(arguments or {})),)
    with plugin_code("it cannot be built", advice):
        return create(*given)
