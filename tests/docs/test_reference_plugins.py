"""What authors look up is what the code says: hooks, names, attributes, supplied plugins."""

import ast
import inspect
import re
from dataclasses import fields
from enum import EnumType

import pytest

import kruntimes_core
from kruntimes_core.framework.configuration import SUPPLIED
from kruntimes_core.framework.hookspecs import SchedulerHooks, argument_names, hook_names
from kruntimes_core.framework.plugin_registry import HOST_API, PluginRegistry
from kruntimes_core.framework.plugin_registry import checks as declared
from tests.docs.pages import first_column, page, rows

HOOKS = page("docs/reference/hooks.md")
NAMES = page("docs/reference/names.md")
ATTRIBUTES = page("docs/reference/attributes.md")
PLUGINS = page("docs/reference/plugins.md")

CLASSES = [name for name in kruntimes_core.__all__ if inspect.isclass(getattr(kruntimes_core, name))]


def test_hooks_stand_in_the_order_of_a_cycle() -> None:
    assert re.findall(r"^## (\w+)$", HOOKS.text, re.MULTILINE) == list(hook_names())


@pytest.mark.parametrize("hook", hook_names())
def test_a_hook_has_the_signature_of_its_specification(hook: str) -> None:
    function = getattr(SchedulerHooks, hook)
    section = HOOKS.section(hook)
    specified = f"def {hook}{inspect.signature(function)}: ...".replace("'", "")
    (shown,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    assert ast.dump(ast.parse(shown)) == ast.dump(ast.parse(specified))
    assert first_column(section) == list(argument_names(hook))


@pytest.mark.parametrize("hook", hook_names())
def test_a_hook_is_introduced_as_by_its_specification(hook: str) -> None:
    first_sentence = (inspect.getdoc(getattr(SchedulerHooks, hook)) or "").partition(".")[0]
    assert HOOKS.section(hook).strip().startswith(first_sentence)


def test_every_public_name_is_listed_once() -> None:
    assert sorted(first_column(NAMES.text.partition("\n## ")[0])) == sorted(kruntimes_core.__all__)


@pytest.mark.parametrize("name", CLASSES)
def test_every_public_attribute_of_a_value_is_listed(name: str) -> None:
    kind = getattr(kruntimes_core, name)
    own = {attribute for attribute in (*vars(kind), *getattr(kind, "_fields", ())) if attribute[0] != "_"}
    listed = {word for cell in first_column(_section_or_nothing(name)) for word in cell.split(", ")}
    assert listed == own


@pytest.mark.parametrize(
    "name", [name for name in CLASSES if isinstance(getattr(kruntimes_core, name), EnumType)]
)
def test_members_have_their_values(name: str) -> None:
    # What stands for no value of the API is described instead.
    described = {"UNKNOWN", "MISSING"}
    values = {member.name: member.value for member in getattr(kruntimes_core, name)}
    said = dict(rows(NAMES.section(name)))
    assert {key: said[key] for key in said if key not in described} == {
        key: values[key] for key in values if key not in described
    }


def _section_or_nothing(name: str) -> str:
    return NAMES.section(name) if f"\n## {name}\n" in NAMES.text else ""


def test_the_attributes_are_those_that_are_read() -> None:
    read = {field.name for field in fields(declared.Declaration)} - {"arguments"} | {"Arguments", "host_api"}
    assert set(first_column(ATTRIBUTES.text)) == read


def test_the_defaults_of_attributes_are_those_of_a_plugin_that_says_nothing() -> None:
    defaults = declared.Declaration()
    said = {row[0]: row[2] for row in rows(ATTRIBUTES.text)}
    for name in ("stateful", "normalize_keeps_best", "on_by_default"):
        assert said[name] == str(getattr(defaults, name))
    assert not defaults.reasons
    assert not defaults.provides
    assert said["reasons"] == said["provides"] == "empty"


def test_the_host_api_is_the_one_that_is_named() -> None:
    (row,) = [row for row in rows(ATTRIBUTES.text) if row[0] == "host_api"]
    assert row[3].endswith(f"this host has {HOST_API}")


def test_the_supplied_plugins_stand_in_their_order() -> None:
    assert re.findall(r"^## (\w+)$", PLUGINS.text, re.MULTILINE) == list(SUPPLIED)


@pytest.mark.parametrize("name", SUPPLIED)
def test_a_supplied_plugin_gives_these_reasons(name: str) -> None:
    installed = PluginRegistry().load(name)
    section = PLUGINS.section(name)
    assert [tuple(row) for row in rows(section)] == list(installed.declaration.reasons.items())
    assert f"`{installed.distribution}`" in section
    assert ("It provides `capacity`" in section) is ("capacity" in installed.declaration.provides)


@pytest.mark.parametrize("name", SUPPLIED)
def test_the_readme_of_a_supplied_plugin_names_its_reasons(name: str) -> None:
    installed = PluginRegistry().load(name)
    assert set(first_column(page(f"plugins/{installed.distribution}/README.md").text)) == set(
        installed.declaration.reasons
    )
