"""Times and durations as other programs write them into the API.

Python's own parser of ISO 8601 accepts much that Kubernetes never writes (week dates, missing
separators, no zone), so the spelling is checked before it is called.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

_RFC3339 = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]{1,32})?"
    r"(?:([Zz])|([+-](?:[01][0-9]|2[0-3]):[0-5][0-9]))"
)

_UNIT_NANOSECONDS = {
    "ns": 1,
    "us": 10**3,
    "\N{MICRO SIGN}s": 10**3,
    "\N{GREEK SMALL LETTER MU}s": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_DURATION_PART = re.compile(r"(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?(" + "|".join(_UNIT_NANOSECONDS) + ")")
_MAX_DURATION_LENGTH = 256
_MAX_NANOSECONDS = 2**63 - 1


def parse_time(value: object) -> datetime | None:
    """An RFC 3339 time as an aware UTC `datetime`; None for anything else, a missing zone included.

    Fractions finer than a microsecond are cut. A leap second and years outside 1..9999 give None.
    """
    if type(value) is not str:
        return None
    match = _RFC3339.fullmatch(value)
    if match is None:
        return None
    date, clock, fraction, zulu, offset = match.groups()
    try:
        moment = datetime.fromisoformat(f"{date}T{clock}{(fraction or '')[:7]}{'+00:00' if zulu else offset}")
        return moment if zulu else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def format_time(moment: datetime) -> str:
    """An aware time as a metav1.Time of the API: UTC, whole seconds (cut), `Z`.

    Raises ValueError for a time without a zone, which would be taken for local time.
    """
    return micro_time(moment)[: len("2006-01-02T15:04:05")] + "Z"


def micro_time(moment: datetime) -> str:
    """The same as a metav1.MicroTime: always six digits of a second. Raises as `format_time`."""
    if moment.tzinfo is None:
        raise ValueError(f"cannot write {moment!r} as a time: give it a time zone")
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def parse_duration(value: object) -> float | None:
    """A duration in Go's syntax (`1h30m`, `1.5s`, `-100ms`, `0`), in seconds; None for anything else.

    Units are ns, us (also with either micro sign), ms, s, m and h. What does not fit into Go's 64-bit
    count of nanoseconds gives None, as does a text of more than 256 characters.
    """
    if not isinstance(value, str) or not 0 < len(value) <= _MAX_DURATION_LENGTH:
        return None
    negative = value[0] == "-"
    nanoseconds = _nanoseconds(value[1:] if value[0] in "+-" else value)
    if nanoseconds is None or nanoseconds > _MAX_NANOSECONDS + negative:
        return None
    return (-nanoseconds if negative else nanoseconds) / 10**9


def _nanoseconds(text: str) -> int | None:
    """The sum of the parts of an unsigned duration; Go's `time.ParseDuration` needs no order of units."""
    if text == "0":
        return 0
    total = place = 0
    while place < len(text):
        part = _DURATION_PART.match(text, place)
        if part is None:
            return None
        whole, fraction, unit = part.groups("")
        scale = _UNIT_NANOSECONDS[unit]
        total += int(whole or "0") * scale + int(fraction or "0") * scale // 10 ** len(fraction)
        place = part.end()
    return total if text else None
