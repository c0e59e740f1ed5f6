"""How Go writes values into messages, so that the messages here read like a kube-apiserver's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_NAMED = {
    "\a": r"\a",
    "\b": r"\b",
    "\f": r"\f",
    "\n": r"\n",
    "\r": r"\r",
    "\t": r"\t",
    "\v": r"\v",
    '"': r"\"",
    "\\": r"\\",
}


def quote(text: str) -> str:
    """`strconv.Quote`: a text between double quotes, with what cannot be printed escaped."""
    return '"' + "".join(map(_character, text)) + '"'


def _character(character: str) -> str:
    if named := _NAMED.get(character):
        return named
    if character == " " or character.isprintable():
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def marshal(value: Any) -> str:
    """`json.Marshal`: compact, keys in order, `<`, `>` and `&` escaped."""
    text = json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


def printed(value: Any) -> str:
    """`%v` of what a JSON text holds: `map[a:1 b:[x y]]`, keys in order."""
    if isinstance(value, Mapping):
        return "map[" + " ".join(f"{name}:{printed(value[name])}" for name in sorted(value)) + "]"
    if isinstance(value, list):
        return "[" + " ".join(map(printed, value)) + "]"
    return "<nil>" if value is None else plain(value)


def plain(value: Any) -> str:
    """`%v` of a scalar."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
