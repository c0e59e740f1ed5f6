"""Whether a plugin's annotations contradict the hook's.

Type checkers say nothing about a `hookimpl`, so the host compares. It refuses only what cannot be
right: two types of which neither is the other's kind. A wider type, a narrower one, a missing
annotation, `Any`, or a name that cannot be resolved (imported for type checking only) all pass.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

from kruntimes_core.framework.hookspecs import SchedulerHooks
from kruntimes_core.framework.plugin_registry.failures import InvalidPlugin

RETURN = "return"


def check_annotations(hook: str, function: Callable[..., Any], *, normalized: bool) -> None:
    """Compare `function`'s annotations with those of `hook`; raises `InvalidPlugin`.

    normalized: the plugin has a `normalize`, so that its `score` may be of any type.
    """
    expected = typing.get_type_hints(getattr(SchedulerHooks, hook))
    if hook == "score" and not normalized:
        expected[RETURN] = int
    for name, annotation in _resolved(function).items():
        if name in expected and not _overlap(expected[name], annotation):
            raise InvalidPlugin(
                f"{hook} {'returns' if name == RETURN else f'takes {name} as'} {_name(annotation)},"
                f" but the hook says {_name(expected[name])}: correct the function and its annotation"
            )


def _resolved(function: Callable[..., Any]) -> Mapping[str, Any]:
    """The annotations that can be resolved now; `None` stands for its type."""
    plain = inspect.unwrap(function)
    namespace = getattr(plain, "__globals__", {})
    resolved = {}
    for name, raw in (getattr(plain, "__annotations__", None) or {}).items():
        holder = types.SimpleNamespace(__annotations__={name: raw})
        try:
            resolved.update(typing.get_type_hints(holder, globalns=namespace))
        except (NameError, AttributeError, TypeError, SyntaxError, ValueError):
            continue  # what cannot be resolved cannot contradict
    return resolved


def _overlap(expected: Any, annotation: Any) -> bool:
    """Whether a value can be of both types, as far as classes tell."""
    return any(_related(one, other) for one in _members(expected) for other in _members(annotation))


def _members(annotation: Any) -> tuple[Any, ...]:
    """The classes that an annotation names: those of a union, the origin of a generic."""
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType):
        return tuple(member for part in typing.get_args(annotation) for member in _members(part))
    return (annotation if origin is None else origin,)


def _related(one: Any, other: Any) -> bool:
    if Any in (one, other) or not (isinstance(one, type) and isinstance(other, type)):
        return True  # a type variable, a literal: nothing to hold against it
    try:
        return issubclass(one, other) or issubclass(other, one)
    except TypeError:  # a protocol that cannot be asked
        return True


def _name(annotation: Any) -> str:
    if typing.get_origin(annotation) is None and isinstance(annotation, type):
        return "None" if annotation is type(None) else annotation.__name__
    return str(annotation).replace("typing.", "")
