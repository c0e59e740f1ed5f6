"""The JSON Schema says of a file what the reader and the installed plugins say of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from kruntimes_core.framework.configuration import (
    Configuration,
    build_profiles,
    configuration_schema,
    load_configuration,
)
from kruntimes_core.framework.configuration.models import EnabledPlugin, PluginSet, ProfileSection
from kruntimes_core.model.messages import InputError

ZONES = """
class Zone(BaseModel):
    name: str
class {name}:
    class Arguments(BaseModel, extra="forbid"):
        label: str
        zones: list[Zone] = []
    def __init__(self, arguments): self.arguments = arguments
    @hookimpl
    def filter(self, pod): ...
"""
EASY = ZONES.replace("label: str", "label: str = 'zone'")
UNTOLD = ZONES.replace("label: str", "label: Callable[[], None] = print")
TREE = """
class Inner:
    class Arguments(BaseModel):
        depth: int
class Tree(BaseModel, extra="forbid"):
    label: str
    below: list[Tree] = []
    inner: Inner.Arguments | None = None
class {name}:
    Arguments = Tree
    def __init__(self, arguments): self.arguments = arguments
    @hookimpl
    def filter(self, pod): ...
"""
OFF = "class {name}:\n  on_by_default = False\n  @hookimpl\n  def filter(self, pod): ...\n"


@pytest.fixture
def supplied(environment: Any) -> Any:
    environment.supplied()
    environment.install("Zones", ZONES)
    environment.install("Easy", EASY)
    environment.install("Sleeper", OFF)
    return environment


def schema(environment: Any) -> dict[str, Any]:
    return configuration_schema(environment.registry()).document


def accepted(environment: Any, text: str) -> bool:
    validator = Draft202012Validator(schema(environment))
    return bool(validator.is_valid(yaml.safe_load(text)))


def starts(environment: Any, text: str) -> bool:
    try:
        build_profiles(load_configuration(text, "c.yaml"), environment.registry())
    except InputError:
        return False
    return True


ZONED = "plugins:\n  enabled:\n  - name: Zones\n    arguments: {label: zone%s}\n"
ONLY = "plugins: {disabled: ['*'], enabled: [RuntimePodAvailability, %s]}"


@pytest.mark.parametrize(
    ("text", "good"),
    [
        (ZONED % "", True),
        (ZONED % ", zones: [{name: a}]", True),
        (ZONED % ", zones: [{}]", False),
        (ZONED % ", zones: a", False),
        (ZONED % ", limit: 1", False),
        (ONLY % "Sleeper", True),
        (ONLY % "Easy", True),
        (ONLY % "{name: Easy}", True),
        (ONLY % "{name: Easy, arguments: null}", True),
        (ONLY % "{name: Easy, arguments: {label: 3}}", False),
        (ONLY % "Zones", False),
        (ONLY % "{name: Zones}", False),
        (ONLY % "{name: Zones, arguments: null}", False),
        (ONLY % "{name: LeastLoaded, weight: 7}", True),
        (ONLY % "{name: LeastLoaded, weight: null}", True),
        (ONLY % "{name: LeastLoaded, weight: 0}", False),
        (ONLY % "{name: LeastLoaded, weight: -1}", False),
        (ONLY % "{name: LeastLoaded, weight: 1.5}", False),
        (ONLY % "{name: LeastLoaded, weight: true}", False),
        (ONLY % "{name: LeastLoaded, weight: 1000000000}", False),
        (ONLY % "{name: LeastLoaded, arguments: {}}", True),
        (ONLY % "{name: LeastLoaded, arguments: {a: 1}}", False),
        (ONLY % "{weight: 1}", False),
        (ONLY % "Nope", False),
        ("plugins: {disabled: [Nope]}", False),
        ("plugins: {disabled: [Zones, Easy]}", True),
        ("plugins: {disabled: Zones}", False),
        ("plugin: {disabled: [Zones]}", False),
        ("plugins: {disabled: [Zones]}\nprofiles: null\nbackoff:\nkind:", True),
        ("plugins: {disabled: [Zones]}\nkind: Pod", False),
        ("plugins: {disabled: [Zones]}\napiVersion: kruntimes.io/config/v2", False),
        ("plugins: {disabled: [Zones]}\nheartbeatStalenessSeconds: 0", False),
        ("plugins: {disabled: [Zones]}\nprofiles: [{name: a, plugins: {disabled: [Zones]}}]", False),
        ("- plugins", False),
    ],
)
def test_the_schema_agrees_with_the_start_of_the_scheduler(supplied: Any, text: str, good: bool) -> None:
    assert accepted(supplied, text) is good
    assert starts(supplied, text) is good


@pytest.mark.parametrize(
    ("arguments", "good"),
    [
        ("{label: a}", True),
        ("{label: a, below: [{label: b, below: [{label: c}]}], inner: {depth: 2}}", True),
        ("{label: a, below: [{label: b, below: [{}]}]}", False),
        ("{label: a, inner: {depth: x}}", False),
        ("null", False),
    ],
)
@pytest.mark.parametrize("name", ["Backoff", "Forest"])
def test_arguments_may_contain_themselves_and_be_called_like_anything(
    environment: Any, name: str, arguments: str, good: bool
) -> None:
    environment.supplied()
    environment.install(name, TREE)
    text = ONLY % f"{{name: {name}, arguments: {arguments}}}"
    assert accepted(environment, text + "\nbackoff: {maxSeconds: 9}") is good
    assert starts(environment, text) is good


def test_the_schema_is_one_and_can_be_written_as_json(supplied: Any) -> None:
    made = schema(supplied)
    Draft202012Validator.check_schema(made)
    assert json.loads(json.dumps(made)) == made


def test_every_field_is_described_in_one_line(environment: Any) -> None:
    sections = [made := schema(environment), *made["$defs"].values()]
    told = [field.get("description", "") for section in sections for field in section["properties"].values()]
    assert all(told)
    assert not any("\n" in text for text in told)


@pytest.mark.parametrize(
    ("section", "path"),
    [
        (Configuration, ()),
        (PluginSet, ("$defs", "PluginSet")),
        (EnabledPlugin, ("$defs", "EnabledPlugin")),
        (ProfileSection, ("$defs", "ProfileSection")),
    ],
)
def test_the_keys_are_those_of_a_file(environment: Any, section: Any, path: tuple[str, ...]) -> None:
    found = schema(environment)
    for step in path:
        found = found[step]
    assert list(found["properties"]) == [field.alias for field in section.model_fields.values()]
    assert found["additionalProperties"] is False


def test_a_host_without_plugins_has_a_schema_too(environment: Any) -> None:
    Draft202012Validator.check_schema(schema(environment))
    assert accepted(environment, "allowNoCapacityFilter: true")
    assert not accepted(environment, "plugins: {enabled: [LeastLoaded]}")


def test_what_cannot_be_told_is_named_and_not_checked(supplied: Any) -> None:
    supplied.install("Untold", UNTOLD)
    supplied.install("Broken", "raise RuntimeError('not today')")
    found = configuration_schema(supplied.registry())
    broken, untold = found.problems
    assert broken.startswith("cannot load plugin Broken (acme-broken 1.0, entry point ")
    assert untold.startswith("the Arguments of Untold (acme-untold 1.0, entry point ")
    assert "have no JSON Schema, so that they are not checked: PydanticInvalidForJsonSchema: " in untold
    assert not any("\n" in problem for problem in found.problems)
    assert accepted(supplied, ONLY % "{name: Untold, arguments: {label: 7}}")
    assert accepted(supplied, "plugins: {disabled: [Broken]}")
