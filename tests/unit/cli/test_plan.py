import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from kruntimes_core.cli.main import main
from kruntimes_core.testing import pod_object, run_object
from kruntimes_core.testing.builders import NOW

Plan = Callable[..., tuple[int, str, str]]


@pytest.fixture
def plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Plan:
    """Write objects to a file of JSON, plan it, and give the exit code and both outputs."""

    def run(*arguments: str | dict[str, Any]) -> tuple[int, str, str]:
        items = [argument for argument in arguments if isinstance(argument, dict)]
        file = tmp_path / "given.json"
        file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=1))
        code = main(["plan", "-f", str(file), *(text for text in arguments if isinstance(text, str))])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


def outcomes(shown: str) -> dict[str, str]:
    return {made["run"]: made["outcome"] for made in json.loads(shown)["decisions"]}


POD = pod_object("py-0", capacity={"runs": "2"})


def test_a_plan_in_which_every_run_lands_is_a_yes(plan: Plan) -> None:
    code, shown, notes = plan(POD, run_object("r1"), run_object("r2"))
    assert code == 0
    assert [line.split()[:4] for line in shown.splitlines()[1:]] == [
        ["r1", "py", "Scheduled", "py-0"],
        ["r2", "py", "Scheduled", "py-0"],
    ]
    assert notes == "2 Runs: 2 Scheduled\n"


@pytest.mark.parametrize(
    ("run", "outcome", "code"),
    [
        (run_object("r", requests={"runs": "3"}), "Waiting", 1),
        (run_object("r", requests={"runs": "-1"}), "Failed", 1),
        (run_object("r", requests={"runs": "500m"}), "Failed", 1),
        (run_object("r", spec={"cancelRequested": True}), "Cancelled", 0),
        (run_object("r", requests={"runs": "1e999999999"}, spec={"cancelRequested": True}), "Cancelled", 0),
        (run_object("r", requests={"runs": "1e999999999"}), "Failed", 2),
        (run_object("r", spec={"affinity": {"runAffinity": 7}}), "Failed", 2),
    ],
)
def test_the_exit_code_says_whether_it_is_a_no_or_cannot_be_read(
    plan: Plan, run: dict[str, Any], outcome: str, code: int
) -> None:
    found, shown, _ = plan(POD, run, run_object("s"), "-o", "json")
    assert outcomes(shown) == {"r": outcome, "s": "Scheduled"}
    assert found == code


def test_an_unreadable_run_is_told_with_its_line_beside_the_whole_plan(plan: Plan, tmp_path: Path) -> None:
    bad = run_object("bad", requests={"gpu": "1e999999999"})
    _, _, notes = plan(POD, bad, run_object("good"))
    lines = (tmp_path / "given.json").read_text().splitlines()
    number = next(n for n, line in enumerate(lines, start=1) if "1e999999999" in line)
    first, last = notes.splitlines()
    assert first.startswith(
        f"{tmp_path / 'given.json'}:{number}: Run team-a/bad: spec.resources.requests['gpu']: "
    )
    assert last == "2 Runs: 1 Scheduled, 1 Failed"


def test_a_run_of_another_namespace_is_not_asked_about(plan: Plan) -> None:
    bad = run_object("bad", namespace="team-b", requests={"gpu": "1e999999999"})
    code, shown, notes = plan(POD, bad, run_object("good"), "-n", "team-a")
    assert (code, notes) == (0, "1 Run: 1 Scheduled\n")
    assert shown.splitlines()[0].startswith("RUN ")


def test_all_namespaces_is_the_default(plan: Plan) -> None:
    objects = [POD, run_object("r"), run_object("s", namespace="team-b")]
    code, shown, _ = plan(*objects)
    assert code == 1
    assert [line.split()[0] for line in shown.splitlines()] == ["NAMESPACE", "team-a", "team-b"]
    assert plan(*objects, "-A")[:2] == (code, shown)


def test_a_namespace_that_the_input_does_not_have_is_bad_input(plan: Plan) -> None:
    objects = [POD, run_object("s", namespace="team-b")]
    message = "error: the input has no namespace nope; it has team-a, team-b\n"
    assert plan(*objects, "-n", "nope") == (2, "", message)
    assert plan(*objects, "-n", "team-a") == (0, "", "no pending Runs in the namespace team-a\n")
    many = [run_object("r", namespace=f"n{number}") for number in range(13)]
    assert plan(*many, "-n", "nope")[2].endswith(
        " it has n0, n1, n10, n11, n12, n2, n3, n4, n5, n6 and 3 more\n"
    )


def test_an_empty_list_is_no_misspelt_namespace(plan: Plan) -> None:
    assert plan("-n", "team-a") == (0, "", "no pending Runs in the namespace team-a\n")


def test_an_object_without_a_namespace_is_in_that_of_the_question(plan: Plan) -> None:
    pod, run = (json.loads(json.dumps(content)) for content in (POD, run_object("r")))
    for content in (pod, run):
        del content["metadata"]["namespace"]
    for options, namespace in ([], "default"), (["-n", "team-x"], "team-x"):
        code, shown, _ = plan(pod, run, "-o", "json", *options)
        assert code == 0
        assert json.loads(shown)["decisions"][0]["namespace"] == namespace


def test_invented_uids_are_not_shown(plan: Plan) -> None:
    pod, run = pod_object("py-0", metadata={"uid": None}), run_object("r", metadata={"uid": None})
    code, shown, _ = plan(pod, run, "-o", "json")
    (made,) = json.loads(shown)["decisions"]
    assert (code, made["uid"], made["pod"], made["podUID"]) == (0, None, "py-0", None)


def test_a_dump_is_judged_when_it_was_taken_unless_told_otherwise(plan: Plan) -> None:
    assert plan(POD, run_object("r"))[0] == 0
    assert plan(POD, run_object("r"), "--now", "2026-01-02T03:04:20Z")[0] == 0
    assert plan(POD, run_object("r"), "--now", "2026-01-02T04:04:20+01:00")[0] == 0
    code, shown, _ = plan(POD, run_object("r"), "--now", "2026-01-02T03:04:20.001Z", "-o", "json")
    assert (code, json.loads(shown)["now"]) == (1, "2026-01-02T03:04:20Z")
    assert json.loads(shown)["decisions"][0]["reason"] == "HeartbeatStale"


@pytest.mark.parametrize("time", ["", "noon", "2026-01-02", "2026-01-02T03:04:05", "2026-13-02T03:04:05Z"])
def test_a_time_that_is_none(plan: Plan, time: str) -> None:
    assert plan(POD, "--now", time) == (
        2,
        "",
        f"error: --now {time!r} is not a valid RFC 3339 time: write it as in 2026-01-02T03:04:05Z\n",
    )


def test_objects_that_tell_no_time_need_one(plan: Plan) -> None:
    run = run_object("r", metadata={"creationTimestamp": None})
    code, shown, notes = plan(run)
    assert (code, shown) == (2, "")
    assert notes.startswith("error: the input tells no time")
    assert plan(run, "--now", "2026-01-02T03:04:05Z")[0] == 1


def test_no_time_is_needed_where_no_run_is_pending(plan: Plan) -> None:
    timeless = {"creationTimestamp": None}
    active = run_object("r", pod="py-0", metadata=timeless)
    pending = run_object("p", namespace="team-b", metadata=timeless)
    assert plan(active) == (0, "", "no pending Runs\n")
    assert plan(active, pending, "-n", "team-a")[0] == 0
    assert plan(active, pending)[0] == 2
    document = json.loads(plan(active, "-o", "json")[1])
    assert (document["now"], document["decisions"]) == (None, [])


def test_pods_of_another_time_are_told_once(plan: Plan) -> None:
    late = pod_object("py-1", probed_at=NOW + timedelta(hours=1))
    other = pod_object("py-0", namespace="team-b")
    advice = "unless this is an outage, give an earlier --now, or dump Pods and Runs together"
    code, _, notes = plan(POD, late, other, run_object("r"))
    assert (code, notes.splitlines()[:-1]) == (
        0,
        [f"2 of 3 ready Runtime Pods have no heartbeat within 15 s of 2026-01-02T04:04:05Z: {advice}"],
    )
    assert plan(POD, late, other, run_object("r"), "-n", "team-a")[2].startswith(
        "1 of 2 ready Runtime Pods has "
    )
    assert plan(POD, other, run_object("r"))[2] == "1 Run: 1 Scheduled\n"
    assert plan(POD, late, other)[2] == "no pending Runs\n"
    just = plan(POD, run_object("r"), "--now", "2026-01-02T03:04:20.001Z")[2]
    assert just.startswith(
        "1 of 1 ready Runtime Pod has no heartbeat within 15 s of 2026-01-02T03:04:20.001000Z: "
    )


def test_a_pod_that_the_host_turns_down_shows_the_host_and_the_figures(plan: Plan, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("plugins: {disabled: [RuntimePodAvailability]}\nallowNoCapacityFilter: true\n")
    full = pod_object("py-0", capacity={"runs": "9", "cpu": "8"})
    active = run_object("a", pod="py-0", requests={"cpu": "7"})
    asked = [full, active, run_object("r", requests={"cpu": "2"}), "--config", str(config), "--explain"]
    code, shown, _ = plan(*asked)
    assert code == 1
    assert shown.splitlines()[-1].endswith("   host: InsufficientCapacity (cpu: 7 in use + 2 requested > 8)")
    (candidate,) = json.loads(plan(*asked, "-o", "json")[1])["decisions"][0]["candidates"]
    assert (candidate["plugin"], candidate["reason"]) == (None, "InsufficientCapacity")
    assert candidate["detail"] == "cpu: 7 in use + 2 requested > 8"


def test_yaml_and_json_are_one_document(plan: Plan) -> None:
    objects = [POD, run_object("r"), run_object("s", requests={"gpu": 1})]
    document = json.loads(plan(*objects, "--explain", "-o", "json")[1])
    assert yaml.safe_load(plan(*objects, "--explain", "-o", "yaml")[1]) == document
    assert list(document) == ["apiVersion", "now", "plugins", "decisions"]
    assert list(document["decisions"][0]) == [
        *(
            "namespace",
            "run",
            "uid",
            "runtime",
            "outcome",
            "pod",
            "podUID",
            "reason",
            "message",
            "never",
            "until",
        ),
        "candidates",
    ]
    assert list(document["decisions"][0]["candidates"][0]) == [
        *("pod", "verdict", "plugin", "reason", "detail", "scores", "total"),
    ]
    assert "candidates" not in json.loads(plan(*objects, "-o", "json")[1])["decisions"][0]


def test_foreign_text_commands_no_terminal(plan: Plan) -> None:
    run = run_object("r\x1b[2J", runtime="py\n")
    for options in (["--explain"], ["-o", "wide", "--explain"], ["-o", "name"]):
        _, shown, _ = plan(POD, run, *options)
        assert "\x1b" not in shown
        assert "r\\x1b[2J" in shown


def test_a_configuration_decides(plan: Plan, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("heartbeatStalenessSeconds: 60\nplugins: {enabled: [{name: LeastLoaded, weight: 7}]}\n")
    late = ["--now", "2026-01-02T03:05:05Z", "--config", str(config), "-o", "json"]
    code, shown, _ = plan(POD, run_object("r"), *late)
    assert code == 0
    assert {plugin["name"]: plugin["weight"] for plugin in json.loads(shown)["plugins"]}["LeastLoaded"] == 7


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("plugins: {enabled: [NoSuch]}", "NoSuch"),
        ("plugins: {enabled: [{name: LeastLoaded, weight: 0}]}", "weight"),
        ("plugins: {disabled: [RuntimePodAvailability]}", "capacity"),
        ("plugins: ]", "config.yaml:1"),
    ],
)
def test_a_wrong_configuration_is_one_line(plan: Plan, tmp_path: Path, text: str, words: str) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(text)
    code, shown, notes = plan(POD, run_object("r"), "--config", str(config))
    assert (code, shown, notes.count("\n")) == (2, "", 1)
    assert notes.startswith(f"error: {config}")
    assert words in notes


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"a: ]", "bad.yaml:1: "),
        (b"a: 1\na: 2", "bad.yaml:2: the key 'a' occurs twice"),
        (b"a: 1\n\tb: 1", "bad.yaml:2: "),
        (b'{"a": 1 "b": 2}', "bad.yaml:1: this is not valid JSON: "),
        (b"\na: \xff", "bad.yaml:2: this is not UTF-8 text"),
        (b"kind: Run", "bad.yaml:1: an object without apiVersion"),
        (b"", "the input is empty"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line_with_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, problem: str
) -> None:
    file = tmp_path / "bad.yaml"
    file.write_bytes(content)
    assert main(["plan", "-f", str(file)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.replace(f"{tmp_path}{os.sep}", "").startswith(f"error: {problem}")
    assert shown.err.count("\n") == 1


def process(*arguments: str, path: Path | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, with `path` in front of what it can import."""
    inherited = os.environ.get("PYTHONPATH", "")
    environment = os.environ | {"PYTHONPATH": f"{path}{os.pathsep}{inherited}" if path else inherited}
    return subprocess.run(
        [sys.executable, "-m", "kruntimes_core.cli", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
        **options,
    )


def test_standard_input() -> None:
    objects = "\n".join(json.dumps(content) for content in (POD, run_object("r")))
    shown = process("plan", "-f", "-", "-o", "name", input=objects)
    assert (shown.returncode, shown.stdout, shown.stderr) == (0, "run.kruntimes.io/r -n team-a\n", "")


RAISING = """
from kruntimes_core import hookimpl

class Fussy:
    @hookimpl
    def filter(self, pod):
        raise KeyError(pod.name)
"""


def test_a_plugin_that_raises_is_named_and_the_plan_goes_on(tmp_path: Path) -> None:
    (tmp_path / "fussy_for_a_test.py").write_text(RAISING)
    info = tmp_path / "acme_fussy-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-fussy\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text("[kruntimes.plugins]\nFussy = fussy_for_a_test:Fussy\n")
    objects = "\n".join(
        json.dumps(content) for content in (POD, run_object("r"), run_object("w", requests={"gpu": 1}))
    )
    shown = process("plan", "-f", "-", "-o", "json", input=objects, path=tmp_path)
    assert shown.returncode == 2
    assert outcomes(shown.stdout) == {"r": "Backoff", "w": "Waiting"}
    (line,) = shown.stderr.splitlines()
    assert line.startswith("error: plugin Fussy (acme-fussy 1.2) failed in filter: KeyError: 'py-0'")


def test_ctrl_c_ends_quietly(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    running = subprocess.Popen(
        [sys.executable, "-m", "kruntimes_core.cli", "plan", "-f", str(pipe)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    # Opening the other end returns when the command has opened its own, and waits for objects.
    with pipe.open("wb"):
        running.send_signal(signal.SIGINT)
        shown = running.communicate(timeout=50)
    assert (running.returncode, *shown) == (130, b"", b"")


def test_a_reader_that_has_seen_enough_is_no_failure() -> None:
    runs = "\n".join(json.dumps(run_object(f"r{number}")) for number in range(3_000))
    running = subprocess.Popen(
        [sys.executable, "-m", "kruntimes_core.cli", "plan", "-f", "-", "-o", "name"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdin
    assert running.stdout
    assert running.stderr
    running.stdin.write(runs)
    running.stdin.close()
    assert running.stdout.readline() == "run.kruntimes.io/r0 -n team-a\n"
    running.stdout.close()
    assert running.stderr.read() == ""
    running.stderr.close()
    assert running.wait(50) == 141
