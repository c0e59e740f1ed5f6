"""Plugins out of plain functions, and plugins that are watched, for tests of a host."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kruntimes_core.framework.configuration import Configuration, Profiles, build_profiles
from kruntimes_core.framework.plugin_registry import PluginRegistry
from kruntimes_core.framework.profile import ActivePlugin, Hook, Profile, wrap_hooks


def fake_plugin(
    name: str = "Fake",
    *,
    reasons: Iterable[str] = (),
    weight: int = 1,
    stateful: bool = False,
    normalize_keeps_best: bool = False,
    **hooks: Callable[..., Any],
) -> ActivePlugin:
    """A plugin whose hooks are the given functions, each with the arguments that it names.

    reasons: CamelCase names; the text of each is "waiting for <name>".
    """
    return ActivePlugin(
        name=name,
        distribution=f"fake-{name.lower()}",
        version="1.0",
        hooks={
            hook: Hook(function, tuple(inspect.signature(function).parameters))
            for hook, function in hooks.items()
        },
        reasons={reason: reason for reason in reasons},
        weight=weight,
        stateful=stateful,
        normalize_keeps_best=normalize_keeps_best,
    )


def profiles_of(*plugins: ActivePlugin) -> Profiles:
    """One profile for all Runs, with these plugins in this order."""
    return Profiles((Profile(plugins=plugins),))


def installed_profiles() -> Profiles:
    """What the default configuration makes of the plugins that are installed."""
    return build_profiles(Configuration(), PluginRegistry())


class Calls(list[tuple[str, str, Mapping[str, Any]]]):
    """Calls in their order: plugin, hook, arguments by name."""

    def count(self, hook: str, plugin: str | None = None) -> int:  # type: ignore[override]
        """How often a hook was asked, of one plugin or of all."""
        return sum(1 for name, asked, _ in self if asked == hook and plugin in (None, name))

    @property
    def hooks(self) -> Counter[str]:
        """How often each hook was asked."""
        return Counter(hook for _, hook, _ in self)


def watched(profiles: Profiles) -> tuple[Profiles, Calls]:
    """The same profiles, and the list of calls that they will add to."""
    calls = Calls()

    def noting(plugin: ActivePlugin, name: str, hook: Hook) -> Callable[..., Any]:
        def noted(*arguments: Any) -> Any:
            calls.append((plugin.name, name, dict(zip(hook.names, arguments, strict=True))))
            return hook.function(*arguments)

        return noted

    return wrap_hooks(profiles, noting), calls
