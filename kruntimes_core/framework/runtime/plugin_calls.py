"""Calling a plugin: its arguments made positional, its answers checked, and every failure named.

A plugin may do anything: raise `SystemExit`, recurse without end, raise a class of its own below
`BaseException`. All of it is that plugin's error. A `KeyboardInterrupt` is the operator's.
"""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain
from pathlib import PurePath
from typing import Any

from pydantic import ValidationError

from kruntimes_core.framework.hookspecs import Reject
from kruntimes_core.framework.profile import ActivePlugin, Hook, InterruptedCallError, PluginError
from kruntimes_core.model.messages import counted
from kruntimes_core.model.quantity import Ratio
from kruntimes_core.model.validation import whole

MAX_SCORE = 100
_LONGEST_PROBLEM = 500
# So Python words it for `signal.signal`, `signal.set_wakeup_fd` and the signal handlers of a loop.
_OF_SIGNALS = "only works in main thread"
# Types of which each value has its place among the others.
_ORDERED = frozenset({int, str, Ratio})
# A reason: what a metav1.Condition accepts as one, in the CamelCase that Kubernetes uses.
CAMEL_CASE = re.compile(r"[A-Z][A-Za-z0-9]{0,1023}")

# The canonical arguments of each hook, in the order in which the host hands them over; those of score
# are those of filter, and the arguments of prefilter are looked up by name.
FILTER = ("pod", "state", "run", "snapshot")
NORMALIZE = ("scores", "state", "run", "snapshot")
RESERVE = ("pod", "state", "run")
UNRESERVE = ("pod", "state", "run", "bound")
QUEUE_KEY = ("run", "now", "last")


def positional(hook: Hook, canonical: Sequence[str]) -> Callable[..., Any]:
    """A function of all `canonical` arguments that hands on those which `hook` names."""
    places = [canonical.index(name) for name in hook.names]
    return lambda *arguments: hook.function(*[arguments[place] for place in places])


def plugin_error(plugin: ActivePlugin, hook: str, error: BaseException) -> PluginError:
    """The error that names `plugin` for what it raised; a `PluginError` stays as it is."""
    if isinstance(error, PluginError):
        return error
    if isinstance(error, KeyboardInterrupt):
        raise error
    place = place_in_code(error, plugin.hooks[hook].function) if hook in plugin.hooks else ""
    named = plugin.error(hook, describe(error), isinstance(error, InterruptedCallError), place)
    if os.environ.get("KRUNTIMES_DEBUG"):
        named.traceback = "".join(traceback.format_exception(error))
    return named


def place_in_code(error: BaseException, function: Callable[..., Any]) -> str:
    """The innermost line of a plugin's own package that an exception came through: `acme/rules.py:12`.

    function: a function of the plugin. Empty if the exception came through none of its lines.
    """
    module = str(getattr(function, "__module__", None) or "").partition(".")[0]
    place = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        name = str(frame.f_globals.get("__name__", ""))
        if module and name.partition(".")[0] == module:
            place = f"{_short_path(frame.f_code.co_filename, name)}:{line}"
    return place


def _short_path(filename: str, module: str) -> str:
    """The path of a module's file from the folder of its top-level package."""
    path = PurePath(filename)
    depth = module.count(".") + (path.name == "__init__.py")
    return "/".join(path.parts[-depth - 1 :])


def check_rejection(plugin: ActivePlugin, answer: Any, hook: str = "filter") -> Reject | None:
    """A filter's or reserve's answer: None, or a `Reject` with a declared reason.

    The host compares, counts and prints its parts later, where a failure would not name the
    plugin. So they are of plain types from here on, an enum's text or a time of another zone included.
    """
    if answer is None:
        return None
    if not isinstance(answer, Reject):
        raise plugin.error(hook, f"returned {safe_repr(answer)}; return None or Reject(reason)")
    reason, detail, retry_at = answer.reason, answer.detail, answer.retry_at
    if not isinstance(reason, str) or reason not in plugin.reasons:
        raise plugin.error(hook, f"gave reason {safe_repr(reason)}; declare it in `reasons`")
    if not isinstance(detail, str | None):
        raise plugin.error(hook, f"gave detail {safe_repr(detail)}; use a text")
    if not isinstance(answer.pinned_elsewhere, bool):
        raise plugin.error(
            hook, f"gave pinned_elsewhere {safe_repr(answer.pinned_elsewhere)}; use True or False"
        )
    if retry_at is not None:
        retry_at = _plain_time(plugin, hook, retry_at)
    if type(answer) is Reject and type(reason) is str and type(detail) in (str, type(None)) and not retry_at:
        return answer
    return Reject(
        str.__str__(reason),
        str.__str__(detail) if detail is not None else None,
        retry_at,
        answer.pinned_elsewhere,
    )


def check_scores(plugin: ActivePlugin, answers: list[Any]) -> list[Any]:
    """The scores of a plugin: 0..100 as ints, or with a normalize any values that can be ordered."""
    if "normalize" not in plugin.hooks:
        return _scores(plugin, "score", answers, "returned {}; return an int from 0 to 100")
    # There are thousands of Pods: their types are looked at together, and values only if that is not enough.
    kinds = set(map(type, answers))
    if all(issubclass(kind, tuple) for kind in kinds):
        kinds = set(map(type, chain.from_iterable(answers)))
    if not kinds <= _ORDERED:
        for answer in answers:
            if isinstance(answer, bool) or not can_be_ordered(answer):
                problem = f"returned {safe_repr(answer)}; return a value that can be ordered"
                raise plugin.error("score", problem)
    return answers


def check_normalized_scores(plugin: ActivePlugin, answer: Any, expected: int) -> list[int]:
    """The answer of normalize: one number 0..100 for each raw score, as ints."""
    if not isinstance(answer, Sequence) or isinstance(answer, str | bytes):
        raise plugin.error("normalize", f"returned {safe_repr(answer)}; return a sequence of ints")
    values = list(answer)
    if len(values) != expected:
        problem = f"returned {counted(len(values), 'value')} for {counted(expected, 'score')}"
        raise plugin.error("normalize", problem)
    return _scores(plugin, "normalize", values, "gave {}; give ints from 0 to 100")


def _scores(plugin: ActivePlugin, hook: str, values: list[Any], problem: str) -> list[int]:
    """Scores 0..100 by their values (an `IntEnum`, an integer of numpy), as ints. Raises `PluginError`."""
    if all([type(value) is int and 0 <= value <= MAX_SCORE for value in values]):  # noqa: C419 - faster
        return values
    scores = []
    for value in values:
        try:
            scores.append(whole("a score", value, 0, MAX_SCORE))
        except (TypeError, ValueError):
            raise plugin.error(hook, problem.format(safe_repr(value))) from None
    return scores


def can_be_ordered(value: Any) -> bool:
    """Whether a raw score or queue key, or a part of one, is neither None nor a `nan`, which has no place."""
    if value is None or value != value:
        return False
    return not isinstance(value, (tuple, list)) or all(map(can_be_ordered, value))


def _plain_time(plugin: ActivePlugin, hook: str, value: Any) -> datetime:
    """An aware time in UTC. A library's own "not a time" is a `datetime` that is not equal to itself."""
    if isinstance(value, datetime) and value == value and value.utcoffset() is not None:
        with suppress(OverflowError):  # as that of year 1 in a zone east of Greenwich
            moment = value.astimezone(UTC)
            plain = type(moment) is datetime
            return moment if plain else datetime.combine(moment.date(), moment.time(), UTC)
    raise plugin.error(hook, f"gave retry_at {safe_repr(value)}; use an aware datetime")


def describe(error: BaseException) -> str:
    """One bounded line about an exception, whatever its `__str__` does.

    Of pydantic's, without the values that were refused: they may be secrets.
    """
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        return one_line(": ".join(part for part in (_name(error), place, first["msg"]) if part))
    text = _text(str, error, "its message cannot be read")
    if _OF_SIGNALS in text:
        # Plugins live on threads of their own, so that a hook that hangs can be left behind.
        return "it handles signals, which belong to the host: remove that"
    name = _name(error)
    return one_line(f"{name}: {text}" if text else name)


def safe_repr(value: object) -> str:
    """One bounded line about a value out of contract, whatever its `__repr__` does."""
    return one_line(_text(repr, value, f"a {_name(value)} that cannot be shown"))


def safe_str(value: object) -> str:
    """One bounded line for a record that says what `value` is, whatever its `__str__` does."""
    return one_line(_text(str, value, f"a {_name(value)} that cannot be shown"))


def _text(show: Callable[[object], str], value: object, otherwise: str) -> str:
    """A plugin's `__str__` or `__repr__` may do what any other call may do."""
    try:
        return str.__str__(show(value))
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - as above
        return otherwise


def _name(value: object) -> str:
    """The name of a value's type; not by way of its metaclass, which may be a plugin's."""
    return str(type.__dict__["__name__"].__get__(type(value)))


def one_line(text: str) -> str:
    """`text` without line breaks and within bounds."""
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_PROBLEM else text[: _LONGEST_PROBLEM - 1] + "…"
