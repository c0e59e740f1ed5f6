"""Foreign text in messages: what a user wrote, shown so that neither its size nor its bytes do harm."""

from __future__ import annotations

from collections.abc import Mapping

_LONGEST_QUOTE = 120  # a message quotes up to four pieces, and no more than 512 characters in all
_LONGEST_NUMBER = 128  # in bits


def quoted(value: object) -> str:
    """A JSON value as a message shows it: at most 120 characters, one line, always valid Unicode.

    Strings are quoted and cut, numbers and words are shown as they are, objects and lists named.
    """
    if isinstance(value, str):
        text = repr(value[:_LONGEST_QUOTE])
        shortened = len(value) > _LONGEST_QUOTE or len(text) > _LONGEST_QUOTE
        return f"{text[: _LONGEST_QUOTE - 4]}...{text[0]}" if shortened else text
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value) if value.bit_length() <= _LONGEST_NUMBER else "a number of very many digits"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, Mapping):
        return "an object"
    return "a list" if isinstance(value, list | tuple) else f"a {type(value).__name__}"
