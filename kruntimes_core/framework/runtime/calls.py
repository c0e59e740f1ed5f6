"""Calling a plugin: arguments by name made positional once, and every failure named.

A plugin may do anything: raise `SystemExit`, recurse without end, raise a class of its own below
`BaseException`. All of it is that plugin's error. A `KeyboardInterrupt` is the operator's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from kruntimes_core.framework.outcomes import InterruptedCallError, PluginError
from kruntimes_core.framework.profile import ActivePlugin, Hook

_LONGEST_PROBLEM = 500
# A reason: what a metav1.Condition accepts as one, in the CamelCase that Kubernetes uses.
CAMEL_CASE = re.compile(r"[A-Z][A-Za-z0-9]{0,1023}")

# The canonical arguments of each hook, in the order in which the host hands them over; those of score
# are those of filter, and prefilter is asked by name.
FILTER = ("pod", "state", "run", "snapshot")
NORMALIZE = ("scores", "state", "run", "snapshot")
RESERVE = ("pod", "state", "run")
UNRESERVE = ("pod", "state", "run", "bound")
QUEUE_KEY = ("run", "now", "last")


def positional(hook: Hook, canonical: Sequence[str]) -> Callable[..., Any]:
    """A function of all `canonical` arguments that hands on those which `hook` names.

    The common signatures get a direct path: one filter is asked for thousands of Pods.
    """
    function, names = hook.function, hook.names
    if names == tuple(canonical):
        return function
    if names == tuple(canonical[:2]):
        return lambda first, second, *_: function(first, second)
    if names == tuple(canonical[:1]):
        return lambda first, *_: function(first)
    places = [canonical.index(name) for name in names]
    return lambda *arguments: function(*[arguments[place] for place in places])


def broken(plugin: ActivePlugin, hook: str, error: BaseException) -> PluginError:
    """The error that names `plugin` for what it raised; a `PluginError` stays as it is."""
    if isinstance(error, PluginError):
        return error
    if isinstance(error, KeyboardInterrupt):
        raise error
    return plugin.error(hook, describe(error), isinstance(error, InterruptedCallError))


def describe(error: BaseException) -> str:
    """One bounded line about an exception, whatever its `__str__` does."""
    text = _text(str, error, "its message cannot be read")
    name = _name(error)
    return one_line(f"{name}: {text}" if text else name)


def shown(value: object) -> str:
    """One bounded line about a value out of contract, whatever its `__repr__` does."""
    return one_line(_text(repr, value, f"a {_name(value)} that cannot be shown"))


def written(value: object) -> str:
    """One bounded line for a record that says what `value` is, whatever its `__str__` does."""
    return one_line(_text(str, value, f"a {_name(value)} that cannot be shown"))


def _text(show: Callable[[object], str], value: object, otherwise: str) -> str:
    """A stranger's `__str__` or `__repr__` may do what any other call may do."""
    try:
        return str.__str__(show(value))
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - as above
        return otherwise


def _name(value: object) -> str:
    """The name of a value's type; a metaclass may answer what it likes, so it is not asked."""
    return str(type.__dict__["__name__"].__get__(type(value)))


def one_line(text: str) -> str:
    """`text` without line breaks and within bounds."""
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_PROBLEM else text[: _LONGEST_PROBLEM - 1] + "…"
