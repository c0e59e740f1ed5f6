"""`plugins list` has an answer for every installed plugin, above all when the host would not start."""

from __future__ import annotations

from typing import Any

import pytest

from kruntimes_core.framework.configuration import PluginState, State, describe, load_configuration

RAISES = "raise SystemExit('it was imported')"
OFF = "class {name}:\n  on_by_default = False\n  @hookimpl\n  def filter(self, pod): ...\n"


def states(environment: Any, text: str = "") -> dict[str, PluginState]:
    return {one.name: one for one in describe(load_configuration(text, "c.yaml"), environment.catalog())}


def test_an_active_plugin_shows_owner_hooks_and_weight(environment: Any) -> None:
    environment.supplied()
    shown = states(environment, "plugins: {enabled: [{name: LeastLoaded, weight: 3}]}")
    assert shown["LeastLoaded"] == PluginState(
        name="LeastLoaded",
        distribution="acme-leastloaded",
        version="1.0",
        state=State.ACTIVE,
        hooks=("score",),
        weight=3,
        profiles=("default",),
    )
    assert shown["RunAffinity"].weight is None
    assert list(shown) == sorted(shown)


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
    shown = describe(load_configuration("plugins: {disabled: [Trap]}", "c"), environment.catalog())
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
    [shown] = describe(load_configuration(f"plugins: {{disabled: {disabled}}}", "c"), environment.catalog())
    assert (shown.state, shown.version, shown.hooks) == (State.DISABLED, "2.1", ())
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


def test_a_plugin_is_active_where_one_profile_has_it(environment: Any) -> None:
    environment.supplied()
    text = """
plugins: {disabled: [LeastLoaded]}
profiles:
- {name: gpu, runtimes: [x], plugins: {enabled: [{name: LeastLoaded, weight: 4}]}}
"""
    shown = states(environment, text)
    assert (shown["LeastLoaded"].profiles, shown["LeastLoaded"].weight) == (("gpu",), 4)
    assert shown["RunAffinity"].profiles == ("default", "gpu")


@pytest.mark.parametrize("text", ["plugins: {enabled: [NotInstalled]}", "plugins: {disabled: [no-such]}"])
def test_names_that_nobody_knows_do_not_keep_the_list_from_working(environment: Any, text: str) -> None:
    environment.install("Alpha")
    assert states(environment, text)["Alpha"].state is State.ACTIVE


def test_with_a_configuration_that_cannot_be_read_nothing_is_imported(environment: Any) -> None:
    environment.install("Alpha", RAISES)
    [shown] = describe(None, environment.catalog())
    assert (shown.name, shown.distribution, shown.version) == ("Alpha", "acme-alpha", "1.0")
    assert shown.state is State.UNKNOWN
    assert environment.imported() == []


def test_an_empty_environment_is_an_empty_list(environment: Any) -> None:
    assert states(environment) == {}
