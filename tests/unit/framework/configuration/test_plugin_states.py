"""`plugins list` has an answer for every installed plugin, above all when the host would not start."""

from __future__ import annotations

from typing import Any

import pytest

from kruntimes_core.framework.configuration import (
    ActivationState,
    BuildAttempts,
    Configuration,
    PluginState,
    build_profiles,
    describe_plugins,
    load_configuration,
)
from kruntimes_core.framework.plugin_registry import LoadError

RAISES = "raise SystemExit('it was imported')"
OFF = "class {name}:\n  on_by_default = False\n  @hookimpl\n  def filter(self, pod): ...\n"


def states(environment: Any, text: str = "") -> dict[str, PluginState]:
    return {
        one.name: one for one in describe_plugins(load_configuration(text, "c.yaml"), environment.registry())
    }


def test_an_active_plugin_shows_owner_hooks_and_weight(environment: Any) -> None:
    environment.supplied()
    shown = states(environment, "plugins: {enabled: [{name: LeastLoaded, weight: 3}]}")
    assert shown["LeastLoaded"] == PluginState(
        name="LeastLoaded",
        distribution="acme-leastloaded",
        version="1.0",
        state=ActivationState.ACTIVE,
        hooks=("score",),
        weight=3,
        profile="default",
    )
    assert shown["RunAffinity"].weight is None


def test_what_is_active_comes_first_as_it_is_asked_then_the_rest_by_name(environment: Any) -> None:
    environment.supplied()
    for name, source in (("Ant", None), ("Zebra", None), ("Sleeper", OFF), ("Broken", RAISES)):
        environment.install(name, *([source] if source else []))
    assert list(states(environment, "plugins: {enabled: [Zebra], disabled: [RunAffinity]}")) == [
        *("RuntimePodAvailability", "WorkspacePlacement", "PreferredRunAffinity", "LeastLoaded"),
        *("Zebra", "Ant"),
        *("Broken", "RunAffinity", "Sleeper"),
    ]
    exactly = "plugins: {disabled: ['*'], enabled: [LeastLoaded, RuntimePodAvailability]}"
    assert list(states(environment, exactly))[:2] == ["LeastLoaded", "RuntimePodAvailability"]


def test_the_order_is_that_of_the_profile_that_is_built(environment: Any) -> None:
    environment.supplied()
    environment.install("Ant")
    configuration = load_configuration("plugins: {enabled: [Ant], disabled: [LeastLoaded]}", "c.yaml")
    registry = environment.registry()
    active = [
        one.name for one in describe_plugins(configuration, registry) if one.state is ActivationState.ACTIVE
    ]
    assert active == [plugin.name for plugin in build_profiles(configuration, registry).all[0].plugins]


def test_hooks_are_shown_in_the_order_of_a_cycle(environment: Any) -> None:
    methods = "".join(
        f"  @hookimpl\n  def {hook}(self): ...\n" for hook in ("unreserve", "score", "filter", "prefilter")
    )
    environment.install("Many", "class Many:\n" + methods)
    assert states(environment)["Many"].hooks == ("prefilter", "filter", "score", "unreserve")


def test_why_a_plugin_does_not_decide(environment: Any) -> None:
    environment.supplied()
    environment.install("Sleeper", OFF)
    environment.install("Twin", distribution="acme")
    environment.install("Twin", distribution="zoo")
    environment.install("Broken", RAISES)
    trap = environment.install("Trap", RAISES)
    shown = describe_plugins(load_configuration("plugins: {disabled: [Trap]}", "c"), environment.registry())
    rows = [(one.name, one.distribution, one.state.value, one.why) for one in shown if one.why]
    assert [row[:3] for row in rows] == [
        ("Broken", "acme-broken", "broken"),
        ("Sleeper", "acme-sleeper", "off by default"),
        ("Trap", "acme-trap", "disabled"),
        ("Twin", "acme", "duplicate"),
        ("Twin", "zoo", "duplicate"),
    ]
    reasons = {row[0]: row[3] for row in rows}
    assert "SystemExit: it was imported" in reasons["Broken"]
    assert reasons["Sleeper"] == "off by default: name it in plugins.enabled to use it"
    assert reasons["Trap"] == "named in plugins.disabled"
    assert "uninstall one of them" in reasons["Twin"]
    assert trap not in environment.imported()


@pytest.mark.parametrize("disabled", ["[GpuFilter]", "['*', GpuFilter]"])
def test_a_disabled_plugin_shows_its_version_and_is_not_imported(environment: Any, disabled: str) -> None:
    environment.install("GpuFilter", RAISES, version="2.1")
    [shown] = describe_plugins(
        load_configuration(f"plugins: {{disabled: {disabled}}}", "c"), environment.registry()
    )
    assert (shown.state, shown.version, shown.hooks) == (ActivationState.DISABLED, "2.1", ())
    assert environment.imported() == []


def test_what_a_configuration_that_names_its_plugins_leaves_out(environment: Any) -> None:
    environment.install("Fine")
    environment.install("Sleeper", OFF)
    environment.install("Broken", RAISES)
    shown = states(environment, "plugins: {disabled: ['*'], enabled: [Sleeper]}")
    assert {name: one.state.value for name, one in shown.items()} == {
        "Broken": "broken",
        "Fine": "disabled",
        "Sleeper": "active",
    }
    assert shown["Fine"].why == 'plugins.disabled has "*", and plugins.enabled does not name it'


def test_each_profile_has_its_own_states(environment: Any) -> None:
    environment.supplied()
    environment.install("Sleeper", OFF)
    text = """
plugins: {disabled: [LeastLoaded]}
profiles:
- {name: gpu, runtimes: [x], plugins: {disabled: ['*'], enabled: [{name: LeastLoaded, weight: 4}]}}
"""
    listed = describe_plugins(load_configuration(text, "c.yaml"), environment.registry())
    assert [one.profile for one in listed] == ["default"] * 6 + ["gpu"] * 6
    of_default, of_gpu = (
        {one.name: one for one in listed if one.profile == name} for name in ("default", "gpu")
    )
    assert next(iter(of_gpu)) == list(of_default)[4] == "LeastLoaded"
    assert (of_gpu["LeastLoaded"].state, of_gpu["LeastLoaded"].weight) == (ActivationState.ACTIVE, 4)
    assert (of_default["LeastLoaded"].state, of_default["LeastLoaded"].weight) == (
        ActivationState.DISABLED,
        None,
    )
    assert of_default["LeastLoaded"].why == "named in plugins.disabled"
    place = "profiles[0].plugins"
    assert of_gpu["RunAffinity"].why == f'{place}.disabled has "*", and {place}.enabled does not name it'
    assert of_default["Sleeper"].why == "off by default: name it in plugins.enabled to use it"


@pytest.mark.parametrize("text", ["plugins: {enabled: [NotInstalled]}", "plugins: {disabled: [no-such]}"])
def test_names_that_nobody_knows_do_not_keep_the_list_from_working(environment: Any, text: str) -> None:
    environment.install("Alpha")
    assert states(environment, text)["Alpha"].state is ActivationState.ACTIVE


def test_with_a_configuration_that_cannot_be_read_nothing_is_imported(environment: Any) -> None:
    environment.install("Alpha", RAISES)
    [shown] = describe_plugins(None, environment.registry())
    assert (shown.name, shown.distribution, shown.version) == ("Alpha", "acme-alpha", "1.0")
    assert shown.state is ActivationState.UNKNOWN
    assert environment.imported() == []


def test_an_empty_environment_is_an_empty_list(environment: Any) -> None:
    assert states(environment) == {}


UNBUILT = {
    "an argument": (
        "class {name}:\n  def __init__(self, label): ...\n  @hookimpl\n  def filter(self, pod): ...\n"
    ),
    "abstract": (
        "import abc\nclass {name}(abc.ABC):\n  @abc.abstractmethod\n  def rule(self): ...\n"
        "  @hookimpl\n  def filter(self, pod): ...\n"
    ),
    "it raises": "class {name}:\n  def __init__(self): 1 / 0\n  @hookimpl\n  def filter(self, pod): ...\n",
    "arguments": (
        "class {name}:\n  class Arguments(BaseModel):\n    label: str\n"
        "  def __init__(self, arguments): ...\n  @hookimpl\n  def filter(self, pod): ...\n"
    ),
}


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("an argument", "required positional argument: 'label'"),
        ("abstract", "abstract"),
        ("it raises", "ZeroDivisionError"),
        ("arguments", "arguments.label is required"),
    ],
)
def test_what_cannot_be_built_is_not_active(environment: Any, kind: str, why: str) -> None:
    environment.supplied()
    environment.install("Bad", UNBUILT[kind])
    environment.install("Worse", UNBUILT[kind])
    shown = states(environment)
    for name in ("Bad", "Worse"):
        assert shown[name].state is ActivationState.BROKEN
        assert why in shown[name].why
    assert shown["LeastLoaded"].state is ActivationState.ACTIVE


def test_arguments_that_do_not_validate_are_why_a_plugin_is_broken(environment: Any) -> None:
    environment.install("Bad", UNBUILT["arguments"])
    shown = states(environment, "plugins: {enabled: [{name: Bad, arguments: {label: 3}}]}")["Bad"]
    assert (shown.state, shown.weight) == (ActivationState.BROKEN, None)
    assert shown.why.startswith("c.yaml:1: plugins.enabled[0].arguments.label: ")


def test_a_command_that_builds_and_describes_calls_a_constructor_once(environment: Any) -> None:
    environment.supplied()
    log = environment.root / "built"
    log.touch()
    source = (
        f"import pathlib\nclass {{name}}:\n  def __init__(self):\n    p = pathlib.Path({str(log)!r})\n"
        "    p.write_text(p.read_text() + '{name} ')\n  @hookimpl\n  def filter(self, pod): ...\n"
    ).replace("{{name}}", "{name}")
    environment.install("Aaa", source)
    environment.install("Bad", UNBUILT["it raises"])
    environment.install("Ccc", source)
    registry = environment.registry()
    attempts: BuildAttempts = {}
    with pytest.raises(LoadError, match="Bad"):
        build_profiles(Configuration(), registry, attempts=attempts)
    describe_plugins(Configuration(), registry, attempts)
    assert log.read_text() == "Aaa Ccc "


def test_a_version_that_does_not_count_is_a_row_that_names_the_one_that_does(environment: Any) -> None:
    module = environment.install("Alpha")
    environment.claim("acme-alpha", "0.9", f"Alpha = {module}:Alpha\nOld = {module}:Alpha", folder="old")
    registry = environment.registry(environment.distributions("", "old"))
    shown = {(one.name, one.version): one for one in describe_plugins(Configuration(), registry)}
    assert shown["Alpha", "1.0"].state is ActivationState.ACTIVE
    for name in ("Alpha", "Old"):
        assert shown[name, "0.9"].state is ActivationState.SHADOWED
        assert shown[name, "0.9"].why.startswith(f"acme-alpha 1.0 in {environment.root}")
    assert registry.names == ("Alpha",)


def test_one_class_is_not_two_plugins_of_a_profile(environment: Any) -> None:
    environment.supplied()
    module = environment.install("Alpha")
    environment.claim("acme-beta", "1", f"Beta = {module}:Alpha")
    registry = environment.registry()
    with pytest.raises(LoadError, match=r"it is plugin Alpha of acme-alpha 1\.0 under another name"):
        build_profiles(Configuration(), registry)
    assert states(environment)["Beta"].state is ActivationState.BROKEN
    alone = load_configuration("plugins: {disabled: [Alpha]}", "c.yaml")
    assert len(build_profiles(alone, registry).all[0].plugins) == 6


@pytest.mark.parametrize("value", [":built", ""])
def test_one_object_is_not_in_two_profiles(environment: Any, value: str) -> None:
    environment.supplied()
    source = (
        "class {name}:\n  @hookimpl\n  def filter(self, pod): ...\nbuilt = {name}()\n"
        "@hookimpl\ndef filter(pod): ...\n"
    )
    environment.install("Shared", source, value=value)
    two = "profiles: [{name: batch, runtimes: [torch]"
    with pytest.raises(LoadError, match="which profile default has already"):
        build_profiles(load_configuration(two + "}]", "c.yaml"), environment.registry())
    apart = load_configuration(two + ", plugins: {disabled: [Shared]}}]", "c.yaml")
    assert len(build_profiles(apart, environment.registry()).all) == 2
