"""Everything that a plugin is refused for at load, before the first Run meets it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Sequence

from kruntimes_core.framework.loading.annotations import check_annotations
from kruntimes_core.framework.loading.declarations import CAPACITY, Declaration, read_declaration
from kruntimes_core.framework.loading.failures import Refusal, describe_exception
from kruntimes_core.framework.loading.manager import Implementation, implementations
from kruntimes_core.framework.loading.signatures import check_function, hook_names
from kruntimes_core.model.messages import did_you_mean


def check_plugin(plugin: object) -> tuple[Declaration, dict[str, tuple[str, ...]]]:
    """What a class, a module or an object declares, and its hooks with the arguments that they name.

    Raises `Refusal` for the first thing that is wrong with it, which may be that looking at it runs code
    of its own (a `__dir__`, a property, a mapping) that fails.
    """
    try:
        return _checked(plugin)
    except (Refusal, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise Refusal(f"it fails when it is looked at: {describe_exception(error)}: correct it") from error


def _checked(plugin: object) -> tuple[Declaration, dict[str, tuple[str, ...]]]:
    found = implementations(plugin)
    _check_marks(plugin, found)
    arguments = {one.hook: check_function(one, plugin) for one in found}
    _check_together(arguments)
    for one in found:
        check_annotations(one.hook, one.function, normalized="normalize" in arguments)
    declaration = read_declaration(plugin)
    if declaration.arguments is not None and inspect.ismodule(plugin):
        raise Refusal("a module cannot be given Arguments: name a class in the entry point")
    if CAPACITY in declaration.provides and "filter" not in arguments:
        raise Refusal(f"it provides {CAPACITY}, but has no filter that could: add one, or remove provides")
    return declaration, arguments


def _check_marks(plugin: object, found: Sequence[Implementation]) -> None:
    known = hook_names()
    for implementation in found:
        if implementation.hook not in known:
            raise Refusal(
                f"it implements {implementation.hook!r}, which is no hook"
                f"{did_you_mean(implementation.hook, known)}"
            )
    marked = {implementation.hook for implementation in found}
    for name in known:
        if name not in marked:
            _check_unmarked(name, inspect.getattr_static(plugin, name, None))
    if not found:
        raise Refusal(f"it has no hooks: mark at least one of {', '.join(known)} with hookimpl")


def _check_unmarked(name: str, attribute: object) -> None:
    """Refuse what looks like a hook and would silently be none."""
    if isinstance(attribute, functools.partial | functools.partialmethod):
        raise Refusal(f"{name} is a functools.partial, which cannot be a hook: write a function")
    is_function = inspect.isfunction(attribute) or inspect.isbuiltin(attribute)
    if is_function or isinstance(attribute, staticmethod | classmethod):
        raise Refusal(f"{name} is a function without a mark: mark it with hookimpl, or rename it")
    if callable(attribute) or isinstance(attribute, property):
        kind = type(attribute).__name__
        raise Refusal(f"{name} is a {kind}, which cannot be a hook: write a function, or rename it")


def _check_together(arguments: dict[str, tuple[str, ...]]) -> None:
    if "normalize" in arguments and "score" not in arguments:
        raise Refusal("it has normalize without score: add the score that is to be normalized")
    if "prefilter" in arguments:
        return
    for hook, names in sorted(arguments.items()):
        if "state" in names:
            raise Refusal(
                f"{hook} names state, but there is no prefilter to make it: add one, or drop the argument"
            )
