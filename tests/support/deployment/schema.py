"""The schema of the chart's values, which holds the schema of the host's configuration."""

from __future__ import annotations

import json
from typing import Any

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
