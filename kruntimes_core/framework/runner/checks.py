"""What a hook may return, and the error that names the plugin for anything else."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from kruntimes_core.framework.outcomes import Reject
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.framework.runner.calls import shown


def rejection(plugin: ActivePlugin, answer: Any, hook: str = "filter") -> Reject | None:
    """A filter's or reserve's answer: None, or a `Reject` with a declared reason."""
    if answer is None:
        return None
    if not isinstance(answer, Reject):
        raise plugin.error(hook, f"returned {shown(answer)}; return None or Reject(reason)")
    if answer.reason not in plugin.reasons:
        raise plugin.error(hook, f"gave reason {shown(answer.reason)}; declare it in `reasons`")
    if answer.again_at is not None and (
        not isinstance(answer.again_at, datetime) or answer.again_at.tzinfo is None
    ):
        raise plugin.error(hook, f"gave again_at {shown(answer.again_at)}; use an aware datetime")
    return answer


def plain_score(plugin: ActivePlugin, answer: Any) -> int:
    """The score of a plugin without normalize: an int 0..100."""
    if type(answer) is not int or not 0 <= answer <= 100:
        raise plugin.error("score", f"returned {shown(answer)}; return an int from 0 to 100")
    return answer


def raw_score(plugin: ActivePlugin, answer: Any) -> Any:
    """The score of a plugin with normalize: any value that is ordered and equal to itself."""
    if answer is None or answer != answer:
        raise plugin.error("score", f"returned {shown(answer)}; return a value that can be ordered")
    return answer


def normalized_scores(plugin: ActivePlugin, answer: Any, expected: int) -> list[int]:
    """The answer of normalize: one int 0..100 for each raw score."""
    if not isinstance(answer, Sequence) or isinstance(answer, str | bytes):
        raise plugin.error("normalize", f"returned {shown(answer)}; return a sequence of ints")
    if len(answer) != expected:
        raise plugin.error("normalize", f"returned {len(answer)} values for {expected} scores")
    for value in answer:
        if type(value) is not int or not 0 <= value <= 100:
            raise plugin.error("normalize", f"gave {shown(value)}; give ints from 0 to 100")
    return list(answer)
