"""Documents for other programs: JSON and YAML, UTF-8, keys in the order of the mapping."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import yaml

try:
    from yaml import CSafeDumper as BaseDumper
except ImportError:  # pragma: no cover - depends on how PyYAML was built
    from yaml import SafeDumper as BaseDumper  # type: ignore[assignment]

from kruntimes_core.cli.output.screen import write_output

# Text that other readers of YAML (Go's among them) take for a number or a truth value, and PyYAML does not.
_MISREAD = re.compile(r"[-+]?\.?[0-9][0-9_.]*([eE][-+]?[0-9]+)?|0[xob][0-9a-fA-F_]+|[yYnN]")
_STRING = "tag:yaml.org,2002:str"


class _Dumper(BaseDumper):
    """PyYAML's safe dumper; text stays text for every reader, and nothing becomes an alias."""

    def ignore_aliases(self, data: Any) -> bool:
        """A value that occurs twice is written twice."""
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    whole = text if text.isascii() else _encoded(text).decode()
    return dumper.represent_scalar(_STRING, whole, style="'" if _MISREAD.fullmatch(whole) else None)


_Dumper.add_representer(str, _text)


def write_json(document: Mapping[str, Any]) -> None:
    """Write a document as indented JSON to standard output."""
    _write(json.dumps(document, indent=2, ensure_ascii=False))


def write_yaml(document: Mapping[str, Any]) -> None:
    """Write a document as YAML to standard output."""
    _write(_yaml(document))


def _yaml(value: Any) -> str:
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=2**20)
    return text.rstrip("\n")


def stream_json(head: Mapping[str, Any], key: str, items: Iterable[Any]) -> None:
    """Write what `write_json` would for `head` with the list of `items` at `key`, item by item."""
    _write(json.dumps(head, indent=2, ensure_ascii=False)[: -len("\n}")] + f',\n  "{key}": [', end="")
    separator = ""
    for item in items:
        text = json.dumps(item, indent=2, ensure_ascii=False)
        _write(separator + "\n    " + text.replace("\n", "\n    "), end="")
        separator = ","
    _write("\n  ]\n}" if separator else "]\n}")


def stream_yaml(head: Mapping[str, Any], key: str, items: Iterable[Any]) -> None:
    """Write what `write_yaml` would for `head` with the list of `items` at `key`, item by item."""
    write_yaml(head)
    first = True
    for item in items:
        if first:
            _write(f"{key}:")
        first = False
        _write(_yaml([item]))
    if first:
        _write(f"{key}: []")


def _write(text: str, end: str = "\n") -> None:
    write_output(_encoded(text + end), end=False)


def _encoded(text: str) -> bytes:
    """UTF-8; half of a surrogate pair, which a plugin's text may hold, is escaped as in JSON."""
    return text.encode("utf-8", "backslashreplace")
