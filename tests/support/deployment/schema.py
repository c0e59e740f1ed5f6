"""The schema of the chart's values, which holds that of the host's configuration, and their comments."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from deployment.chart import CHART
from kruntimes_core.framework.configuration import Configuration

SCHEMA = CHART / "values.schema.json"

_PROSE = frozenset({"title", "description", "default"})
_NAMES = frozenset({"properties", "$defs"})
"""Below these, keys are names and no words of JSON Schema."""


def written_schema() -> dict[str, Any]:
    """The schema as it stands in the chart."""
    schema: dict[str, Any] = json.loads(SCHEMA.read_text())
    return schema


def complete_schema() -> dict[str, Any]:
    """The same, with the definitions of the configuration as the host has them now."""
    schema, host = written_schema(), _bare(Configuration.model_json_schema(by_alias=True))
    host_definitions = host.pop("$defs")
    schema["$defs"] = {**schema["$defs"], "Configuration": host, **host_definitions}
    return schema


def text_of(schema: dict[str, Any]) -> str:
    """The schema as it is written."""
    return json.dumps(schema, indent=2) + "\n"


def _bare(schema: Any) -> Any:
    """A schema without prose: that stands in the reference."""
    if isinstance(schema, list):
        return [_bare(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: _bare(one) for name, one in value.items()} if key in _NAMES else _bare(value)
        for key, value in schema.items()
        if key not in _PROSE
    }


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
