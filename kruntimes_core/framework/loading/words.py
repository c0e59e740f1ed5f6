"""The name that somebody meant who wrote another one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def meant(word: str, known: Iterable[str]) -> str:
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
