"""A configuration file is read as written, or refused with file, line and path."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kruntimes_core.framework.configuration import (
    Configuration,
    ConfigurationError,
    configuration_from,
    load_configuration,
)
from kruntimes_core.model.messages import InputError

FULL = """\
apiVersion: kruntimes.io/config/v1
kind: SchedulerConfiguration
plugins:
  disabled: [RunAffinity]
  enabled:
    - name: LeastLoaded
      weight: 2
      arguments: {limit: 3}
    - Other
profiles:
  - name: gpu
    runtimes: [gpu-torch]
    plugins: {disabled: ["*"], enabled: [LeastLoaded]}
heartbeatStalenessSeconds: 20
backoff: {initialSeconds: 0.5, maxSeconds: 90}
sweepIntervalSeconds: 60
allowNoCapacityFilter: true
requestsInFlight: 64
"""


def load(text: str | bytes) -> Configuration:
    return load_configuration(text, "c.yaml")


@pytest.mark.parametrize("text", [FULL, FULL.encode(), "\ufeff" + FULL])
def test_every_field_is_read(text: str | bytes) -> None:
    read = load(text)
    assert read.plugins.disabled == ("RunAffinity",)
    first, second = read.plugins.enabled
    assert (first.name, first.weight, first.arguments) == ("LeastLoaded", 2, {"limit": 3})
    assert (second.name, second.weight, second.arguments) == ("Other", 1, None)
    [gpu] = read.profiles
    assert (gpu.name, gpu.runtimes, gpu.plugins.disabled) == ("gpu", ("gpu-torch",), ("*",))
    assert (read.heartbeat_staleness_seconds, read.sweep_interval_seconds) == (20, 60)
    assert (read.backoff.initial_seconds, read.backoff.max_seconds) == (0.5, 90)
    assert read.allow_no_capacity_filter is True
    assert read.requests_in_flight == 64


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "# nothing\n",
        "---\n",
        "{}",
        "null",
        "plugins:\n",
        "plugins: {disabled: null, enabled: }",
        "plugins: {disabled: [], enabled: []}",
        "profiles:\nbackoff:\nheartbeatStalenessSeconds:\n",
        b"",
    ],
)
def test_nothing_means_the_defaults(text: str | bytes) -> None:
    assert load(text) == Configuration()


def test_the_defaults_are_these() -> None:
    default = Configuration()
    assert (default.heartbeat_staleness_seconds, default.sweep_interval_seconds) == (15, 30)
    assert (default.backoff.initial_seconds, default.backoff.max_seconds) == (1, 60)
    assert default.allow_no_capacity_filter is False
    assert default.requests_in_flight == 32
    assert [*default.plugins.enabled, *default.plugins.disabled, *default.profiles] == []


def entry(field: str) -> str:
    return f"plugins:\n  enabled:\n    - name: A\n      {field}\n"


MISTAKES = [
    (entry("weight: 0"), "c.yaml:4: plugins.enabled[0].weight: must be greater than or equal to 1, not 0"),
    (entry("weight: -1"), "c.yaml:4: plugins.enabled[0].weight: must be greater than or equal to 1, not -1"),
    (entry("weight: 1.5"), "c.yaml:4: plugins.enabled[0].weight: must be a valid integer, not 1.5"),
    (entry("weight: 2.0"), "c.yaml:4: plugins.enabled[0].weight: must be a valid integer, not 2.0"),
    (entry("weight: true"), "c.yaml:4: plugins.enabled[0].weight: must be a valid integer, not true"),
    (entry("weight: '2'"), "c.yaml:4: plugins.enabled[0].weight: must be a valid integer, not '2'"),
    (entry("weight: 1000000000"), "c.yaml:4: plugins.enabled[0].weight: must be less than or equal to 1000"),
    (entry("weight: 1001"), "must be less than or equal to 1000, not 1001"),
    (entry("wieght: 2"), "c.yaml:4: plugins.enabled[0].wieght: unknown key: did you mean weight?"),
    (entry("arguments: [1]"), "c.yaml:4: plugins.enabled[0].arguments: must be a mapping, not a list"),
    (entry("arguments: x"), "c.yaml:4: plugins.enabled[0].arguments: must be a mapping"),
    ("plugins:\n  enabled: [{weight: 1}]", "c.yaml:2: plugins.enabled[0].name: is required: add it"),
    ("plugins:\n  enabled: [3]", "c.yaml:2: plugins.enabled[0]: write a mapping"),
    ("plugins:\n  enabled: [null]", "c.yaml:2: plugins.enabled[0]: write a mapping, `key: value`, not null"),
    ("plugins:\n  enabled: ['']", "plugins.enabled[0].name: must have at least 1 character"),
    ("plugins:\n  enabled: A", "c.yaml:2: plugins.enabled: write a list, as in [A], not 'A'"),
    (
        "plugins:\n  enabled: {name: A}",
        "c.yaml:2: plugins.enabled: write a list, as in [Name], not a mapping",
    ),
    (
        "plugins:\n  disabled: gpu-filter",
        "plugins.disabled: write a list, as in [gpu-filter], not 'gpu-filter'",
    ),
    ("plugins:\n  disabled: [1]", "c.yaml:2: plugins.disabled[0]: must be a valid string, not 1"),
    ("plugins:\n  disabled: [yes]", "c.yaml:2: plugins.disabled[0]: must be a valid string, not true"),
    ("plugins: [A]", "c.yaml:1: plugins: write a mapping, `key: value`, not a list"),
    ("plugin: {}", "c.yaml:1: plugin: unknown key: did you mean plugins?"),
    ("heartbeat_staleness_seconds: 3", "unknown key: write heartbeatStalenessSeconds"),
    ("plugins:\n  disable: [A]", "c.yaml:2: plugins.disable: unknown key: did you mean disabled?"),
    ("- A", "c.yaml:1: write a mapping, `key: value`, not a list"),
    ("word", "c.yaml:1: write a mapping, `key: value`, not 'word'"),
    ("apiVersion: kruntimes.io/config/v2", "c.yaml:1: apiVersion: must be 'kruntimes.io/config/v1', not"),
    ("kind: Pod", "c.yaml:1: kind: must be 'SchedulerConfiguration', not 'Pod'"),
    ("\n\nheartbeatStalenessSeconds: 0", "c.yaml:3: heartbeatStalenessSeconds: must be greater than"),
    ("heartbeatStalenessSeconds: 15s", "heartbeatStalenessSeconds: must be a valid number, not '15s'"),
    ("heartbeatStalenessSeconds: true", "heartbeatStalenessSeconds: must be a valid number, not true"),
    ("heartbeatStalenessSeconds: .nan", "heartbeatStalenessSeconds: must be a finite number"),
    ("sweepIntervalSeconds: 1000000000", "sweepIntervalSeconds: must be less than or equal to 3600"),
    ("requestsInFlight: 0", "requestsInFlight: must be greater than or equal to 1"),
    ("requestsInFlight: 1.5", "requestsInFlight: must be a valid integer, not 1.5"),
    ("requestsInFlight: 257", "requestsInFlight: must be less than or equal to 256"),
    ("allowNoCapacityFilter: 1", "allowNoCapacityFilter: must be a valid boolean, not 1"),
    ("backoff: {initialSeconds: 61}", "backoff.initialSeconds: must not exceed backoff.maxSeconds (60)"),
    ("backoff: {maxSeconds: 0}", "backoff.maxSeconds: must be greater than or equal to"),
    ("profiles: [{name: gpu}]", "profiles[0].runtimes: is required"),
    (
        "profiles: [{name: gpu, runtimes: []}]",
        "profiles[0].runtimes: must have at least one entry, not an empty list",
    ),
    ("profiles: [{name: gpu, runtimes: py}]", "profiles[0].runtimes: write a list, as in [py]"),
    ("profiles: [{name: gpu, runtimes: [a b]}]", "profiles[0].runtimes[0]: must match pattern"),
    (
        "profiles:\n- {name: default, runtimes: [a]}",
        "c.yaml:2: profiles[0].name: default is already the name of",
    ),
    (
        "profiles:\n- {name: a, runtimes: [x]}\n- {name: a, runtimes: [y]}",
        "c.yaml:3: profiles[1].name: a is already the name of profiles[0]: choose another",
    ),
    (
        "profiles:\n- {name: a, runtimes: [x]}\n- {name: b, runtimes: [y, x]}",
        "c.yaml:3: profiles[1].runtimes[1]: runtime x already belongs to profile a: name it once",
    ),
    (
        "plugins:\n  disabled: [A]\n  enabled:\n  - A",
        "c.yaml:4: plugins.enabled[0]: A is both enabled and disabled: remove one of the two",
    ),
    (
        "plugins:\n  enabled:\n  - A\n  - {name: A, weight: 2}",
        "c.yaml:4: plugins.enabled[1]: A is enabled twice (plugins.enabled[0] too): keep one entry",
    ),
    ("plugins: {enabled: ['*']}", 'plugins.enabled[0]: "*" stands in disabled only'),
    (
        "profiles:\n- name: a\n  runtimes: [x]\n  plugins:\n    enabled: [B, B]",
        "c.yaml:5: profiles[0].plugins.enabled[1]: B is enabled twice",
    ),
    ("plugins:\n\tdisabled: [A]", "c.yaml:2: "),
    ("plugins: {}\nplugins: {}", "c.yaml:2: the key 'plugins' occurs twice"),
    ("plugins: {}\n---\nplugins: {}", "c.yaml:3: a second document"),
    ("a: &a [*a]", "c.yaml:1: found unconstructable recursive node"),
    (b"\x00\x01", "c.yaml:1: "),
]


@pytest.mark.parametrize(("text", "words"), MISTAKES)
def test_a_mistake_is_told_in_one_line_with_its_place(text: str | bytes, words: str) -> None:
    with pytest.raises(InputError) as caught:
        load(text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("weight", [1, 1000])
def test_weights_go_from_1_to_1000(weight: int) -> None:
    assert load(entry(f"weight: {weight}")).plugins.enabled[0].weight == weight


def test_json_is_as_good_as_yaml() -> None:
    assert load(json.dumps({"plugins": {"disabled": ["A"]}})).plugins.disabled == ("A",)
    with pytest.raises(ConfigurationError, match=r"^c\.yaml:2: plugins\.disabled: write a list"):
        load('{"plugins":\n{"disabled": "A"}}')


def test_a_path_is_a_file_and_no_path_means_the_defaults(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("allowNoCapacityFilter: true")
    assert configuration_from(str(file)).allow_no_capacity_filter
    assert configuration_from(None) == Configuration()
    with pytest.raises(ConfigurationError, match="no such file or directory: name a readable"):
        configuration_from(str(tmp_path / "none.yaml"))
    with pytest.raises(ConfigurationError, match="is a directory"):
        configuration_from(str(tmp_path))


def test_the_schema_explains_every_field_and_allows_a_bare_name() -> None:
    schema = Configuration.model_json_schema()
    sections = [schema, *schema["$defs"].values()]
    fields = [(name, field) for section in sections for name, field in section["properties"].items()]
    assert [name for name, field in fields if not field.get("description")] == []
    items = schema["$defs"]["PluginSet"]["properties"]["enabled"]["items"]
    assert items == {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/EnabledPlugin"}]}
