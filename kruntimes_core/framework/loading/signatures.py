"""Which functions can be a hook: plain ones, called with the arguments that they name.

pluggy accepts more than a direct call can honour: wrappers, an order of its own, arguments with
defaults that are never passed. All of it is refused at load, where its author can read why.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from kruntimes_core.framework.hookspecs import SchedulerHooks
from kruntimes_core.framework.loading.failures import Refusal
from kruntimes_core.framework.loading.manager import Implementation
from kruntimes_core.model.messages import did_you_mean

_WHY_NOT = {
    "wrapper": "wrappers are not supported",
    "hookwrapper": "wrappers are not supported",
    "tryfirst": "the order of plugins is the configuration's",
    "trylast": "the order of plugins is the configuration's",
    "optionalhook": "every hook is specified, so a misspelt one would go unnoticed",
    "specname": "a function bears its hook's name",
}


def hook_names() -> tuple[str, ...]:
    """The seven hooks, in the order of the specification class."""
    return tuple(name for name in vars(SchedulerHooks) if not name.startswith("_"))


def argument_names(hook: str) -> tuple[str, ...]:
    """What an implementation of `hook` may name."""
    return tuple(inspect.signature(getattr(SchedulerHooks, hook)).parameters)[1:]


def check_function(implementation: Implementation, owner: object) -> tuple[str, ...]:
    """The names of the arguments that an implementation takes, in its order, without `self`.

    owner: the plugin; a class when it is not built yet. Raises `Refusal`.
    """
    hook, function = implementation.hook, implementation.function
    for option in sorted(implementation.options):
        raise Refusal(f"{hook} is marked with {option}, but {_WHY_NOT[option]}: mark it with a bare hookimpl")
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
            raise Refusal(f"{hook} is async, but a hook must answer at once: make it a plain function")
        if inspect.isgeneratorfunction(layer):
            raise Refusal(f"{hook} is a generator, but a hook must return its answer: use return, not yield")


def _parameters(hook: str, function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as error:
        raise Refusal(f"{hook} has no readable signature: make it a plain Python function") from error


def _is_method(owner: object, hook: str) -> bool:
    """Whether a function of an unbuilt class will get the instance first."""
    return inspect.isclass(owner) and inspect.isfunction(inspect.getattr_static(owner, hook, None))


def _check_self(hook: str, function: Callable[..., Any], owner: object) -> None:
    if not (inspect.ismethod(function) or _is_method(owner, hook)):
        return
    plain = getattr(function, "__func__", function)
    first = next(iter(inspect.signature(plain).parameters), None)
    if first is None or first in argument_names(hook):
        raise Refusal(f"{hook} is a method without self: add self, or put @staticmethod under hookimpl")


def _check_parameter(hook: str, parameter: inspect.Parameter) -> None:
    name = parameter.name
    if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
        raise Refusal(f"{hook} takes *{name}, but a hook gets exactly what it names: name its arguments")
    if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
        raise Refusal(f"{hook} takes {name} by keyword only: name it before the *")
    if parameter.default is not inspect.Parameter.empty:
        raise Refusal(f"{hook} gives {name} a default, which would never be used: remove the default")
    known = argument_names(hook)
    if name not in known:
        raise Refusal(f"{hook} names {name!r}, which it cannot get{did_you_mean(name, known)}")
