"""The same profiles with something around every hook: how calls are watched, counted or timed.

The host asks the wrapped functions as it asks the plugins' own: it cannot tell, and has no code for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.framework.profile import ActivePlugin, Hook, Profile

Wrap = Callable[[ActivePlugin, str, Hook], Callable[..., Any]]
"""Gives what is called in the place of a hook's function, with the same arguments."""


def wrapped(profiles: Profiles, wrap: Wrap) -> Profiles:
    """These profiles with each hook's function in the wrapping that `wrap` gives it."""
    return Profiles(tuple(_wrapped(profile, wrap) for profile in profiles.all))


def _wrapped(profile: Profile, wrap: Wrap) -> Profile:
    return replace(profile, plugins=tuple(_wrapped_plugin(plugin, wrap) for plugin in profile.plugins))


def _wrapped_plugin(plugin: ActivePlugin, wrap: Wrap) -> ActivePlugin:
    hooks = {name: Hook(wrap(plugin, name, hook), hook.names) for name, hook in plugin.hooks.items()}
    return replace(plugin, hooks=hooks)
