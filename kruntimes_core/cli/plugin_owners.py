"""Which plugin a running function belongs to: by its module and the entry points of what is installed."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kruntimes_core.framework.plugin_registry.discovery import DiscoveredPlugin

HOST = "kruntimes_core"
"""The package of the host itself."""

Function = tuple[str, str]
"""A function by its module and its qualified name."""


class PluginOwners:
    """The installed plugins, by the packages of their entry points."""

    def __init__(self) -> None:
        # Only here: most processes end in time.
        from kruntimes_core.framework.plugin_registry.discovery import discover

        self._claims: dict[str, list[DiscoveredPlugin]] = {}
        for claim in discover():
            if claim.entry_point is not None:
                self._claims.setdefault(package_of(claim.entry_point.module), []).append(claim)

    def place(self, stack: Iterable[Function]) -> str | None:
        """The innermost function of a plugin; without one, the outermost of another package."""
        others = None
        for module, function in stack:
            if named := self._named(module, function):
                return named
            if package_of(module) not in sys.stdlib_module_names | {HOST}:
                others = f"{module}.{function}"
        return others

    def plugin_function(self, stack: Iterable[Function]) -> str | None:
        """The innermost function of a plugin, if there is one."""
        return next(filter(None, (self._named(module, function) for module, function in stack)), None)

    def _named(self, module: str, function: str) -> str | None:
        """A function with its plugin, or those of its package; None where it is of none."""
        claims = [
            claim
            for claim in self._claims.get(package_of(module), ())
            if claim.entry_point is not None and claim.entry_point.module in sys.modules
        ]
        if not claims:
            return None
        exact = [one for one in claims if one.entry_point is not None and one.entry_point.module == module]
        owners: dict[str, list[str]] = {}
        for claim in exact or claims:
            owners.setdefault(f"{claim.distribution} {claim.version}", []).append(claim.name)
        plugins = " or ".join(f"{', '.join(names)} of {owner}" for owner, names in owners.items())
        return f"{module}.{function} (plugin {plugins})"


def function_of(frame: FrameType) -> Function:
    """The function that a frame runs."""
    return str(frame.f_globals.get("__name__")), frame.f_code.co_qualname


def package_of(module: str) -> str:
    """The top-level package of a module."""
    return module.partition(".")[0]
