import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kruntimes_core.cli.main import main
from kruntimes_core.lab.offline_plan.sources import DUMP_COMMAND
from kruntimes_core.testing import affinity_object, pod_object, run_object, term_object, workspace_object
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
GIVE = f": if the cluster has some, give what {DUMP_COMMAND} prints\n"


@pytest.mark.parametrize(
    ("run", "outcome", "code"),
    [
        (run_object("r", requests={"runs": "1e999999999"}, spec={"cancelRequested": True}), "Cancelled", 0),
        (run_object("r", requests={"runs": "1e999999999"}), "Failed", 2),
        (run_object("r", spec={"affinity": {"runAffinity": 7}}), "Failed", 2),
    ],
)
def test_a_field_that_cannot_be_read_is_bad_input_where_it_decides(
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
    assert plan(*objects, "-n", "team-a") == (
        0,
        "",
        f"the namespace team-a of the input has no Runs{GIVE}no pending Runs in the namespace team-a\n",
    )
    many = [run_object("r", namespace=f"n{number}") for number in range(13)]
    assert plan(*many, "-n", "nope")[2].endswith(
        " it has n0, n1, n10, n11, n12, n2, n3, n4, n5, n6 and 3 more\n"
    )


def test_an_empty_list_is_no_misspelt_namespace(plan: Plan) -> None:
    code, shown, notes = plan("-n", "team-a")
    assert (code, shown) == (0, "")
    assert notes.endswith("no pending Runs in the namespace team-a\n")


def test_an_input_without_runs_or_without_pods_says_so_first(plan: Plan) -> None:
    run, workspace = run_object("r"), workspace_object()
    assert plan(POD) == (0, "", f"the input has no Runs{GIVE}no pending Runs\n")
    assert plan(workspace)[2].startswith("the input has no Runs and no Runtime Pods: ")
    code, _, notes = plan(run)
    assert (code, notes.splitlines()[0]) == (1, f"the input has no Runtime Pods{GIVE}".strip())
    assert plan(POD, run)[2] == "1 Run: 1 Scheduled\n"


def test_an_input_of_other_kinds_alone_cannot_mean_that_all_is_placed(plan: Plan) -> None:
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}}
    foreign_pod = pod_object()
    del foreign_pod["metadata"]["labels"]
    for objects, kinds in (([deployment], "Deployment"), ([foreign_pod], "Pod without the label runtime")):
        code, shown, notes = plan(*objects)
        assert (code, shown) == (2, "")
        assert notes.startswith(f"error: the input has no Runs and no Runtime Pods, only {kinds}: give ")


@pytest.mark.parametrize("arguments", [["plan", "-f", "-"], ["config", "validate", "-"]])
def test_a_command_that_waits_for_a_terminal_says_so(arguments: list[str]) -> None:
    ours, theirs = os.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "kruntimes_core.cli", *arguments],
        stdin=theirs,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stderr
    first = running.stderr.readline()
    os.write(ours, b"\x04")
    running.communicate(timeout=50)
    os.close(ours)
    os.close(theirs)
    assert "from the terminal: end them with Ctrl-D" in first


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


def test_objects_that_tell_no_time_need_one(plan: Plan) -> None:
    run = run_object("r", metadata={"creationTimestamp": None})
    code, shown, notes = plan(run)
    assert (code, shown) == (2, "")
    assert notes.startswith("error: the input has no time")
    assert plan(run, "--now", "2026-01-02T03:04:05Z")[0] == 1


def test_no_time_is_needed_where_no_run_is_pending(plan: Plan) -> None:
    timeless = {"creationTimestamp": None}
    active = run_object("r", pod="py-0", metadata=timeless)
    pending = run_object("p", namespace="team-b", metadata=timeless)
    assert plan(active) == (0, "", f"the input has no Runtime Pods{GIVE}no pending Runs\n")
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
    assert plan(POD, late, other)[2].endswith("no pending Runs\n")
    just = plan(POD, run_object("r"), "--now", "2026-01-02T03:04:20.001Z")[2]
    assert just.startswith(
        "1 of 1 ready Runtime Pod has no heartbeat within 15 s of 2026-01-02T03:04:20.001000Z: "
    )


# No Run has the label, and these have not either.
AFFINITY = affinity_object(required=[term_object({"app": "etl"})])
LATE = run_object("late", metadata={"creationTimestamp": "2026-01-02T04:04:05Z"})


def test_an_outage_of_all_heartbeats_is_the_first_thing_that_is_said(plan: Plan) -> None:
    foreign = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    old = pod_object("py-1", probed_at=NOW - timedelta(seconds=20))
    code, shown, notes = plan(POD, old, foreign, run_object("r"), LATE, "-o", "json")
    judged, stale, skipped = notes.splitlines()
    assert judged == (
        "no heartbeat since 2026-01-02T03:04:05Z, while Run team-a/late is of 2026-01-02T04:04:05Z:"
        " judged at the later time (a heartbeat is fresh for 15 s)"
    )
    assert stale.startswith("2 of 2 ready Runtime Pods have no heartbeat within 15 s of 2026-01-02T04:04:05Z")
    assert skipped.startswith("skipped 1 object")
    assert (code, json.loads(shown)["now"]) == (1, "2026-01-02T04:04:05Z")
    assert {made["reason"] for made in json.loads(shown)["decisions"]} == {"HeartbeatStale"}


SHORTLY_AFTER = "2026-01-02T03:04:21Z"


@pytest.mark.parametrize(
    ("kind", "changed"),
    [
        ("Deployment", {"metadata": {"name": "d", "creationTimestamp": SHORTLY_AFTER}}),
        ("Pod", {"status": {"conditions": [{"type": "Ready", "lastTransitionTime": SHORTLY_AFTER}]}}),
    ],
)
def test_any_object_shows_that_heartbeats_have_ended(plan: Plan, kind: str, changed: dict[str, Any]) -> None:
    other = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "d", "namespace": "shop"}} | changed
    _, _, notes = plan(POD, other, run_object("r"))
    assert notes.startswith(f"no heartbeat since 2026-01-02T03:04:05Z, while {kind} ")


def test_the_limit_of_the_configuration_counts(plan: Plan, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("heartbeatStalenessSeconds: 3600\n")
    code, _, notes = plan(POD, run_object("r"), LATE, "--config", str(config))
    assert (code, notes) == (0, "2 Runs: 2 Scheduled\n")


def test_a_given_time_is_not_explained(plan: Plan) -> None:
    code, _, notes = plan(POD, run_object("r"), LATE, "--now", "2026-01-02T03:04:05Z")
    assert (code, notes) == (0, "2 Runs: 2 Scheduled\n")
    _, _, notes = plan(POD, LATE, "--now", "2026-01-02T04:04:05Z")
    assert notes.startswith("1 of 1 ready Runtime Pod has no heartbeat")


def test_a_thousand_waiting_runs_of_five_causes_are_a_few_lines(plan: Plan) -> None:
    counts = {"dead": 300, "large": 40, "absent": 200, "cohort": 60, "full": 400}
    needs: dict[str, dict[str, Any]] = {
        "large": {"requests": {"runs": "9"}},
        "cohort": {"affinity": AFFINITY},
    }
    runs = [
        run_object(f"{runtime}-{number}", runtime=runtime, **needs.get(runtime, {}))
        for runtime, many in counts.items()
        for number in range(many)
    ]
    dead = pod_object("dead-0", runtime="dead", probed_at=NOW - timedelta(hours=1))
    pods = [pod_object(f"{runtime}-0", runtime=runtime) for runtime in ("large", "cohort", "full")]
    held = [run_object(f"held-{number}", runtime="full", pod="full-0") for number in range(2)]
    code, _, notes = plan(dead, *pods, *held, *runs, "-n", "team-a")
    assert (code, [line.split() for line in notes.splitlines()[1:]]) == (
        1,
        [
            ["1000", "Runs:", "1000", "Waiting"],
            ["RUNTIME", "REASON", "NEVER", "RUNS"],
            ["large", "InsufficientCapacity", "true", "40"],
            ["full", "InsufficientCapacity", "false", "400"],
            ["dead", "HeartbeatStale", "false", "300"],
            ["absent", "NoRuntimePods", "false", "200"],
            ["cohort", "AffinityNotSatisfied", "false", "60"],
            ["4", "Runtime", "Pods:", "3", "Available,", "1", "HeartbeatStale"],
        ],
    )


def test_pods_that_say_the_same_share_a_line_unless_all_are_asked_for(plan: Plan) -> None:
    pods = [pod_object(f"py-{number}", capacity={"cpu": "4", "runs": "9"}) for number in range(15)]
    held = [
        run_object(f"held-{number}", pod=f"py-{number}", requests={"cpu": 3 + number % 2})
        for number in range(12)
    ]
    run = run_object("r", requests={"cpu": "2", "gpu": "1"})
    asked = [*pods, *held, run, "--explain"]
    _, shown, _ = plan(*asked)
    why = "RuntimePodAvailability: InsufficientCapacity"
    assert [re.split(r" {3,}", line.strip()) for line in shown.splitlines()[5:]] == [
        ["12 of 15", "rejected", "<none>", f"{why} (cpu: 3..4 in use + 2 requested > 4)"],
        ["3 of 15", "rejected", "<none>", f"{why} (gpu is not advertised)"],
    ]
    _, every, _ = plan(*asked, "--all-pods")
    assert [line.split()[0] for line in every.splitlines()[5:]] == sorted(f"py-{n}" for n in range(15))
    (made,) = json.loads(plan(*asked, "-o", "json")[1])["decisions"]
    assert len(made["candidates"]) == 15


def test_all_pods_is_a_way_to_explain(plan: Plan) -> None:
    code, shown, notes = plan(POD, "--all-pods")
    assert (code, shown) == (2, "")
    assert "give --explain too" in notes


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


def test_foreign_text_commands_no_terminal(plan: Plan) -> None:
    run = run_object("r\x1b[2J", runtime="py\n")
    for options in (["--explain"], ["-o", "wide", "--explain"], ["-o", "name"]):
        _, shown, _ = plan(POD, run, *options)
        assert "\x1b" not in shown
        assert "r\\x1b[2J" in shown


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
    objects = [POD, *(run_object(f"r{number}") for number in range(3_000))]
    runs = "\n".join(map(json.dumps, objects))
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
