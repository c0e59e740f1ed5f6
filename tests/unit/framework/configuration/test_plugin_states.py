"""`plugins list` has an answer for every installed plugin, above all when the host would not start."""

from __future__ import annotations

from typing import Any

import pytest

from kruntimes_core.framework.configuration import (
    ActivationState,
    PluginState,
    build_profiles,
    describe_plugins,
    load_configuration,
)

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
