"""From an installed plugin and its arguments to the functions that a cycle calls."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import pluggy
from pydantic import BaseModel, ValidationError

from kruntimes_core.framework.loading.catalog import Installed
from kruntimes_core.framework.loading.checks import check_plugin
from kruntimes_core.framework.loading.failures import LoadError, Refusal, describe_exception
from kruntimes_core.framework.loading.manager import register
from kruntimes_core.framework.profile import ActivePlugin, Hook


def build_plugin(
    manager: pluggy.PluginManager,
    installed: Installed,
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
    except Refusal as refusal:
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


def _instance(installed: Installed, arguments: Mapping[str, Any] | None) -> object:
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


def _validated(installed: Installed, model: type[BaseModel], arguments: Mapping[str, Any]) -> BaseModel:
    try:
        return model.model_validate(dict(arguments))
    except (KeyboardInterrupt, ValidationError):
        raise
    except BaseException as error:
        raise _broken(installed, "its Arguments fail", error) from error


def _broken(installed: Installed, what: str, error: BaseException) -> Refusal:
    advice = f"correct or upgrade {installed.distribution}"
    return Refusal(f"{what}: {describe_exception(error)}: {advice}")
