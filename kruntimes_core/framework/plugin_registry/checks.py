"""The checks that a plugin must pass before it is called for a Run: of its hooks, their signatures and
annotations, and of what it declares by plain attributes.

pluggy accepts what a direct call cannot honour: wrappers, an order of its own, arguments with defaults that
are never passed. Type checkers say nothing about a `hookimpl`. So the host checks, and tells the author.
"""

from __future__ import annotations

import functools
import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pluggy
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from pydantic import BaseModel

from kruntimes_core.framework.hookspecs import PROJECT, SchedulerHooks, argument_names, hook_names
from kruntimes_core.framework.plugin_registry.errors import HOST_API, InvalidPlugin, plugin_code
from kruntimes_core.framework.profile import Hook
from kruntimes_core.framework.runtime.plugin_calls import safe_repr
from kruntimes_core.model.messages import did_you_mean

CAPACITY = "capacity"
"""What a filter provides that rejects Pods without room for the Run."""

_REASON = re.compile(r"[A-Z][A-Za-z0-9]*")
# metav1.Condition takes a reason of 1,024 characters; a text of that length fits every message.
_LONGEST = 1_024
_RETURN = "return"
_WHY_NOT = {
    "wrapper": "wrappers are not supported",
    "hookwrapper": "wrappers are not supported",
    "tryfirst": "the order of plugins is the configuration's",
    "trylast": "the order of plugins is the configuration's",
    "optionalhook": "every hook is specified, so a misspelt one would go unnoticed",
    "specname": "a function has the name of its hook",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """The attributes of a plugin; see the guide for plugin authors."""

    reasons: Mapping[str, str] = field(default_factory=dict)
    arguments: type[BaseModel] | None = None
    stateful: bool = False
    provides: frozenset[str] = frozenset()
    normalize_keeps_best: bool = False
    on_by_default: bool = True


@dataclass(frozen=True, slots=True)
class HookImplementation:
    """A function that a plugin marked with `hookimpl`: for which hook, and with which options."""

    hook: str
    function: Callable[..., Any]
    options: frozenset[str]
    """The marker's options that are not at their default, as `tryfirst`."""


def _marked(plugin: object) -> list[HookImplementation]:
    """What a plugin (a class, a module or an object) marked, by hook name."""
    # A manager without specifications accepts everything, so that more can be said about a misspelt name
    # than that it is unknown.
    manager = pluggy.PluginManager(PROJECT)
    manager.register(plugin)
    found = [
        HookImplementation(
            caller.name,
            implementation.function,
            frozenset(name for name, value in dict(implementation.opts).items() if value),
        )
        for caller in manager.get_hookcallers(plugin) or ()
        for implementation in caller.get_hookimpls()
    ]
    return sorted(found, key=lambda implementation: implementation.hook)


def check_plugin(plugin: object) -> tuple[Declaration, dict[str, Hook]]:
    """What a class, a module or an object declares, and its hooks; those of a class take `self` first.

    Raises `InvalidPlugin` for the first thing that is wrong with it, which may be that looking at it
    runs code of its own (a `__dir__`, a property, a mapping) that fails.
    """
    with plugin_code("it fails when it is looked at", advice="correct it"):
        hooks = _check_hooks(plugin)
        declaration = _read_declaration(plugin)
        _check_declared(plugin, declaration, hooks)
        return declaration, hooks


def check_specification(plugin: object) -> None:
    """Let pluggy compare a built plugin with the specifications. Raises `InvalidPlugin`."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(SchedulerHooks)
    try:
        manager.register(plugin)
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        raise InvalidPlugin(f"pluggy refuses it: {error}") from error


def is_off_by_default(plugin: object) -> bool:
    """Whether a plugin is active only where a configuration names it. Runs none of its code."""
    return inspect.getattr_static(plugin, "on_by_default", True) is False


def _check_hooks(plugin: object) -> dict[str, Hook]:
    found = _marked(plugin)
    _check_marks(plugin, found)
    hooks = {one.hook: Hook(one.function, _check_function(one, plugin)) for one in found}
    _check_together(hooks)
    for name, hook in hooks.items():
        _check_annotations(name, hook.function, normalized="normalize" in hooks)
    return hooks


def _check_declared(plugin: object, declaration: Declaration, hooks: Mapping[str, Hook]) -> None:
    if declaration.arguments is not None and inspect.ismodule(plugin):
        raise InvalidPlugin("a module cannot be given Arguments: name a class in the entry point")
    if CAPACITY in declaration.provides and "filter" not in hooks:
        raise InvalidPlugin(
            f"it provides {CAPACITY}, but has no filter that could: add one, or remove provides"
        )


def _check_marks(plugin: object, found: Sequence[HookImplementation]) -> None:
    known = hook_names()
    for implementation in found:
        if implementation.hook not in known:
            advice = did_you_mean(implementation.hook, known)
            raise InvalidPlugin(f"it implements {implementation.hook!r}, which is not a hook{advice}")
    marked = {implementation.hook for implementation in found}
    for name in known:
        if name not in marked:
            _check_unmarked(name, inspect.getattr_static(plugin, name, None))
    if not found:
        raise InvalidPlugin(f"it has no hooks: mark at least one of {', '.join(known)} with hookimpl")


def _check_unmarked(name: str, attribute: object) -> None:
    """Refuse what looks like a hook and would never be called."""
    if isinstance(attribute, functools.partial | functools.partialmethod):
        raise InvalidPlugin(f"{name} is a functools.partial, which cannot be a hook: write a function")
    is_function = inspect.isfunction(attribute) or inspect.isbuiltin(attribute)
    if is_function or isinstance(attribute, staticmethod | classmethod):
        raise InvalidPlugin(f"{name} is a function without a mark: mark it with hookimpl, or rename it")
    if callable(attribute) or isinstance(attribute, property):
        kind = type(attribute).__name__
        raise InvalidPlugin(f"{name} is a {kind}, which cannot be a hook: write a function, or rename it")


def _check_together(hooks: Mapping[str, Hook]) -> None:
    if "normalize" in hooks and "score" not in hooks:
        raise InvalidPlugin("it has normalize without score: add the score that is to be normalized")
    if "prefilter" in hooks:
        return
    for name, hook in hooks.items():
        if "state" in hook.names:
            raise InvalidPlugin(
                f"{name} takes state, but there is no prefilter to make it: add one, or drop the argument"
            )


def _check_function(implementation: HookImplementation, owner: object) -> tuple[str, ...]:
    """The names of the arguments that an implementation takes, in its order, without `self`.

    owner: the plugin; a class when it is not built yet. Raises `InvalidPlugin`.
    """
    hook, function = implementation.hook, implementation.function
    for option in sorted(implementation.options):
        raise InvalidPlugin(
            f"{hook} is marked with {option}, but {_WHY_NOT[option]}: mark it with a bare hookimpl"
        )
    _check_kind(hook, function)
    _check_self(hook, function, owner)
    parameters = _parameters(hook, function)
    if _is_method(owner, hook):
        parameters = parameters[1:]
    for parameter in parameters:
        _check_parameter(hook, parameter)
    return tuple(parameter.name for parameter in parameters)


def _check_kind(hook: str, function: Callable[..., Any]) -> None:
    for layer in (function, inspect.unwrap(function)):
        if inspect.iscoroutinefunction(layer) or inspect.isasyncgenfunction(layer):
            raise InvalidPlugin(f"{hook} is async, but a hook must answer at once: make it a plain function")
        if inspect.isgeneratorfunction(layer):
            raise InvalidPlugin(
                f"{hook} is a generator, but a hook must return its answer: use return, not yield"
            )


def _parameters(hook: str, function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as error:
        raise InvalidPlugin(f"{hook} has no readable signature: make it a plain Python function") from error


def _is_method(owner: object, hook: str) -> bool:
    """Whether a function of an unbuilt class will get the instance first."""
    return inspect.isclass(owner) and inspect.isfunction(inspect.getattr_static(owner, hook, None))


def _check_self(hook: str, function: Callable[..., Any], owner: object) -> None:
    if not (inspect.ismethod(function) or _is_method(owner, hook)):
        return
    plain = getattr(function, "__func__", function)
    first = next(iter(inspect.signature(plain).parameters), None)
    if first is None or first in argument_names(hook):
        raise InvalidPlugin(f"{hook} is a method without self: add self, or put @staticmethod under hookimpl")


def _check_parameter(hook: str, parameter: inspect.Parameter) -> None:
    name = parameter.name
    if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
        raise InvalidPlugin(
            f"{hook} takes *{name}, but a hook is called with the arguments that it names: name them"
        )
    if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
        raise InvalidPlugin(f"{hook} takes {name} by keyword only: name it before the *")
    if parameter.default is not inspect.Parameter.empty:
        raise InvalidPlugin(f"{hook} gives {name} a default, which would never be used: remove the default")
    known = argument_names(hook)
    if name not in known:
        raise InvalidPlugin(
            f"{hook} takes an argument {name!r}, which this hook does not provide{did_you_mean(name, known)}"
        )


def _check_annotations(hook: str, function: Callable[..., Any], *, normalized: bool) -> None:
    """Compare `function`'s annotations with those of `hook`; raises `InvalidPlugin`.

    normalized: the plugin has a `normalize`, so that its `score` may be of any type.
    """
    expected = typing.get_type_hints(getattr(SchedulerHooks, hook))
    if hook == "score" and not normalized:
        expected[_RETURN] = int
    for name, annotation in _resolved_annotations(function).items():
        if name in expected and not _overlap(expected[name], annotation):
            raise InvalidPlugin(
                f"{hook} {'returns' if name == _RETURN else f'takes {name} as'} {_type_name(annotation)},"
                f" but the hook says {_type_name(expected[name])}: correct the function and its annotation"
            )


def _resolved_annotations(function: Callable[..., Any]) -> Mapping[str, Any]:
    """The annotations that can be resolved now; `None` stands for its type."""
    plain = inspect.unwrap(function)
    namespace = getattr(plain, "__globals__", {})
    resolved = {}
    for name, raw in (getattr(plain, "__annotations__", None) or {}).items():
        holder = types.SimpleNamespace(__annotations__={name: raw})
        try:
            resolved.update(typing.get_type_hints(holder, globalns=namespace))
        except (NameError, AttributeError, TypeError, SyntaxError, ValueError):
            continue  # what cannot be resolved is not compared
    return resolved


def _overlap(expected: Any, annotation: Any) -> bool:
    """Whether a value can be of both types, as far as classes tell."""
    return any(_may_be_both(one, other) for one in _members(expected) for other in _members(annotation))


def _members(annotation: Any) -> tuple[Any, ...]:
    """The classes that an annotation names: those of a union, the origin of a generic."""
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType):
        return tuple(member for part in typing.get_args(annotation) for member in _members(part))
    return (annotation if origin is None else origin,)


def _may_be_both(one: Any, other: Any) -> bool:
    if Any in (one, other) or not (isinstance(one, type) and isinstance(other, type)):
        return True  # a type variable, a literal: it may be both
    try:
        return issubclass(one, other) or issubclass(other, one)
    except TypeError:  # a protocol that no issubclass takes
        return True


def _type_name(annotation: Any) -> str:
    if typing.get_origin(annotation) is None and isinstance(annotation, type):
        return "None" if annotation is type(None) else annotation.__name__
    return str(annotation).replace("typing.", "")


def _read_declaration(plugin: object) -> Declaration:
    """The declaration of a class, a module or an object. Raises `InvalidPlugin` naming the attribute."""
    _check_host_api(_attribute(plugin, "host_api", None))
    return Declaration(
        reasons=_reasons(_attribute(plugin, "reasons", {})),
        arguments=_arguments_model(_attribute(plugin, "Arguments", None)),
        stateful=_flag(plugin, "stateful", default=False),
        provides=_provides(_attribute(plugin, "provides", ())),
        normalize_keeps_best=_flag(plugin, "normalize_keeps_best", default=False),
        on_by_default=_flag(plugin, "on_by_default", default=True),
    )


def _attribute(plugin: object, name: str, default: Any) -> Any:
    """The attribute's value; a property of a class is known when the plugin is built, not before."""
    with plugin_code(f"its attribute {name} cannot be read"):
        value = getattr(plugin, name, default)
    return default if isinstance(value, property) else value


def _flag(plugin: object, name: str, *, default: bool) -> bool:
    value = _attribute(plugin, name, default)
    if not isinstance(value, bool):
        raise InvalidPlugin(f"{name} is {_short(value)}: make it True or False")
    return value


def _reasons(value: Any) -> Mapping[str, str]:
    if not isinstance(value, Mapping):
        raise InvalidPlugin(
            f"reasons is a {type(value).__name__}: make it a mapping of CamelCase names to texts"
        )
    for reason, text in value.items():
        if not isinstance(reason, str) or len(reason) > _LONGEST or not _REASON.fullmatch(reason):
            raise InvalidPlugin(
                f"the reason {_short(reason)} is not a CamelCase name of up to {_LONGEST} letters and digits"
            )
        _check_text(reason, text)
    return dict(value)


def _check_text(reason: str, text: Any) -> None:
    if not isinstance(text, str) or not text.strip():
        raise InvalidPlugin(f"the reason {reason} has no text: say what completes 'waiting for ...'")
    if len(text) > _LONGEST:
        raise InvalidPlugin(f"the text of reason {reason} has {len(text)} characters: use at most {_LONGEST}")
    if re.search(r"[{}]", text.replace("{runtime}", "")):
        raise InvalidPlugin(
            f"the text of reason {reason} has other braces than the placeholder {{runtime}}: remove them"
        )


def _provides(value: Any) -> frozenset[str]:
    if isinstance(value, str) or not isinstance(value, set | frozenset | tuple | list):
        raise InvalidPlugin(f'provides is {_short(value)}: make it a set of names, as in {{"{CAPACITY}"}}')
    for name in value:
        if name != CAPACITY:
            advice = did_you_mean(str(name), [CAPACITY])
            raise InvalidPlugin(f"it provides {_short(name)}, which this host does not know{advice}")
    return frozenset(value)


def _arguments_model(model: Any) -> type[BaseModel] | None:
    if model is None:
        return None
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        raise InvalidPlugin(f"Arguments is {_short(model)}: make it a subclass of pydantic.BaseModel")
    return model


def _check_host_api(value: Any) -> None:
    if value is None:
        return
    try:
        accepted = SpecifierSet(value)
    except (InvalidSpecifier, TypeError, AttributeError) as error:
        raise InvalidPlugin(
            f'host_api is {_short(value)}: make it a version range, as in ">=1,<2"'
        ) from error
    if not accepted.contains(HOST_API, prereleases=True):
        raise InvalidPlugin(
            f"it works with host API {value}, but this host has {HOST_API}: install a matching version"
        )


def _short(value: object) -> str:
    return safe_repr(value)[:60]
