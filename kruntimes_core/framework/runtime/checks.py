"""What a hook may return, and the error that names the plugin for anything else."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from kruntimes_core.framework.outcomes import Reject
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.framework.runtime.calls import shown
from kruntimes_core.model.words import counted


def rejection(plugin: ActivePlugin, answer: Any, hook: str = "filter") -> Reject | None:
    """A filter's or reserve's answer: None, or a `Reject` with a declared reason.

    The host compares, counts and prints its parts later, where a failure could be laid at nobody's
    door. So they are of plain types from here on, an enum's text or a time of another zone included.
    """
    if answer is None:
        return None
    if not isinstance(answer, Reject):
        raise plugin.error(hook, f"returned {shown(answer)}; return None or Reject(reason)")
    reason, detail, retry_at = answer.reason, answer.detail, answer.retry_at
    if not isinstance(reason, str) or reason not in plugin.reasons:
        raise plugin.error(hook, f"gave reason {shown(reason)}; declare it in `reasons`")
    if not isinstance(detail, str | None):
        raise plugin.error(hook, f"gave detail {shown(detail)}; use a text")
    if not isinstance(answer.pinned_elsewhere, bool):
        raise plugin.error(hook, f"gave pinned_elsewhere {shown(answer.pinned_elsewhere)}; use True or False")
    if retry_at is not None and (not isinstance(retry_at, datetime) or retry_at.utcoffset() is None):
        raise plugin.error(hook, f"gave retry_at {shown(retry_at)}; use an aware datetime")
    if type(answer) is Reject and type(reason) is str and type(detail) in (str, type(None)) and not retry_at:
        return answer
    return Reject(
        str.__str__(reason),
        str.__str__(detail) if detail is not None else None,
        retry_at.astimezone(UTC) if retry_at is not None else None,
        answer.pinned_elsewhere,
    )


def plain_scores(plugin: ActivePlugin, answers: list[Any]) -> list[Any]:
    """The scores of a plugin without normalize: ints 0..100."""
    for answer in answers:
        if type(answer) is not int or not 0 <= answer <= 100:
            raise plugin.error("score", f"returned {shown(answer)}; return an int from 0 to 100")
    return answers


def raw_scores(plugin: ActivePlugin, answers: list[Any]) -> list[Any]:
    """The scores of a plugin with normalize: any values that are ordered and equal to themselves."""
    for answer in answers:
        if answer is None or answer != answer:
            raise plugin.error("score", f"returned {shown(answer)}; return a value that can be ordered")
    return answers


def normalized_scores(plugin: ActivePlugin, answer: Any, expected: int) -> list[int]:
    """The answer of normalize: one int 0..100 for each raw score."""
    if not isinstance(answer, Sequence) or isinstance(answer, str | bytes):
        raise plugin.error("normalize", f"returned {shown(answer)}; return a sequence of ints")
    values = list(answer)
    if len(values) != expected:
        problem = f"returned {counted(len(values), 'value')} for {counted(expected, 'score')}"
        raise plugin.error("normalize", problem)
    for value in values:
        if type(value) is not int or not 0 <= value <= 100:
            raise plugin.error("normalize", f"gave {shown(value)}; give ints from 0 to 100")
    return values
