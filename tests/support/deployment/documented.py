"""The values of the chart with the comments that explain them: what the reference must say too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from deployment.chart import CHART


@dataclass(frozen=True, slots=True)
class Value:
    """One value: its path (`image.tag`), its default, and the comment above it in one line."""

    path: str
    default: Any
    comment: str


def documented_values() -> list[Value]:
    """Every value that has a comment, in the order of `values.yaml`."""
    text = (CHART / "values.yaml").read_text()
    root = yaml.compose(text)
    assert isinstance(root, yaml.MappingNode)
    return list(_values(root, yaml.safe_load(text), text.splitlines(), ""))


def paths_of(schema: dict[str, Any], prefix: str = "") -> Iterator[str]:
    """The path of every value that a schema knows, groups left out."""
    for name, below in schema["properties"].items():
        path = f"{prefix}{name}"
        grouped = below.get("type") == "object" and "properties" in below and path != "resources"
        if grouped:
            yield from paths_of(below, f"{path}.")
        elif path != "global":
            yield path


def _values(node: yaml.MappingNode, defaults: Any, lines: list[str], prefix: str) -> Iterator[Value]:
    for key, value in node.value:
        path, default = f"{prefix}{key.value}", defaults[key.value]
        comment = _above(lines, key.start_mark.line)
        if comment:
            yield Value(path, default, comment)
        elif isinstance(value, yaml.MappingNode):
            yield from _values(value, default, lines, f"{path}.")


def _above(lines: list[str], number: int) -> str:
    found: list[str] = []
    while number and lines[number - 1].lstrip().startswith("#"):
        number -= 1
        found.insert(0, lines[number].strip().removeprefix("#").strip())
    return " ".join(found)
