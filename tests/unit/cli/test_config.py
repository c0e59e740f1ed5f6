"""`kruntimes config` shows what holds, in a form that can be used again, and stops where the start does."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

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


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Written:
    """Write the file `c.yaml` of the folder in which the commands run."""
    monkeypatch.chdir(tmp_path)

    def write(content: str | bytes) -> str:
        Path("c.yaml").write_bytes(content.encode() if isinstance(content, str) else content)
        return "c.yaml"

    return write


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


# Mistakes: one of each kind. The words of all are held where the configuration and the registry are tested.
MISTAKES = {
    "unknown plugin": (
        "plugins:\n  enabled:\n  - LeestLoaded\n",
        "c.yaml:3: plugins.enabled[0]: no plugin 'LeestLoaded' is installed: did you mean LeastLoaded?",
    ),
    "unknown key": (
        "plugins:\n  enabled:\n  - name: LeastLoaded\n    wieght: 2\n",
        "c.yaml:4: plugins.enabled[0].wieght: unknown key: did you mean weight?",
    ),
    "weight 1.5": (
        "plugins:\n  enabled:\n  - name: LeastLoaded\n    weight: 1.5\n",
        "c.yaml:4: plugins.enabled[0].weight: must be a valid integer, not 1.5",
    ),
    "arguments of a plugin that takes none": (
        "plugins:\n  enabled:\n  - name: LeastLoaded\n    arguments: {a: 1}\n",
        "c.yaml:4: plugins.enabled[0].arguments: LeastLoaded takes no arguments: remove them",
    ),
    "everything disabled": (
        "plugins:\n  disabled: ['*']\n  enabled: [LeastLoaded]\n",
        "c.yaml:1: plugins: no active plugin of profile default provides capacity",
    ),
    "tabs": ("plugins:\n\tdisabled: []\n", "(a tab? YAML is indented with spaces)"),
    "a ConfigMap around it": (
        "apiVersion: v1\nkind: ConfigMap\ndata: {}\n",
        "c.yaml:1: apiVersion: must be 'kruntimes.io/config/v1', not 'v1'",
    ),
    "Latin-1": ("# f\xfcr alle\n".encode("latin-1"), "c.yaml:1: "),
    "UTF-16 cut": (b"\xff\xfep", "c.yaml:1: "),
}


def said(capsys: Capture, *arguments: str) -> str:
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("error: ")
    assert shown.err.count("\n") == 1
    return shown.err


@pytest.mark.parametrize(("content", "line"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_stops_the_check_and_the_start_with_its_place(
    written: Written, capsys: Capture, content: str | bytes, line: str
) -> None:
    file = written(content)
    checked = said(capsys, "config", "validate", file)
    assert line in checked
    assert checked.startswith("error: c.yaml:")
    assert said(capsys, "scheduler", "--config", file) == checked
    assert said(capsys, "config", "show", "--config", file) == checked


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("none.yaml", "none.yaml: no such file or directory: name a readable configuration file"),
        (".", ".: is a directory: name a readable configuration file"),
        ("c.yaml/below", "c.yaml/below: not a directory: name a readable configuration file"),
        ("", "the file's name is empty: name a readable configuration file"),
        ("n" * 300, "file name too long: name a readable configuration file"),
    ],
)
def test_what_is_no_file_stops_them_too(written: Written, capsys: Capture, path: str, line: str) -> None:
    written("")
    checked = said(capsys, "config", "validate", path)
    assert line in checked
    assert said(capsys, "scheduler", "--config", path) == checked


EMPTY = ["", "\n", "# nothing yet\n", "---\n", "{}", b"\xef\xbb\xbf", "null\n", "plugins:\n"]


@pytest.mark.parametrize("content", EMPTY)
def test_an_empty_file_means_the_defaults_and_so_does_an_empty_pipe(
    written: Written, capsys: Capture, monkeypatch: pytest.MonkeyPatch, content: str | bytes
) -> None:
    file = written(content)
    piped = io.BytesIO(content if isinstance(content, bytes) else content.encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(piped))
    for name, called in ((file, "c.yaml"), ("-", "standard input")):
        assert main(["config", "validate", name]) == 0
        said = capsys.readouterr().out
        assert said == f"{called} is valid: default (5 plugins); it sets nothing: all defaults hold\n"
    assert main(["config", "show", "--config", file]) == 0
    shown = capsys.readouterr().out
    assert main(["config", "show"]) == 0
    assert capsys.readouterr().out == shown


def test_one_that_names_its_kind_alone_sets_nothing_and_one_that_repeats_a_default_does(
    written: Written, capsys: Capture
) -> None:
    said = []
    for content in ("kind: SchedulerConfiguration\n", "heartbeatStalenessSeconds: 15\n"):
        assert main(["config", "validate", written(content)]) == 0
        said.append(capsys.readouterr().out)
    assert ["sets nothing" in line for line in said] == [True, False]
