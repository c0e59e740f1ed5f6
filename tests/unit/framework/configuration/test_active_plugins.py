"""The plugins that decide: which, in which order, with what; and what stops the host."""

from __future__ import annotations

import random
from typing import Any

import pytest

from kruntimes_core.framework.configuration import (
    Configuration,
    Profiles,
    build_profiles,
    load_configuration,
)
from kruntimes_core.framework.plugin_registry import LoadError
from kruntimes_core.model.messages import InputError

FIVE = ["RuntimePodAvailability", "RunAffinity", "WorkspacePlacement", "PreferredRunAffinity", "LeastLoaded"]
CAPACITY = "class {name}:\n  provides = {'capacity'}\n  @hookimpl\n  def filter(self, pod): ...\n"
SCORER = "class {name}:\n  @hookimpl\n  def score(self, pod): return 1\n"
RAISES = "raise RuntimeError('it was imported')"
QUEUE = "class {name}:\n  @hookimpl\n  def queue_key(self, run): return 1\n"
OFF = "class {name}:\n  on_by_default = False\n  @hookimpl\n  def filter(self, pod): ...\n"
LABELLED = """
class {name}:
    class Arguments(BaseModel):
        label: str
        zones: list[int] = []
    def __init__(self, arguments): self.arguments = arguments
    @hookimpl
    def filter(self, pod): return self.arguments
"""


def build(environment: Any, text: str = "", registry: Any = None) -> Profiles:
    return build_profiles(load_configuration(text, "c.yaml"), registry or environment.registry())


def names(environment: Any, text: str = "") -> list[str]:
    return [plugin.name for plugin in build(environment, text).all[0].plugins]


def refusal(environment: Any, text: str = "") -> str:
    with pytest.raises(InputError) as caught:
        build(environment, text)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def supplied(environment: Any) -> Any:
    environment.supplied()
    return environment


def test_without_a_configuration_the_supplied_come_in_their_order_then_others_by_name(supplied: Any) -> None:
    supplied.install("Zebra")
    supplied.install("Ant")
    supplied.install("Sleeper", OFF)
    assert names(supplied) == [*FIVE, "Ant", "Zebra"]


@pytest.mark.parametrize(
    ("plugins", "expected"),
    [
        ("{enabled: [Zebra]}", [*FIVE, "Zebra", "Ant"]),
        ("{enabled: [Sleeper, LeastLoaded, Zebra]}", [*FIVE, "Sleeper", "Zebra", "Ant"]),
        ("{disabled: [Ant, RunAffinity]}", [FIVE[0], *FIVE[2:], "Zebra"]),
        (
            "{disabled: ['*'], enabled: [Zebra, RuntimePodAvailability, Sleeper]}",
            ["Zebra", "RuntimePodAvailability", "Sleeper"],
        ),
        ("{disabled: ['*', Ant], enabled: [RuntimePodAvailability]}", ["RuntimePodAvailability"]),
        ("{disabled: [], enabled: null}", [*FIVE, "Ant", "Zebra"]),
    ],
)
def test_the_configuration_decides_first(supplied: Any, plugins: str, expected: list[str]) -> None:
    supplied.install("Zebra")
    supplied.install("Ant")
    supplied.install("Sleeper", OFF)
    assert names(supplied, f"plugins: {plugins}") == expected


def test_an_entry_for_a_default_replaces_it_where_it_stands(supplied: Any) -> None:
    text = "plugins: {enabled: [{name: LeastLoaded, weight: 7}, {name: PreferredRunAffinity, weight: 2}]}"
    plugins = build(supplied, text).all[0].plugins
    assert [(plugin.name, plugin.weight) for plugin in plugins] == [
        *[(name, 1) for name in FIVE[:3]],
        ("PreferredRunAffinity", 2),
        ("LeastLoaded", 7),
    ]


@pytest.mark.parametrize("seed", range(20))
def test_the_order_in_which_plugins_were_installed_decides_nothing(supplied: Any, seed: int) -> None:
    for name in ("FilterB", "FilterA", "ScoreB"):
        supplied.install(name)
    supplied.install("ScoreA", SCORER)
    order = supplied.distributions()
    random.Random(seed).shuffle(order)
    built = build(supplied, "plugins: {enabled: [ScoreB]}", supplied.registry(order))
    found = [plugin.name for plugin in built.all[0].plugins]
    assert found == [*FIVE, "ScoreB", "FilterA", "FilterB", "ScoreA"]


def test_a_disabled_plugin_is_never_imported(supplied: Any) -> None:
    module = supplied.install("Trap", RAISES)
    assert names(supplied, "plugins: {disabled: [Trap]}") == FIVE
    assert module not in supplied.imported()


def test_every_installed_plugin_is_meant_so_a_broken_one_stops_the_host(supplied: Any) -> None:
    supplied.install("Broken", RAISES, version="0.3")
    message = refusal(supplied)
    assert message.startswith("cannot load plugin Broken (acme-broken 0.3, entry point ")
    assert "RuntimeError: it was imported" in message
    assert message.endswith("to start without it, configure plugins: {disabled: [Broken]}")
    assert names(supplied, "plugins: {disabled: [Broken]}") == FIVE


def test_a_configuration_that_names_its_plugins_needs_no_others(supplied: Any) -> None:
    module = supplied.install("Broken", RAISES)
    only = "plugins: {disabled: ['*'], enabled: [RuntimePodAvailability%s]}"
    assert names(supplied, only % "") == ["RuntimePodAvailability"]
    assert module not in supplied.imported()
    message = refusal(supplied, only % ", Broken")
    assert message.endswith("to start without it, take it out of plugins.enabled")


def test_a_broken_plugin_that_is_off_by_default_is_needed_only_where_it_is_named(supplied: Any) -> None:
    supplied.install("Sleeper", "class Sleeper:\n  on_by_default = False\n")
    assert names(supplied) == FIVE
    assert "it has no hooks" in refusal(supplied, "plugins: {enabled: [Sleeper]}")


def test_two_owners_of_one_name_stop_the_host_unless_it_is_disabled(supplied: Any) -> None:
    supplied.install("Twin", distribution="acme")
    supplied.install("Twin", distribution="zoo")
    message = refusal(supplied)
    assert "acme 1.0 and zoo 1.0" in message
    assert "configure plugins: {disabled: [Twin]}" in message
    assert names(supplied, "plugins: {disabled: [Twin]}") == FIVE


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "plugins:\n  disabled: [gpu_filter]",
            "c.yaml:2: plugins.disabled[0]: no plugin 'gpu_filter' is installed",
        ),
        ("plugins:\n  disabled: [gpu_filter]", ": write GpuFilter"),
        ("plugins:\n  disabled: [gpu-filter]", ": write GpuFilter"),
        (
            "plugins:\n  enabled: [gpufilter]",
            "plugins.enabled[0]: no plugin 'gpufilter' is installed: write GpuFilter",
        ),
        ("plugins:\n  enabled: [LeestLoaded]", ": did you mean LeastLoaded?"),
        ("plugins:\n  disabled: [no-such]", "'no-such' is installed: known are GpuFilter, LeastLoaded"),
        (
            "profiles:\n- name: gpu\n  runtimes: [x]\n  plugins:\n    disabled: ['*', Nope]",
            "c.yaml:5: profiles[0].plugins.disabled[1]: no plugin 'Nope'",
        ),
    ],
)
def test_a_name_that_is_not_installed_is_reported_with_the_right_one(
    supplied: Any, text: str, words: str
) -> None:
    supplied.install("GpuFilter")
    assert words in refusal(supplied, text)


def test_a_supplied_plugin_that_is_missing_is_named_by_its_distribution(environment: Any) -> None:
    message = refusal(environment, "plugins: {enabled: [RunAffinity]}")
    assert message.endswith(
        "plugin RunAffinity is not installed: install the distribution kruntimes-run-affinity"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("{label: zone}", None),
        ("{label: 3}", "c.yaml:4: plugins.enabled[0].arguments.label: must be a valid string, not 3"),
        ("{zones: [1]}", "c.yaml:4: plugins.enabled[0].arguments.label: is required: add it"),
        (
            "{label: a, zones: [1, x]}",
            "c.yaml:4: plugins.enabled[0].arguments.zones[1]: must be a valid integer",
        ),
        ("null", "plugins.enabled[0].arguments.label: is required: add it"),
    ],
)
def test_arguments_are_checked_by_the_plugins_model(supplied: Any, arguments: str, words: str | None) -> None:
    supplied.install("Zones", LABELLED)
    text = f"plugins:\n  enabled:\n  - name: Zones\n    arguments: {arguments}\n"
    if words is not None:
        assert words in refusal(supplied, text)
        return
    built = build(supplied, text).all[0].plugins[-1]
    assert built.hooks["filter"].function("pod").label == "zone"


def test_required_arguments_of_a_plugin_that_nobody_named(supplied: Any) -> None:
    supplied.install("Zones", LABELLED)
    message = refusal(supplied, "plugins: {}")
    assert "plugins.enabled: Zones is on by default: its arguments.label is required: add it" in message
    assert message.endswith("name Zones in plugins.enabled with its arguments, or disable it")


def test_arguments_for_a_plugin_that_takes_none(supplied: Any) -> None:
    text = "plugins:\n  enabled:\n  - name: LeastLoaded\n    arguments: {a: 1}"
    message = refusal(supplied, text)
    assert message == "c.yaml:4: plugins.enabled[0].arguments: LeastLoaded takes no arguments: remove them"
    assert names(supplied, text.replace("{a: 1}", "{}")) == FIVE


def test_arguments_for_an_object_that_is_built_already(supplied: Any) -> None:
    """Its class takes some, but nobody would ever look at these."""
    supplied.install("Zones", LABELLED + "ready = Zones(Zones.Arguments(label='zone'))\n", value=":ready")
    text = "plugins:\n  enabled:\n  - name: Zones\n    arguments: {label: rack}"
    assert "Zones takes no arguments: remove them" in refusal(supplied, text)
    built = build(supplied, "plugins: {enabled: [Zones]}").all[0].plugins[-1]
    assert built.hooks["filter"].function("pod").label == "zone"


def test_each_runtime_has_one_profile_and_the_default_has_the_rest(supplied: Any) -> None:
    profiles = build(
        supplied,
        "plugins: {disabled: [RunAffinity]}\n"
        "profiles:\n"
        "- {name: gpu, runtimes: [torch, jax], plugins: {enabled: [{name: LeastLoaded, weight: 9}]}}\n"
        "- {name: bare, runtimes: [sh], plugins: {disabled: ['*'], enabled: [RuntimePodAvailability]}}\n",
    )
    assert [profile.name for profile in profiles.all] == ["default", "gpu", "bare"]
    assert [profiles.of(runtime).name for runtime in ("torch", "jax", "sh", "py")] == [
        "gpu",
        "gpu",
        "bare",
        "default",
    ]
    assert [profile.runtimes for profile in profiles.all] == [None, {"torch", "jax"}, {"sh"}]
    assert [
        plugin.name for plugin in profiles.of("torch").plugins
    ] == FIVE  # what another disables says nothing
    assert profiles.of("torch").plugins[-1].weight == 9
    assert profiles.of("py").plugins[-1].weight == 1


def test_profiles_share_no_instance(supplied: Any) -> None:
    profiles = build(supplied, "profiles: [{name: gpu, runtimes: [torch]}]")
    filters = [profile.plugins[0].hooks["filter"].function for profile in profiles.all]
    first, second = (getattr(function, "__self__") for function in filters)  # noqa: B009 - typeshed hides it
    assert first is not second


def test_a_host_has_one_queue(supplied: Any) -> None:
    supplied.install("Fair", QUEUE)
    supplied.install("Lanes", QUEUE)
    message = refusal(supplied)
    assert "Fair (acme-fair 1.0) and Lanes (acme-lanes 1.0) all order the queue" in message
    text = "plugins: {disabled: [Lanes]}\nprofiles: [{name: gpu, runtimes: [x], plugins: {disabled: [%s]}}]"
    assert "all order the queue" in refusal(supplied, text % "Fair")
    profiles = build(supplied, text % "Lanes")
    assert profiles.queue_plugin is profiles.all[0].plugins[-1]


def test_without_a_plugin_for_it_the_queue_is_in_order_of_arrival(supplied: Any) -> None:
    assert build(supplied).queue_plugin is None


def test_a_host_without_a_capacity_filter_does_not_schedule(environment: Any) -> None:
    message = refusal(environment)
    assert "no active plugin of profile default provides capacity" in message
    assert message.endswith(
        "install the distribution kruntimes-runtime-pod-availability, or set allowNoCapacityFilter: true"
    )
    assert build(environment, "allowNoCapacityFilter: true").all[0].plugins == ()
    environment.install("OwnCapacity", CAPACITY)
    assert names(environment) == ["OwnCapacity"]


def test_the_capacity_filter_is_missed_in_each_profile(supplied: Any) -> None:
    text = "profiles:\n- name: gpu\n  runtimes: [x]\n  plugins: {disabled: [RuntimePodAvailability]}"
    message = refusal(supplied, text)
    assert message.startswith(
        "c.yaml:4: profiles[0].plugins: no active plugin of profile gpu provides capacity"
    )
    assert "enable RuntimePodAvailability, or set" in message


def test_a_configuration_without_a_file_has_paths_and_no_lines(environment: Any) -> None:
    configuration = Configuration.model_validate({"plugins": {"disabled": ["Nope"]}})
    with pytest.raises(InputError, match=r"^plugins\.disabled\[0\]: no plugin 'Nope' is installed$"):
        build_profiles(configuration, environment.registry())
    twice = Configuration.model_validate({"plugins": {"enabled": ["A", "A"]}})
    with pytest.raises(InputError, match=r"^plugins\.enabled\[1\]: A is enabled twice"):
        build_profiles(twice, environment.registry())


def test_what_is_wrong_without_a_file_begins_with_the_thing(environment: Any) -> None:
    def said() -> str:
        with pytest.raises(InputError) as caught:
            build_profiles(Configuration(), environment.registry())
        return str(caught.value)

    assert said().startswith("no active plugin of profile default provides capacity")
    environment.supplied()
    zones = environment.install("Zones", LABELLED)
    assert said().startswith("Zones is on by default: its arguments.label is required: add it: name Zones in")
    assert zones in environment.imported()
    environment.install("Fair", QUEUE)
    environment.install("Lanes", QUEUE)
    both = Configuration.model_validate({"plugins": {"disabled": ["Zones"]}})
    with pytest.raises(InputError, match=r"^Fair \(acme-fair 1\.0\) and Lanes .* all order the queue"):
        build_profiles(both, environment.registry())


def test_a_plugin_that_cannot_be_built_says_how_to_start_without_it(supplied: Any) -> None:
    quits = "  def __init__(self): raise SystemExit(2)\n"
    supplied.install("Quitter", SCORER.replace("  @hookimpl", quits + "  @hookimpl"))
    with pytest.raises(LoadError, match=r"it cannot be built: SystemExit: 2.*disabled: \[Quitter\]"):
        build(supplied)
