"""A search for fields through a JSON text: what lies beside the way is skipped by the C decoder."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from kruntimes_core.lab.offline_plan.field_lines import Wanted

_SPACE = re.compile(r"[ \t\r\n]*")


def find_in_json(text: str, offset: int, wanted: Wanted) -> None:
    """Fill in the lines of what is wanted in the value that starts at `offset` of a valid text."""
    if wanted.line is None:
        wanted.line = text.count("\n", 0, offset) + 1
    if not wanted.below:
        return
    for step, start, value in _members(text, offset):
        field = wanted.below.get(step)
        if field:
            field.line = text.count("\n", 0, start) + 1
            find_in_json(text, value, field)


def _members(text: str, offset: int) -> Iterator[tuple[str, int, int]]:
    """Each member of an object or array: its key or position, where it starts, where its value does."""
    opening = text[offset]
    if opening not in "{[":
        return
    decoder, count = json.JSONDecoder(), 0
    position = _next(text, offset + 1)
    while text[position] not in "}]":
        start, step = position, str(count)
        if opening == "{":
            step, position = decoder.raw_decode(text, position)
            position = _next(text, _next(text, position) + 1)
        yield step, start, position
        _, position = decoder.raw_decode(text, position)
        position = _next(text, position)
        if text[position] == ",":
            position = _next(text, position + 1)
        count += 1


def _next(text: str, offset: int) -> int:
    match = _SPACE.match(text, offset)
    return match.end() if match else offset
