"""What holds, where it is said, and that writing it down changes nothing."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from kruntimes_core.framework.configuration import (
    Configuration,
    active_entries,
    build_profiles,
    effective_document,
    effective_settings,
    load_configuration,
)
from kruntimes_core.framework.plugin_registry import LoadError

TUNED = """\
plugins:
  disabled: [RunAffinity]
  enabled:
  - {name: LeastLoaded, weight: 7}
  - Zebra
  - name: Zones
    arguments: {label: rack}
profiles:
- name: batch
  runtimes: [torch, jax]
  plugins:
    disabled: ["*"]
    enabled: [LeastLoaded, RuntimePodAvailability]
heartbeatStalenessSeconds: 20.5
backoff:
  maxSeconds: 90
"""
ZONES = """
class {name}:
    on_by_default = False
    class Arguments(BaseModel):
        label: str = "zone"
    def __init__(self, arguments): self.arguments = arguments
    @hookimpl
    def filter(self, pod): return self.arguments
"""


@pytest.fixture
def supplied(environment: Any) -> Any:
    environment.supplied()
    environment.install("Zebra")
    environment.install("Ant")
    environment.install("Zones", ZONES)
    return environment


def load(text: str) -> Configuration:
    return load_configuration(text, "c.yaml")


def test_each_setting_says_where_it_comes_from() -> None:
    found = {one.field: (one.value, one.origin) for one in effective_settings(load(TUNED))}
    assert found["heartbeatStalenessSeconds"] == (20.5, "c.yaml:14")
    assert found["backoff.maxSeconds"] == (90, "c.yaml:16")
    assert found["backoff.initialSeconds"] == (1, "default")
    assert found["allowNoCapacityFilter"] == (False, "default")
    assert found["kind"] == ("SchedulerConfiguration", "default")


def test_a_value_that_is_given_as_null_is_a_default() -> None:
    found = {
        one.field: one.origin for one in effective_settings(load("sweepIntervalSeconds:\nbackoff: null\n"))
    }
    assert set(found.values()) == {"default"}


def test_the_active_plugins_stand_in_their_order_with_weight_and_place(supplied: Any) -> None:
    found = [
        (one.profile, one.runtimes, one.name, one.weight, one.arguments, one.origin)
        for one in active_entries(load(TUNED), supplied.registry())
    ]
    batch = ("jax", "torch")
    assert found == [
        ("default", None, "RuntimePodAvailability", None, None, "default"),
        ("default", None, "WorkspacePlacement", None, None, "default"),
        ("default", None, "PreferredRunAffinity", 1, None, "default"),
        ("default", None, "LeastLoaded", 7, None, "c.yaml:4"),
        ("default", None, "Zebra", None, None, "c.yaml:5"),
        ("default", None, "Zones", None, {"label": "rack"}, "c.yaml:6"),
        ("default", None, "Ant", None, None, "default"),
        ("batch", batch, "LeastLoaded", 1, None, "c.yaml:13"),
        ("batch", batch, "RuntimePodAvailability", None, None, "c.yaml:13"),
    ]


@pytest.mark.parametrize("text", [TUNED, "", "profiles: [{name: a, runtimes: [x]}]"])
def test_the_document_means_the_same_and_leaves_nothing_open(supplied: Any, text: str) -> None:
    registry = supplied.registry()
    written = yaml.safe_dump(effective_document(load(text), registry), sort_keys=False)
    supplied.install("Newcomer")
    again = load(written)
    assert decided(again, supplied.registry()) == decided(load(text), registry)
    assert effective_document(again, supplied.registry()) == effective_document(load(text), registry)
    assert {one.origin for one in effective_settings(again)}.isdisjoint({"default"})


def decided(configuration: Configuration, registry: Any) -> tuple[Any, ...]:
    """All that a configuration decides, as the host sees it."""
    profiles = [
        (profile.name, profile.runtimes, [(one.name, one.weight) for one in profile.plugins])
        for profile in build_profiles(configuration, registry).all
    ]
    return profiles, configuration.model_dump(exclude={"plugins", "profiles"})


def test_a_plugin_that_is_meant_and_broken_is_no_part_of_what_holds(supplied: Any) -> None:
    supplied.install("Broken", "raise RuntimeError('not today')")
    with pytest.raises(LoadError, match="not today"):
        effective_document(load(""), supplied.registry())
