"""`kruntimes config`: what holds is shown, and what is shown can be used again."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable

import pytest
import yaml
from jsonschema import Draft202012Validator

from kruntimes_core.cli.main import main

Written = Callable[[str | bytes], str]
Capture = pytest.CaptureFixture[str]

TUNED = """\
plugins:
  disabled: ["*"]
  enabled:
  - RuntimePodAvailability
  - {name: LeastLoaded, weight: 3}
profiles:
- name: batch
  runtimes: [torch]
  plugins: {disabled: ["*"], enabled: [RuntimePodAvailability]}
heartbeatStalenessSeconds: 20
"""


def answer(capsys: Capture, *arguments: str) -> str:
    assert main(arguments) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    return shown.out


def test_what_holds_is_shown_with_its_place(written: Written, capsys: Capture) -> None:
    shown = answer(capsys, "config", "show", "--config", written(TUNED))
    fields, _, plugins = shown.partition("\n\n")
    assert re.search(r"^heartbeatStalenessSeconds +20 +c\.yaml:10$", fields, re.MULTILINE)
    assert re.search(r"^sweepIntervalSeconds +30 +default$", fields, re.MULTILINE)
    headings, *rows = [re.split(" {3,}", line) for line in plugins.splitlines()]
    assert headings == [
        "PROFILE",
        "RUNTIMES",
        "PLUGIN",
        "WEIGHT",
        "ARGUMENTS",
        "DISTRIBUTION",
        "VERSION",
        "FROM",
    ]
    assert [[*row[:4], row[-1]] for row in rows] == [
        ["default", "all others", "RuntimePodAvailability", "<none>", "c.yaml:4"],
        ["default", "all others", "LeastLoaded", "3", "c.yaml:5"],
        ["batch", "torch", "RuntimePodAvailability", "<none>", "c.yaml:9"],
    ]


def test_a_new_weight_takes_the_place_of_the_default_one(written: Written, capsys: Capture) -> None:
    file = written("plugins: {enabled: [{name: LeastLoaded, weight: 5}]}")
    shown = json.loads(answer(capsys, "config", "show", "--config", file, "-o", "json"))
    enabled = shown["plugins"]["enabled"]
    assert [entry for entry in enabled if entry["name"] == "LeastLoaded"] == [
        {"name": "LeastLoaded", "weight": 5}
    ]
    default = json.loads(answer(capsys, "config", "show", "-o", "json"))
    assert [entry["name"] for entry in enabled] == [entry["name"] for entry in default["plugins"]["enabled"]]


def test_all_disabled_and_one_enabled_is_one(written: Written, capsys: Capture) -> None:
    file = written("plugins: {disabled: ['*'], enabled: [RuntimePodAvailability]}")
    shown = answer(capsys, "config", "show", "--config", file, "-o", "yaml")
    assert yaml.safe_load(shown)["plugins"] == {
        "disabled": ["*"],
        "enabled": [{"name": "RuntimePodAvailability"}],
    }
    assert answer(capsys, "config", "validate", file) == "c.yaml is valid: default (1 plugin)\n"


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_what_is_shown_is_a_configuration_that_says_the_same(
    written: Written, capsys: Capture, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    shown = answer(capsys, "config", "show", "--config", written(TUNED), "-o", form)
    assert answer(capsys, "config", "show", "--config", written(shown), "-o", form) == shown
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(shown.encode())))
    said = answer(capsys, "config", "validate", "-")
    assert said == "standard input is valid: default (2 plugins), batch (1 plugin)\n"


def test_a_mistake_on_standard_input_has_a_place_too(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\nplugin: {}\n")))
    assert main(["config", "validate", "-"]) == 2
    assert capsys.readouterr().err == (
        "error: standard input:2: plugin: unknown key: did you mean plugins?\n"
    )


def test_the_schema_takes_what_is_shown(written: Written, capsys: Capture) -> None:
    schema = json.loads(answer(capsys, "config", "schema"))
    validator = Draft202012Validator(schema)
    shown = json.loads(answer(capsys, "config", "show", "--config", written(TUNED), "-o", "json"))
    validator.validate(shown)
    shown["plugins"]["enabled"][1]["weight"] = 0
    assert not validator.is_valid(shown)


def test_a_name_that_moves_the_cursor_is_shown_escaped(written: Written, capsys: Capture) -> None:
    file = written('profiles: [{name: "a\\x1b[2J", runtimes: [x]}]')
    assert "\x1b" not in answer(capsys, "config", "show", "--config", file)
    assert "\x1b" not in answer(capsys, "config", "validate", file)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["validate"], "missing argument 'FILE' (see kruntimes config validate --help)"),
        (["validate", "a", "b"], "got unexpected extra argument"),
        (["valdate"], "no such command 'valdate': did you mean validate?"),
        (["show", "-o", "wide"], "'wide' is not one of 'table', 'yaml', 'json'"),
    ],
)
def test_a_wrong_call_is_one_line(capsys: Capture, arguments: list[str], line: str) -> None:
    assert main(["config", *arguments]) == 2
    shown = capsys.readouterr()
    assert line in shown.err
    assert shown.err.count("\n") == 1
