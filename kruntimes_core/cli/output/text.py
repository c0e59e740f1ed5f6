"""Foreign text on a terminal: names and messages come from the authors of objects and plugins."""

from __future__ import annotations

import unicodedata

# Control, format and surrogate characters, and line and paragraph separators.
_UNPRINTABLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def printable(text: str) -> str:
    """`text` on one line: characters that move the cursor, recolour or reorder are escaped."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(character) for character in text)


def width(text: str) -> int:
    """How many columns a terminal needs for printable text."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def shortened(text: str, columns: int) -> str:
    """The start of `text` that fits in `columns`, marked with an ellipsis where something is left out."""
    if width(text) <= columns:
        return text
    used, end = 1, 0
    while end < len(text) and used + _columns(text[end]) <= columns:
        used += _columns(text[end])
        end += 1
    return text[:end].rstrip() + "…"


def wrapped(text: str, columns: int) -> list[str]:
    """Printable text in lines of at most `columns`, broken at spaces; a longer word has its own line."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if lines[-1] and width(longer) > columns:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _escaped(character: str) -> str:
    if unicodedata.category(character) not in _UNPRINTABLE:
        return character
    return character.encode("unicode_escape").decode("ascii")


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
