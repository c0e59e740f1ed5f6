"""Whatever is wrong with the input is one line that names the thing and says what to do, and exit code 2."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from kruntimes_core.testing import affinity_object, pod_object, run_object, term_object
from tests.scenarios.conftest import Command, Configure, Write
from tests.scenarios.planning import Object
from tests.scenarios.site import run_command

UNREADABLE: dict[str, tuple[Object, str, tuple[str, ...]]] = {
    "an exponent without end": (
        run_object("bad", requests={"gpu": "1e999999999"}),
        "InvalidResources",
        ("gpu", "1e999999999", "is too large", "write at most"),
    ),
    "no quantity": (
        run_object("bad", requests={"gpu": "1K"}),
        "InvalidResources",
        ("gpu", "'1K'", "is not a Kubernetes quantity", "write a number such as"),
    ),
    "an unknown operator": (
        run_object(
            "bad",
            affinity=affinity_object(
                required=[term_object(expressions=[{"key": "app", "operator": "in", "values": ["a"]}])]
            ),
        ),
        "InvalidAffinity",
        ("matchExpressions[0].operator", "'in'", "write In, NotIn, Exists, DoesNotExist"),
    ),
    "no runtime": (
        run_object("bad", spec={"runtime": None}),
        "InvalidObject",
        ("spec.runtime", "write the name of one"),
    ),
    "a list for a map": (
        run_object("bad", spec={"resources": {"requests": ["gpu"]}}),
        "InvalidResources",
        ("spec.resources.requests", "a list", "write a map"),
    ),
    "a number for a label": (
        run_object("bad", metadata={"labels": {"app": 5}}),
        "InvalidObject",
        ("metadata.labels", "quote numbers"),
    ),
}


@pytest.mark.parametrize("form", ["yaml", "json"])
@pytest.mark.parametrize("mistake", UNREADABLE)
def test_a_run_that_cannot_be_read_is_a_line_beside_the_whole_plan(
    mistake: str, form: str, manifests: Write, kruntimes: Command
) -> None:
    bad, reason, words = UNREADABLE[mistake]
    file = manifests(pod_object("py-0"), bad, run_object("ok"), name=f"runs.{form}")
    result = kruntimes("plan", "-f", file, "-o", "json")
    assert result.returncode == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"{file}")
    assert "Run team-a/bad" in line
    assert all(word in line for word in words)
    decided = {one["run"]: one for one in json.loads(result.stdout)["decisions"]}
    assert (decided["bad"]["outcome"], decided["bad"]["reason"]) == ("Failed", reason)
    assert decided["ok"]["pod"] == "py-0"


def test_the_line_in_a_yaml_file_is_that_of_the_field(tmp_path: Path, kruntimes: Command) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(
        "apiVersion: kruntimes.io/v1alpha1\n"
        "kind: Run\n"
        "metadata: {name: bad}\n"
        "spec:\n"
        "  runtime: py\n"
        "  resources:\n"
        "    requests:\n"
        "      cpu: 1\n"
        "      gpu: 1e999999999\n"
    )
    result = kruntimes("plan", "-f", file, "--now", "2026-01-02T03:04:05Z", "-o", "name")
    assert result.stderr.splitlines()[-1].startswith(f"{file}:9: Run default/bad: ")


BROKEN_FILES = {
    "a: [1, 2\n": "1",
    "kind: Run\n  metadata: {}\n": "2",
    "a: 1\na: 2\n": "2",
    "\tkind: Run\n": "1",
    "kind: &a {b: *a}\n": "1",
    "- just\n- a list\n": "1",
    "kind: Run\n": "1",
    "apiVersion: kruntimes.io/v1alpha1\nkind: Run\n": "1",
    "apiVersion: kruntimes.io/v1alpha1\nkind: Run\nmetadata: {name: 5}\n": "3",
    "apiVersion: kruntimes.io/v1beta1\nkind: Run\nmetadata: {name: a}\n": "1",
    "apiVersion: v1\nkind: List\nitems: {a: 1}\n": "3",
    "!!python/object/apply:os.system ['true']\n": "1",
    "a: !secret x\n": "1",
    "%BAD\n---\n": "1",
    "a: 'open\n": "1",
    '{"kind": }': "1",
    '{"kind": "Run"': "1",
    '{"kind": "Run", "kind": "Pod"}': "1",
    "\x00": "",
    "": "",
}


@pytest.mark.parametrize("text", BROKEN_FILES, ids=repr)
def test_a_file_that_is_no_manifest_is_one_line_with_its_place(
    text: str, tmp_path: Path, kruntimes: Command
) -> None:
    file = tmp_path / "broken.yaml"
    file.write_text(text)
    result = kruntimes("plan", "-f", file)
    assert (result.returncode, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    assert "unexpected " not in line.removesuffix("unexpected end of stream")
    if text:
        assert f"{file}:{BROKEN_FILES[text]}" in line


def test_bytes_that_are_no_text_are_one_line(tmp_path: Path, kruntimes: Command) -> None:
    for content in (b"\xff\xfe\x00", b"kind: \xc3\x28\n", bytes(range(256)), b"\x1f\x8b\x08gzip"):
        file = tmp_path / "binary.yaml"
        file.write_bytes(content)
        result = kruntimes("plan", "-f", file)
        assert (result.returncode, result.stdout, len(result.stderr.splitlines())) == (2, "", 1)
        assert str(file) in result.stderr


@pytest.mark.parametrize(
    "text",
    [
        "[" * 5000,
        '{"a":' * 5000,
        "- " * 2000 + "x",
        "a: &a [x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
        "d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n"
        "f: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n",
        '{"apiVersion": "v1", "kind": "List", "items": [' + "9" * 5000 + "]}",
        "apiVersion: v1\nkind: List\nitems: [" + "9" * 5000 + "]\n",
    ],
    ids=["brackets", "braces", "dashes", "laughs", "a long number in JSON", "a long number in YAML"],
)
def test_a_file_made_to_hurt_is_one_line(text: str, tmp_path: Path, kruntimes: Command) -> None:
    file = tmp_path / "hostile.yaml"
    file.write_text(text)
    result = kruntimes("plan", "-f", file)
    assert (result.returncode, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert str(file) in line
    assert "unexpected " not in line.removesuffix("unexpected end of stream")
    assert len(line) < 1000


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("plugins:\n  enabled: [NoSuch]\n", ":2: plugins.enabled[0]: ", "NoSuch"),
        ("plugins:\n  enabled:\n  - name: Nearest\n", ":3: plugins.enabled[0]: ", "Nearest"),
        (
            "plugins:\n  enabled:\n  - {name: LeastLoaded, weight: 0}\n",
            ":3: plugins.enabled[0].weight: ",
            "0",
        ),
        (
            "plugins:\n  enabled:\n  - {name: LeastLoaded, weight: -1}\n",
            ":3: plugins.enabled[0].weight",
            "-1",
        ),
        (
            "plugins:\n  enabled:\n  - {name: LeastLoaded, weight: 1.5}\n",
            ":3: plugins.enabled[0].weight",
            "1.5",
        ),
        (
            "plugins:\n  enabled:\n  - {name: LeastLoaded, weight: true}\n",
            ":3: plugins.enabled[0].weight",
            "true",
        ),
        (
            "plugins:\n  enabled:\n  - {name: LeastLoaded, weight: '2'}\n",
            ":3: plugins.enabled[0].weight",
            "'2'",
        ),
        ("plugins:\n  enabled:\n  - {name: LeastLoaded, weight: 1000000000}\n", ".weight: ", "1000"),
        (
            "plugins:\n  enabled:\n  - {name: LeastLoaded, wait: 1}\n",
            ":3: plugins.enabled[0].wait: ",
            "weight",
        ),
        ("plugins:\n  enabled: [LeastLoaded, LeastLoaded]\n", ":2: plugins.enabled[1]: ", "twice"),
        ("plugins:\n  enabled: [LeastLoaded]\n  disabled: [LeastLoaded]\n", ": plugins.", "both"),
        ("plugins:\n  enabled: LeastLoaded\n", ":2: plugins.enabled: ", "[LeastLoaded]"),
        (
            "plugins:\n  enabled:\n  - {name: LeastLoaded, arguments: {a: 1}}\n",
            ".arguments: ",
            "no arguments",
        ),
        (
            "plugins:\n  enabled:\n  - {name: ZoneSpread, arguments: {label: ''}}\n",
            ".arguments.label: ",
            "''",
        ),
        (
            "plugins:\n  enabled:\n  - {name: ZoneSpread, arguments: {zone: x}}\n",
            ".arguments.zone: ",
            "unknown argument",
        ),
        ("plugin: {}\n", ":1: plugin: ", "plugins"),
        ("plugins: [LeastLoaded]\n", ":1: plugins: ", "mapping"),
        ("plugins:\n\tenabled: []\n", ":2", ""),
        ("kind: Run\n", ":1: kind: ", "SchedulerConfiguration"),
        ("apiVersion: kruntimes.io/config/v2\n", ":1: apiVersion: ", "kruntimes.io/config/v1"),
        ("heartbeatStalenessSeconds: 0\n", ":1: heartbeatStalenessSeconds: ", "0"),
        ("heartbeatStalenessSeconds: 15s\n", ":1: heartbeatStalenessSeconds: ", "'15s'"),
        ("backoff: {initialSeconds: 5, maxSeconds: 2}\n", ":1: backoff.initialSeconds: ", "maxSeconds"),
        ("a: 1\n---\nb: 2\n", ":", "second document"),
        ("plugins: {disabled: ['*']}\n", ": plugins: ", "RuntimePodAvailability"),
    ],
)
def test_a_mistake_in_a_configuration_is_one_line_with_the_path(
    text: str, where: str, words: str, manifests: Write, configured: Configure, kruntimes: Command
) -> None:
    config = configured(text)
    result = kruntimes("plan", "-f", manifests(pod_object("py-0"), run_object("r")), "--config", config)
    assert (result.returncode, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"error: {config}")
    assert where in line
    assert words in line


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "{}\n", "null\n", "plugins:\nprofiles:\n"])
def test_an_empty_configuration_means_the_defaults(
    text: str, manifests: Write, configured: Configure, kruntimes: Command
) -> None:
    file = manifests(pod_object("py-0"), run_object("r"))
    defaults = kruntimes("plan", "-f", file, "-o", "json", "--explain")
    empty = kruntimes("plan", "-f", file, "-o", "json", "--explain", "--config", configured(text))
    assert (empty.returncode, empty.stdout) == (0, defaults.stdout)


def test_a_weight_replaces_the_default_one(
    manifests: Write, configured: Configure, kruntimes: Command
) -> None:
    config = configured("plugins: {enabled: [{name: LeastLoaded, weight: 5}]}")
    file = manifests(pod_object("py-0"), run_object("r"))
    document = json.loads(kruntimes("plan", "-f", file, "--config", config, "-o", "json", "--explain").stdout)
    assert [one["name"] for one in document["plugins"]].count("LeastLoaded") == 1
    (candidate,) = document["decisions"][0]["candidates"]
    assert candidate["scores"]["LeastLoaded"] == {
        "raw": candidate["scores"]["LeastLoaded"]["raw"],
        "normalized": 100,
        "weight": 5,
    }
    assert candidate["total"] == 500


HALF_OBJECTS: list[Any] = [
    {"metadata": {"name": "a"}},
    {"metadata": {"name": "a"}, "spec": None, "status": None},
    {"metadata": {"name": "a"}, "spec": [], "status": "x"},
    {"metadata": {"name": "a", "labels": ["runtime"]}, "spec": {"runtime": {}}, "status": []},
    {"metadata": {"name": "a", "labels": {"runtime": "py"}, "annotations": 5}, "status": {"conditions": {}}},
    {
        "metadata": {"name": "a", "labels": {"runtime": "py"}},
        "status": {"conditions": [None, 1, {"type": []}]},
    },
    {"metadata": {"name": "a", "deletionTimestamp": 5}, "spec": {"runtime": "py", "affinity": [1]}},
    {"metadata": {"name": "a", "creationTimestamp": 5}, "spec": {"runtime": "py", "workspace": "ws"}},
    {"metadata": {"name": "a"}, "spec": {"runtime": "py"}, "status": {"phase": 5, "attempt": "many"}},
    {"metadata": {"name": "a"}, "spec": {"runtime": "py"}, "status": {"phase": "Running", "assignedPod": 5}},
]
# What a plan makes of each as a Run; those with a phase are not pending.
HALF_RUNS: list[tuple[str | None, str | None]] = [
    *[("Failed", "InvalidObject")] * 6,
    ("Ignored", "BeingDeleted"),
    ("Failed", "InvalidWorkspace"),
    *[(None, None)] * 2,
]


@pytest.mark.parametrize("kind", ["Run", "Pod", "PersistentWorkspace"])
@pytest.mark.parametrize("half", HALF_OBJECTS, ids=json.dumps)
def test_half_an_object_harms_no_other(half: Object, kind: str, manifests: Write, kruntimes: Command) -> None:
    version = "v1" if kind == "Pod" else "kruntimes.io/v1alpha1"
    broken = {"apiVersion": version, "kind": kind, **half}
    file = manifests(pod_object("py-0"), run_object("ok"), json.loads(json.dumps(broken)))
    result = kruntimes("plan", "-f", file, "-o", "json")
    assert "unexpected" not in result.stderr
    decided = {one["run"]: one for one in json.loads(result.stdout)["decisions"]}
    assert decided.pop("ok")["pod"] == "py-0"
    outcome, reason = HALF_RUNS[HALF_OBJECTS.index(half)] if kind == "Run" else (None, None)
    assert [(one["outcome"], one["reason"]) for one in decided.values()] == (
        [(outcome, reason)] if outcome else []
    )


def test_the_command_itself_says_the_same(manifests: Write, tmp_path: Path) -> None:
    bad = run_object("bad", requests={"gpu": "1e999999999"})
    broken = tmp_path / "broken.yaml"
    broken.write_text("a: [1")
    calls: list[list[str | Path]] = [
        ["-f", broken],
        ["-f", tmp_path / "missing"],
        ["-f", manifests(bad), "--now", "noon"],
        [],
    ]
    for arguments in calls:
        result = run_command("plan", *arguments)
        assert (result.returncode, result.stdout, len(result.stderr.splitlines())) == (2, "", 1)
        assert result.stderr.startswith("error: ")
    shown = run_command(
        "plan", "-f", "-", stdin=yaml.safe_dump_all([pod_object("py-0"), bad, run_object("ok")])
    )
    assert shown.returncode == 2
    assert "bad" in shown.stdout
    assert "Traceback" not in shown.stderr
