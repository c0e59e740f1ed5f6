"""Kinds that are Go types of a kube-apiserver: objects are read along a schema of field names and types.

A field of a wrong type cannot be read at all. Times are written anew as Go writes them: UTC, whole seconds,
or six digits for a MicroTime.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from kruntimes_core.lab.apiserver.kinds.strategy import Decoded, Strategy
from kruntimes_core.lab.apiserver.metadata import Misshapen, clean_metadata
from kruntimes_core.lab.apiserver.objects import Object, micro_time
from kruntimes_core.lab.apiserver.schema import Node, child, index, json_type, read_schema
from kruntimes_core.model.times import format_time, parse_time

_LIMITS = {"int32": 2**31, "int64": 2**63}
_MICRO_TIME = "micro-time"


@cache
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
        read = _read(self._schema, obj, "", unknown)
        metadata = clean_metadata(obj.get("metadata"), unknown)
        return Decoded({**read, "metadata": metadata}, tuple(unknown))


def _read(node: Node, value: Any, path: str, unknown: list[str]) -> Any:
    """`value` as the Go type would hold it: known fields, times rewritten, defaults, no nulls.

    unknown: takes the paths of unknown fields. Raises `Misshapen`.
    """
    if node.types and json_type(value) not in node.types:
        raise Misshapen(f"{path} must be of type {' or '.join(sorted(node.types))}, not {value!r}")
    if isinstance(value, dict) and "object" in node.types:
        return _read_object(node, value, path, unknown)
    if isinstance(value, list) and node.items is not None:
        items = (item for item in value if item is not None)
        return [_read(node.items, item, index(path, place), unknown) for place, item in enumerate(items)]
    if node.format in _LIMITS and not -_LIMITS[node.format] <= value < _LIMITS[node.format]:
        raise Misshapen(f"{path} must be an {node.format}, not {value}")
    if node.format in ("date-time", _MICRO_TIME):
        return _read_time(value, path, micro=node.format == _MICRO_TIME)
    return value


def _read_object(node: Node, value: Object, path: str, unknown: list[str]) -> Object:
    kept: Object = {}
    for name, below in value.items():
        known = node.properties.get(name, node.values)
        if known is None:
            if node.open:
                kept[name] = below
            else:
                unknown.append(child(path, name))
        elif below is not None:
            kept[name] = _read(known, below, child(path, name), unknown)
    for name, known in node.properties.items():
        if known.has_default and name not in kept:
            default = deepcopy(known.default)
            kept[name] = default if default is None else _read(known, default, "", [])
    return kept


def _read_time(text: str, path: str, *, micro: bool) -> str:
    moment, fraction = parse_time(text), text[len("2006-01-02T15:04:05") :]
    if moment is None:
        raise Misshapen(f"{path} must be an RFC 3339 time, not {text!r}")
    if not micro:
        return format_time(moment)
    if len(fraction) < 8 or fraction[0] != "." or not fraction[1:7].isdigit():
        raise Misshapen(f"{path} must be a time with six digits of a second, not {text!r}")
    return micro_time(moment)
