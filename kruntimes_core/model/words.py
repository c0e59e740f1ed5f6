"""Numbers with their nouns, as messages of every room say them."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """A number and its noun, as in `1 Run` and `2 Runs`. noun: one of which the plural ends in s."""
    return f"{number} {plural(number, noun)}"


def plural(number: float, noun: str) -> str:
    """The noun as it stands after that number."""
    return noun if number == 1 else f"{noun}s"
