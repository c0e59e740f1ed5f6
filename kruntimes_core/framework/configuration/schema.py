"""The JSON Schema of the configuration file, with the installed plugins' names and `Arguments`.

Editors complete and check by it. It refuses what no single field may say; contradictions between
fields are found by `kruntimes config validate` alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from kruntimes_core.framework.configuration.arguments import refuses_unknown
from kruntimes_core.framework.configuration.models import EVERY, Configuration
from kruntimes_core.framework.plugin_registry import (
    InvalidPlugin,
    LoadedPlugin,
    LoadError,
    PluginRegistry,
    plugin_code,
)

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_DEFINITIONS = "#/$defs/"

Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ConfigurationSchema:
    """The schema, and which plugins' arguments it cannot tell and therefore does not check."""

    document: Schema
    problems: tuple[str, ...]


def configuration_schema(registry: PluginRegistry) -> ConfigurationSchema:
    """The schema of what this host takes. Imports every installed plugin, and raises nothing."""
    document = {"$schema": DIALECT, **Configuration.model_json_schema()}
    definitions = document["$defs"]
    for section in (document, *definitions.values()):
        _tidy(section)
        _accept_nulls(section)
    rules, problems = [], []
    for name in registry.names:
        try:
            rules.append(_rule(name, _arguments(registry.load(name), definitions)))
        except (LoadError, InvalidPlugin) as error:
            problems.append(str(error))
    _name_plugins(definitions, rules, registry.names)
    return ConfigurationSchema(document, tuple(problems))


def _tidy(section: Schema) -> None:
    """Drop the titles that pydantic makes of names, and the line breaks of docstrings."""
    for part in (section, *section["properties"].values()):
        part.pop("title", None)
        if "description" in part:  # a Python without docstrings (-OO) has none
            part["description"] = " ".join(part["description"].split())


def _accept_nulls(section: Schema) -> None:
    """Let null stand for a key that is absent, as the reader does."""
    for key, field in section["properties"].items():
        if key in section.get("required", ()) or "anyOf" in field:
            continue
        if "const" in field:
            field["enum"] = [field.pop("const"), None]
        if "$ref" in field:
            field["anyOf"] = [{"$ref": field.pop("$ref")}, {"type": "null"}]
        else:
            field["type"] = [field["type"], "null"]


def _arguments(loaded: LoadedPlugin, definitions: Schema) -> Schema:
    """The schema of a plugin's arguments, which is put among the definitions. Raises `InvalidPlugin`."""
    model = loaded.declaration.arguments
    if model is None:
        return {"type": ["object", "null"], "maxProperties": 0}
    schema = _schema_of(model, loaded)
    definitions |= {f"{loaded.name}.{key}": value for key, value in schema.pop("$defs", {}).items()}
    # In lower case, so that it is the name of no section, no plugin and no model of one.
    key = f"arguments.{loaded.name}"
    definitions[key] = schema
    reference = {"$ref": f"{_DEFINITIONS}{key}"}
    # A model that contains itself is a reference to its own definition.
    whole = definitions[schema["$ref"].removeprefix(_DEFINITIONS)] if "$ref" in schema else schema
    if refuses_unknown(model) and "properties" in whole:
        whole.setdefault("additionalProperties", False)
    if whole.get("required"):
        return reference
    return {"anyOf": [reference, {"type": "null"}]}


def _schema_of(model: type[BaseModel], loaded: LoadedPlugin) -> Schema:
    problem = f"the Arguments of {loaded.name} ({loaded.origin}) have no JSON Schema"
    with plugin_code(f"{problem}, so that they are not checked"):
        return model.model_json_schema(ref_template=f"{_DEFINITIONS}{loaded.name}.{{model}}")


def _rule(name: str, arguments: Mapping[str, Any]) -> Schema:
    """What an entry with this name may say."""
    then: Schema = {"properties": {"arguments": arguments}}
    if "$ref" in arguments:
        then["required"] = ["arguments"]
    return {"if": {"properties": {"name": {"const": name}}, "required": ["name"]}, "then": then}


def _name_plugins(definitions: Schema, rules: list[Schema], installed: tuple[str, ...]) -> None:
    """Name the plugins wherever one may be named, and say what each takes."""
    entry, plugins = definitions["EnabledPlugin"], definitions["PluginSet"]["properties"]
    entry["properties"]["name"] |= {"enum": list(installed)}
    if rules:
        entry["allOf"] = rules
    # A plugin that needs arguments cannot be named alone.
    needy = [rule["if"]["properties"]["name"]["const"] for rule in rules if "required" in rule["then"]]
    bare = {"enum": [name for name in installed if name not in needy]}
    plugins["enabled"]["items"]["anyOf"][0] |= bare
    plugins["disabled"]["items"] |= {"enum": [*installed, EVERY]}
