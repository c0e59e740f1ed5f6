"""What the built-in kinds have in common: a schema of field names and types."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import yaml

from kruntimes_core.lab.apiserver import meta
from kruntimes_core.lab.apiserver.objects import Object
from kruntimes_core.lab.apiserver.strategy import Decoded, Strategy
from kruntimes_core.lab.apiserver.validation.schema import Node, read_schema
from kruntimes_core.lab.apiserver.validation.typed import read_typed


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
        metadata = meta.clean(obj.get("metadata"), unknown, self._schema.title)
        return Decoded({**read, "metadata": metadata}, tuple(unknown))
