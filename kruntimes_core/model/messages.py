"""What messages to a user are made of: the error that carries one, quotes, numbers with nouns, hints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_LONGEST_QUOTE = 120  # a message quotes up to four pieces, and no more than 512 characters in all
_LONGEST_NUMBER = 128  # in bits


class InputError(Exception):
    """What a user gave cannot be used. `str()` is one line: what is wrong, where, and what to do.

    This is the base of every error that a user can cause and correct: a file that cannot be read, a
    plugin that cannot be loaded, an unknown name. Each room raises its own subclass; the command
    catches this class, prints the line and exits with code 2. Any other exception is a defect of
    this program and keeps its traceback.
    """

    def __init__(self, message: str) -> None:
        """message: starts lower-case (or with a file's name); line breaks are folded into spaces."""
        super().__init__(" ".join(message.split()))


def quoted(value: object) -> str:
    """A JSON value that a user wrote, as a message shows it: one line, valid Unicode, at most 120 characters.

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


def counted(number: int, noun: str) -> str:
    """A number and its noun, as in `1 Run` and `2 Runs`. noun: one of which the plural ends in s."""
    return f"{number} {plural(number, noun)}"


def plural(number: float, noun: str) -> str:
    """The noun as it stands after that number."""
    return noun if number == 1 else f"{noun}s"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """How a message about an unknown name ends, from the names that are known.

    `: write X` for another spelling of a known name, `: did you mean X?` for a similar one, else
    `: known are A, B`, or nothing when no name is known.
    """
    # Only an error needs it, and a command starts faster without.
    from difflib import get_close_matches

    names = sorted(known)
    plain = {_plain(name): name for name in reversed(names)}
    if _plain(word) in plain:
        return f": write {plain[_plain(word)]}"
    similar = get_close_matches(_plain(word), plain, n=1)
    if similar:
        return f": did you mean {plain[similar[0]]}?"
    return f": known are {', '.join(names)}" if names else ""


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")
