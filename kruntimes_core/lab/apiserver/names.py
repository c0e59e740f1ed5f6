"""What may be a name, a label or an annotation key; the words are those of `apimachinery`'s checks."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_KEY})?"
_IS_LABEL, _IS_SUBDOMAIN, _IS_KEY, _IS_VALUE = map(re.compile, (_LABEL, _SUBDOMAIN, _KEY, _VALUE))
_KEY_WORDS = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character"
)
_KEY_EXAMPLES = f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_KEY}')"
_RANDOM_CHARACTERS = "bcdfghjklmnpqrstvwxz2456789"
_GENERATED_LENGTH = 63


def problems_of_subdomain(name: str) -> Iterator[str]:
    """Why `name` is no DNS-1123 subdomain; nothing when it is one."""
    if len(name) > 253:
        yield "must be no more than 253 characters"
    if not _IS_SUBDOMAIN.fullmatch(name):
        yield (
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
            "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
            f"for validation is '{_SUBDOMAIN}')"
        )


def problems_of_label(name: str) -> Iterator[str]:
    """Why `name` is no DNS-1123 label; nothing when it is one."""
    if len(name) > 63:
        yield "must be no more than 63 characters"
    if _IS_LABEL.fullmatch(name):
        return
    if _IS_SUBDOMAIN.fullmatch(name):
        yield "must not contain dots"
        return
    yield (
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must "
        "start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
        f"validation is '{_LABEL}')"
    )


def problems_of_key(key: str) -> Iterator[str]:
    """Why `key` is no qualified name: a name with an optional DNS prefix before a slash."""
    prefix, separator, name = key.rpartition("/")
    if "/" in prefix:
        yield (
            f"a valid label key {_KEY_WORDS} {_KEY_EXAMPLES} with an optional DNS subdomain prefix and "
            "'/' (e.g. 'example.com/MyName')"
        )
        return
    if separator and not prefix:
        yield "prefix part must be non-empty"
    elif separator:
        yield from (f"prefix part {problem}" for problem in problems_of_subdomain(prefix))
    if not name:
        yield "name part must be non-empty"
    elif len(name) > 63:
        yield "name part must be no more than 63 bytes"
    if not _IS_KEY.fullmatch(name):
        yield f"name part {_KEY_WORDS} {_KEY_EXAMPLES}"


def problems_of_value(value: str) -> Iterator[str]:
    """Why `value` is no value of a label; nothing when it is one."""
    if len(value) > 63:
        yield "must be no more than 63 bytes"
    if not _IS_VALUE.fullmatch(value):
        yield (
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
            "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
            f"'my_value',  or '12345', regex used for validation is '{_VALUE}')"
        )


def generated(base: str, source: random.Random) -> str:
    """A name for `generateName`: the base, cut so that it fits, and five random characters."""
    ending = "".join(source.choices(_RANDOM_CHARACTERS, k=5))
    return base[: _GENERATED_LENGTH - len(ending)] + ending
