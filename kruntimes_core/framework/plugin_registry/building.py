"""From an installed plugin and its arguments to the functions that a cycle calls."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import pluggy
from pydantic import BaseModel, ValidationError

from kruntimes_core.framework.plugin_registry.catalog import LoadedPlugin
from kruntimes_core.framework.plugin_registry.checks import check_plugin
from kruntimes_core.framework.plugin_registry.failures import (
    InvalidPlugin,
    LoadError,
    describe_exception,
)
from kruntimes_core.framework.plugin_registry.manager import register
from kruntimes_core.framework.profile import ActivePlugin, Hook


def build_plugin(
    manager: pluggy.PluginManager,
    installed: LoadedPlugin,
    *,
    arguments: Mapping[str, Any] | None = None,
    weight: int = 1,
) -> ActivePlugin:
    """Build one plugin for one profile, register it in the profile's manager and resolve its hooks.

    arguments: as configured; None when nothing is. Raises `pydantic.ValidationError` for arguments
    that the plugin's `Arguments` refuses, and `LoadError` for everything else.
    """
    try:
        plugin = _instance(installed, arguments)
        # Attributes may be set while it is built, so what was checked of the class is checked again.
        declaration, names = check_plugin(plugin)
        hooks = {
            found.hook: Hook(found.function, names[found.hook])
            for found in register(manager, installed.name, plugin)
        }
    except InvalidPlugin as refusal:
        raise LoadError(installed.name, installed.origin, str(refusal)) from refusal
    return ActivePlugin(
        name=installed.name,
        distribution=installed.distribution,
        version=installed.version,
        hooks=hooks,
        reasons=declaration.reasons,
        weight=weight,
        stateful=declaration.stateful,
        provides=declaration.provides,
        normalize_keeps_best=declaration.normalize_keeps_best,
    )


def _instance(installed: LoadedPlugin, arguments: Mapping[str, Any] | None) -> object:
    if not inspect.isclass(installed.value):
        return installed.value
    create: Callable[..., object] = installed.value
    model = installed.declaration.arguments
    given = () if model is None else (_validated(installed, model, arguments or {}),)
    try:
        return create(*given)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise _broken(installed, "it cannot be built", error) from error


def _validated(installed: LoadedPlugin, model: type[BaseModel], arguments: Mapping[str, Any]) -> BaseModel:
    try:
        return model.model_validate(dict(arguments))
    except (KeyboardInterrupt, ValidationError):
        raise
    except BaseException as error:
        raise _broken(installed, "its Arguments fail", error) from error


def _broken(installed: LoadedPlugin, what: str, error: BaseException) -> InvalidPlugin:
    advice = f"correct or upgrade {installed.distribution}"
    return InvalidPlugin(f"{what}: {describe_exception(error)}: {advice}")
