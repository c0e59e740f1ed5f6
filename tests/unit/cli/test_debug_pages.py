"""The debug address: what decides, as documents that name everything, on loopback alone."""

from __future__ import annotations

import json

import pytest

from kruntimes_core.cli.scheduler.command import SchedulerOptions
from kruntimes_core.cli.scheduler.debug_pages import decider_pages
from kruntimes_core.cli.scheduler.serve import addresses_of
from kruntimes_core.framework.configuration import (
    Configuration,
    Profiles,
    active_plugins,
    build_profiles,
    load_configuration,
)
from kruntimes_core.framework.plugin_registry import PluginRegistry
from kruntimes_core.model.messages import InputError

NARROW = (
    "apiVersion: kruntimes.io/config/v1\nkind: SchedulerConfiguration\nplugins: {disabled: [LeastLoaded]}\n"
)
ONLY_ONE = (
    "apiVersion: kruntimes.io/config/v1\nkind: SchedulerConfiguration\n"
    "plugins: {disabled: ['*'], enabled: [{name: RuntimePodAvailability}]}\n"
)


def built(configuration: Configuration) -> tuple[Configuration, PluginRegistry, Profiles]:
    registry = PluginRegistry()
    return configuration, registry, build_profiles(configuration, registry)


@pytest.mark.parametrize("text", [ONLY_ONE, NARROW], ids=["all others disabled", "one disabled"])
def test_a_page_imports_and_builds_nothing(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is made on the loop: the constructor of a plugin may take for ever."""
    in_force = built(load_configuration(text, "config"))
    pages = decider_pages(lambda: in_force)

    def called(*_: object, **__: object) -> None:
        raise AssertionError("a plugin was imported or built")

    monkeypatch.setattr(active_plugins, "build_plugin", called)
    monkeypatch.setattr("kruntimes_core.framework.plugin_registry.registry._load", called)
    states = {one["name"]: one["state"] for one in json.loads(pages["/plugins"]({})[0])["plugins"]}
    assert states["RuntimePodAvailability"] == "active"
    assert states["ZoneSpread"] == ("disabled" if text == ONLY_ONE else "off by default")


def test_the_pages_show_what_is_in_force_when_they_are_read() -> None:
    in_force = built(Configuration())
    pages = decider_pages(lambda: in_force)

    def active() -> set[str]:
        text, kind = pages["/plugins"]({})
        assert kind == "application/json"
        return {one["name"] for one in json.loads(text)["plugins"] if one["state"] == "active"}

    def enabled() -> set[str]:
        text, kind = pages["/configuration"]({})
        assert kind == "application/json"
        return {one["name"] for one in json.loads(text)["plugins"]["enabled"]}

    assert "LeastLoaded" in active()
    assert active() == enabled()
    in_force = built(load_configuration(NARROW, "config"))
    assert "LeastLoaded" not in active()
    assert active() == enabled()


@pytest.mark.parametrize("address", [":8082", "0.0.0.0:8082", "10.0.0.1:1", "[::]:1", "example.org:1"])
def test_it_listens_on_loopback_alone(address: str) -> None:
    with pytest.raises(InputError, match="is not a loopback address: write "):
        addresses_of(SchedulerOptions(debug_bind_address=address))


@pytest.mark.parametrize("address", ["127.0.0.1:8082", "[::1]:8082", "localhost:0"])
def test_loopback_has_several_names(address: str) -> None:
    *_, debug = addresses_of(SchedulerOptions(debug_bind_address=address))
    assert debug is not None


def test_it_is_off_unless_it_is_given() -> None:
    *_, debug = addresses_of(SchedulerOptions())
    assert debug is None
