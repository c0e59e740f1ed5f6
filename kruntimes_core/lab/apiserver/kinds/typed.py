"""Reading an object of a kind that is a Go type: a field of a wrong type cannot be read at all.

Times are written anew as Go writes them: UTC, whole seconds, or six digits for a MicroTime.

What the built-in kinds have in common: a schema of field names and types.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from datetime import UTC
from importlib.resources import files
from typing import Any

import yaml

from kruntimes_core.lab.apiserver.kinds.strategy import Decoded, Strategy
from kruntimes_core.lab.apiserver.metadata import Misshapen, clean_metadata
from kruntimes_core.lab.apiserver.objects import Object, micro_time
from kruntimes_core.lab.apiserver.schema import Node, child, index, read_schema
from kruntimes_core.lab.apiserver.validation import type_of
from kruntimes_core.model.times import format_time, parse_time

_GIVEN = {"boolean": "bool", "integer": "number"}
_GO = {"integer": "int64", "boolean": "bool", "number": "float64", "string": "string"}
_LIMITS = {"int32": 2**31, "int64": 2**63}
_LAYOUTS = {
    "date-time": "2006-01-02T15:04:05Z07:00",
    "micro-time": "2006-01-02T15:04:05.000000Z07:00",
}


def read_typed(node: Node, value: Any, path: str, unknown: list[str], struct: str = "") -> Any:
    """`value` as the Go type would hold it: known fields, times rewritten, defaults, no nulls.

    unknown: takes the paths of unknown fields. Raises `Misshapen`.
    """
    given = type_of(value)
    if node.types and given not in node.types:
        raise Misshapen(_wrong_type(node, given, path, struct))
    if isinstance(value, dict) and "object" in node.types:
        return _struct(node, value, path, unknown)
    if isinstance(value, list) and node.items is not None:
        items = (item for item in value if item is not None)
        return [
            read_typed(node.items, item, index(path, place), unknown, struct)
            for place, item in enumerate(items)
        ]
    if node.format in _LIMITS and not -_LIMITS[node.format] <= value < _LIMITS[node.format]:
        raise Misshapen(_wrong_type(node, f"number {value}", path, struct))
    if node.format in _LAYOUTS:
        return _time(value, node.format)
    return value


def _struct(node: Node, value: Object, path: str, unknown: list[str]) -> Object:
    kept: Object = {}
    for name, below in value.items():
        known = node.properties.get(name, node.values)
        if known is None:
            if node.open:
                kept[name] = below
            else:
                unknown.append(child(path, name))
        elif below is not None:
            kept[name] = read_typed(known, below, child(path, name), unknown, node.title)
    for name, known in node.properties.items():
        if known.has_default and name not in kept:
            default = deepcopy(known.default)
            kept[name] = default if default is None else read_typed(known, default, "", [], node.title)
    return kept


def _wrong_type(node: Node, given: str, path: str, struct: str) -> str:
    # Go names a list, not its item.
    place = path.removesuffix("]").rpartition("[")[0] if path.endswith("]") else path
    field = f"{struct}.{place}" if struct else place
    return (
        f"json: cannot unmarshal {_GIVEN.get(given, given)} into Go struct field {field} of type {_go(node)}"
    )


def _go(node: Node) -> str:
    (wanted,) = node.types
    if wanted == "array":
        return f"[]{_go(node.items)}" if node.items is not None and node.items.types else "[]interface {}"
    if wanted == "object":
        return f"v1.{node.title}" if node.title else "map[string]string"
    return node.format if node.format in ("int32", "int64") else _GO[wanted]


def _time(text: str, layout_name: str) -> str:
    moment = parse_time(text)
    micro = layout_name == "micro-time"
    if moment is None:
        problem = f'cannot parse "{text}" as "2006"'
        raise Misshapen(f'parsing time "{text}" as "{_LAYOUTS[layout_name]}": {problem}')
    if not micro:
        return format_time(moment)
    rest = text[len("2006-01-02T15:04:05") :]
    if len(rest) < 8 or rest[0] != "." or not rest[1:7].isdigit():
        problem = f'cannot parse "{rest}" as ".000000"'
        raise Misshapen(f'parsing time "{text}" as "{_LAYOUTS[layout_name]}": {problem}')
    return micro_time(moment.astimezone(UTC))


def read_schemas() -> Mapping[str, Node]:
    """The schemas of the built-in kinds by kind."""
    text = files(__package__).joinpath("schemas.yaml").read_text("utf-8")
    found: Mapping[str, Any] = yaml.load(text, Loader=yaml.CSafeLoader)
    return {name: read_schema(schema) for name, schema in found.items() if name[0].isupper()}


class TypedStrategy(Strategy):
    """Reads an object along the schema of its Go type."""

    def __init__(self, table: str, schema: Node) -> None:
        super().__init__(table)
        self._schema = schema

    def decode(self, obj: Object, old: Object | None) -> Decoded:
        """Metadata cleaned, unknown fields dropped, times rewritten, defaults filled in."""
        unknown: list[str] = []
        read = read_typed(self._schema, obj, "", unknown)
        metadata = clean_metadata(obj.get("metadata"), unknown, self._schema.title)
        return Decoded({**read, "metadata": metadata}, tuple(unknown))
