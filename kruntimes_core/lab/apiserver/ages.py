"""How long ago something was, as kubectl writes it: `5s`, `3m20s`, `2d4h`, `1y30d`."""

from __future__ import annotations

from datetime import datetime

from kruntimes_core.model.times import parse_time

_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86400, 365 * 86400
_STEPS = (
    # (below, unit, its sign, the smaller unit shown beside it or none, its sign)
    (2 * _MINUTE, 1, "s", 0, ""),
    (10 * _MINUTE, _MINUTE, "m", 1, "s"),
    (3 * _HOUR, _MINUTE, "m", 0, ""),
    (8 * _HOUR, _HOUR, "h", _MINUTE, "m"),
    (2 * _DAY, _HOUR, "h", 0, ""),
    (8 * _DAY, _DAY, "d", _HOUR, "h"),
    (2 * _YEAR, _DAY, "d", 0, ""),
    (8 * _YEAR, _YEAR, "y", _DAY, "d"),
)


def age(text: object, now: datetime) -> str:
    """The age of an RFC 3339 time at `now`; `<unknown>` when there is none."""
    moment = parse_time(text)
    return "<unknown>" if moment is None else duration((now - moment).total_seconds())


def duration(exact_seconds: float) -> str:
    """A span, rounded down, in at most two units."""
    if exact_seconds < -1:
        return "<invalid>"
    seconds = max(0, int(exact_seconds))
    for below, unit, sign, smaller, smaller_sign in _STEPS:
        if seconds < below:
            rest = seconds % unit // smaller if smaller else 0
            return f"{seconds // unit}{sign}" + (f"{rest}{smaller_sign}" if rest else "")
    return f"{seconds // _YEAR}y"
