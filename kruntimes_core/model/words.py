"""Parts of the messages of every room: numbers with their nouns, and the name that a mistyped one is like."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def counted(number: int, noun: str) -> str:
    """A number and its noun, as in `1 Run` and `2 Runs`. noun: one of which the plural ends in s."""
    return f"{number} {plural(number, noun)}"


def plural(number: float, noun: str) -> str:
    """The noun as it stands after that number."""
    return noun if number == 1 else f"{noun}s"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A clause for an error: `: write X` for another spelling of a known name, `: did you mean X?`
    for a similar one, else `: known are A, B` or nothing when nothing is known.
    """
    names = sorted(known)
    plain = {_plain(name): name for name in reversed(names)}
    if _plain(word) in plain:
        return f": write {plain[_plain(word)]}"
    similar = difflib.get_close_matches(_plain(word), plain, n=1)
    if similar:
        return f": did you mean {plain[similar[0]]}?"
    return f": known are {', '.join(names)}" if names else ""


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")
