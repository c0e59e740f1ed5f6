"""The formats of texts that a schema of ours names, judged as a kube-apiserver judges them."""

from __future__ import annotations

import base64
import binascii
import re
from datetime import date

_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|[+-][0-9]{2}:[0-9]{2})")


def fits(format_name: str, text: str) -> bool:
    """Whether `text` has the format; formats that are not known here are not judged."""
    if format_name in ("date-time", "datetime"):
        return _is_date_time(text)
    if format_name == "byte":
        return _is_base64(text)
    return True


def _is_date_time(text: str) -> bool:
    day, separator, clock = text.lower().partition("t")
    match = _TIME.fullmatch(clock)
    if not separator or match is None or not _is_date(day):
        return False
    hours, minutes, seconds = match.group(1, 2, 3)
    return hours <= "23" and minutes <= "59" and seconds <= "59"


def _is_date(text: str) -> bool:
    try:
        return len(text) == 10 and bool(date.fromisoformat(text))
    except ValueError:
        return False


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return len(text) > 0
