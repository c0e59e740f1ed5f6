"""A mistake in a configuration: the check and the scheduler's start say the same line, and go no further."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable

import pytest

from kruntimes_core.cli.main import main

Written = Callable[[str | bytes], str]
Capture = pytest.CaptureFixture[str]


def weight(value: str) -> str:
    return f"plugins:\n  enabled:\n  - name: LeastLoaded\n    weight: {value}\n"


MISTAKES = {
    "unknown plugin": (
        "plugins:\n  enabled:\n  - LeestLoaded\n",
        "c.yaml:3: plugins.enabled[0]: no plugin 'LeestLoaded' is installed: did you mean LeastLoaded?",
    ),
    "unknown plugin that is disabled": (
        "plugins:\n  disabled: [no-such]\n",
        "c.yaml:2: plugins.disabled[0]: no plugin 'no-such' is installed: known are ",
    ),
    "unknown key": (
        "plugins:\n  enabled:\n  - name: LeastLoaded\n    wieght: 2\n",
        "c.yaml:4: plugins.enabled[0].wieght: unknown key: did you mean weight?",
    ),
    "weight 0": (
        weight("0"),
        "c.yaml:4: plugins.enabled[0].weight: must be greater than or equal to 1, not 0",
    ),
    "weight -1": (
        weight("-1"),
        "c.yaml:4: plugins.enabled[0].weight: must be greater than or equal to 1, not -1",
    ),
    "weight 1.5": (weight("1.5"), "c.yaml:4: plugins.enabled[0].weight: must be a valid integer, not 1.5"),
    "weight true": (weight("true"), "c.yaml:4: plugins.enabled[0].weight: must be a valid integer, not true"),
    "weight 10^9": (
        weight("1000000000"),
        "c.yaml:4: plugins.enabled[0].weight: must be less than or equal to 1000, not 1000000000",
    ),
    "arguments of a plugin that takes none": (
        "plugins:\n  enabled:\n  - name: LeastLoaded\n    arguments: {a: 1}\n",
        "c.yaml:4: plugins.enabled[0].arguments: LeastLoaded takes no arguments: remove them",
    ),
    "arguments beside the list of plugins": (
        "plugins:\n  enabled: []\n  arguments:\n    LeastLoaded: {a: 1}\n",
        "c.yaml:3: plugins.arguments: unknown key: known are disabled, enabled",
    ),
    "arguments of a plugin that is disabled": (
        "plugins:\n  disabled: [LeastLoaded]\n  enabled:\n  - name: LeastLoaded\n    arguments: {a: 1}\n",
        "c.yaml:4: plugins.enabled[0]: LeastLoaded is both enabled and disabled: remove one of the two",
    ),
    "enabled twice": (
        "plugins:\n  enabled:\n  - LeastLoaded\n  - {name: LeastLoaded, weight: 2}\n",
        "c.yaml:4: plugins.enabled[1]: LeastLoaded is enabled twice (plugins.enabled[0] too): keep one entry",
    ),
    "everything disabled": (
        "plugins:\n  disabled: ['*']\n  enabled: [LeastLoaded]\n",
        "c.yaml:1: plugins: no active plugin of profile default provides capacity",
    ),
    "tabs": ("plugins:\n\tdisabled: []\n", "(a tab? YAML is indented with spaces)"),
    "a key twice": ("plugins: {}\nplugins: {}\n", "c.yaml:2: the key 'plugins' occurs twice"),
    "a key twice, further in": (
        weight("1") + "    weight: 2\n",
        "c.yaml:5: the key 'weight' occurs twice",
    ),
    "apiVersion": (
        "apiVersion: kubescheduler.config.k8s.io/v1\n",
        "c.yaml:1: apiVersion: must be 'kruntimes.io/config/v1', not 'kubescheduler.config.k8s.io/v1'",
    ),
    "kind": (
        "kind: KubeSchedulerConfiguration\n",
        "c.yaml:1: kind: must be 'SchedulerConfiguration', not 'KubeSchedulerConfiguration'",
    ),
    "a ConfigMap around it": (
        "apiVersion: v1\nkind: ConfigMap\ndata: {}\n",
        "c.yaml:1: apiVersion: must be 'kruntimes.io/config/v1', not 'v1'",
    ),
    "Latin-1": ("# f\xfcr alle\n".encode("latin-1"), "c.yaml:1: "),
    "UTF-16 cut": (b"\xff\xfep", "c.yaml:1: "),
    "two documents": ("kind: SchedulerConfiguration\n---\n{}\n", "c.yaml:3: a second document"),
    "no mapping": ("just words\n", "c.yaml:1: write a mapping, `key: value`, not 'just words'"),
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
