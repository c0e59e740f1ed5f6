import re
from collections import Counter
from typing import Any

import pytest

from kruntimes_core.cli import plan_output
from kruntimes_core.cli.output.screen import Screen
from kruntimes_core.framework.profile import PluginError
from kruntimes_core.lab.offline_plan.manifest_reader import Unreadable
from kruntimes_core.model.decode import Decoder
from kruntimes_core.testing import run_object


def decision(run: str = "r1", **fields: Any) -> dict[str, Any]:
    """A decision of a plan document: Scheduled on py-0 unless said otherwise."""
    made = {
        "namespace": "team-a",
        "run": run,
        "uid": f"U-{run}",
        "runtime": "py",
        "outcome": "Scheduled",
        "pod": "py-0",
        "podUID": "P0",
        "reason": "Assigned",
        "message": "",
        "never": False,
        "until": None,
    }
    return made | fields


def waiting(run: str = "r2", **fields: Any) -> dict[str, Any]:
    text = 'waiting for available runtime pods for runtime "py"'
    made = decision(
        run, outcome="Waiting", pod=None, podUID=None, reason="InsufficientCapacity", message=text
    )
    return made | fields


def shown(
    capsys: pytest.CaptureFixture[str],
    *decisions: dict[str, Any],
    screen: Screen | None = None,
    explain: bool = False,
    **options: Any,
) -> list[str]:
    head = {"apiVersion": "kruntimes.io/plan/v1"}
    plan_output.show(head, decisions, iter(decisions) if explain else None, screen or Screen(), **options)
    return capsys.readouterr().out.splitlines()


def cells(line: str) -> list[str]:
    return re.split(r"(?<=\S) {3,}", line)


def test_a_line_for_each_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, decision(), waiting()) == [
        "RUN   RUNTIME   OUTCOME     POD      REASON                 MESSAGE",
        "r1    py        Scheduled   py-0     Assigned               <none>",
        "r2    py        Waiting     <none>   InsufficientCapacity"
        '   waiting for available runtime pods for runtime "py"',
    ]


def test_namespaces_are_named_where_there_are_several(capsys: pytest.CaptureFixture[str]) -> None:
    several = shown(capsys, decision(), decision(namespace="team-b"))
    assert [line.split()[0] for line in several] == ["NAMESPACE", "team-a", "team-b"]
    assert shown(capsys, decision(), all_namespaces=True)[0].startswith("NAMESPACE   RUN")
    assert shown(capsys, decision())[0].startswith("RUN")


def test_wide_adds_what_is_seldom_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    until = "2026-01-02T03:04:05Z"
    lines = shown(capsys, decision(), waiting(never=True, uid=None, until=until, message=""), form="wide")
    assert [cells(line)[5:] for line in lines] == [
        ["UNTIL", "NEVER", "UID", "MESSAGE"],
        ["<none>", "false", "U-r1", "<none>"],
        [until, "true", "<none>", "<none>"],
    ]


def test_names_are_those_that_kubectl_takes(capsys: pytest.CaptureFixture[str]) -> None:
    runs = decision(), waiting(namespace="team-b")
    assert shown(capsys, *runs, form="name") == [
        "run.kruntimes.io/r1 -n team-a",
        "run.kruntimes.io/r2 -n team-b",
    ]
    assert shown(capsys, decision(), form="name", namespace="team-a") == ["run.kruntimes.io/r1"]


@pytest.mark.parametrize("form", ["table", "wide", "name"])
def test_no_run_is_no_line(capsys: pytest.CaptureFixture[str], form: str) -> None:
    assert shown(capsys, form=form) == []


def test_outcomes_are_coloured_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, decision(), waiting(), screen=Screen(colour=True))
    assert "\x1b[32mScheduled\x1b[0m" in lines[1]
    assert "\x1b[33mWaiting\x1b[0m" in lines[2]


CANDIDATES: list[dict[str, Any]] = [
    {
        "pod": "py-0",
        "verdict": "chosen",
        "plugin": None,
        "reason": None,
        "detail": None,
        "scores": {
            "PreferredRunAffinity": {"raw": "30", "normalized": 100, "weight": 1},
            "LeastLoaded": {"raw": "1/2", "normalized": 50, "weight": 2},
            "GpuLast": {"raw": "100", "normalized": 100, "weight": 3},
        },
        "total": 200,
    },
    {
        "pod": "py-1",
        "verdict": "rejected",
        "plugin": "RunAffinity",
        "reason": "AffinityNotSatisfied",
        "detail": "no \x1b[2J target",
        "scores": {},
        "total": None,
    },
    {
        "pod": "py-2",
        "verdict": "rejected",
        "plugin": "RuntimePodAvailability",
        "reason": "HeartbeatStale",
        "detail": None,
        "scores": None,
        "total": None,
    },
]


def test_explained_decisions_show_what_spoke_for_and_against_each_pod(
    capsys: pytest.CaptureFixture[str],
) -> None:
    cancelled = waiting("r3", outcome="Cancelled", reason="Cancelled", candidates=[])
    runs = decision(candidates=CANDIDATES), waiting(candidates=[]), cancelled
    lines = shown(capsys, *runs, explain=True)
    scores = "PreferredRunAffinity 100*1 (30); LeastLoaded 50*2 (1/2); GpuLast 100*3"
    assert [cells(line) for line in lines[4:]] == [
        [""],
        ["team-a/r1 (runtime py): Scheduled on py-0"],
        ["  POD", "VERDICT", "TOTAL", "WHY"],
        ["  py-0", "chosen", "200", scores],
        ["  py-1", "rejected", "<none>", "RunAffinity: AffinityNotSatisfied (no \\x1b[2J target)"],
        ["  py-2", "rejected", "<none>", "RuntimePodAvailability: HeartbeatStale"],
        [""],
        ["team-a/r2 (runtime py): Waiting, InsufficientCapacity"],
        ["  no candidates"],
        [""],
        ["team-a/r3 (runtime py): Cancelled"],
        ["  no candidates"],
    ]


def test_why_is_whole_on_a_narrow_screen(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, decision(candidates=CANDIDATES), screen=Screen(columns=60), explain=True)
    assert lines[5:9] == [
        "  py-0   chosen     200      PreferredRunAffinity 100*1",
        "                             (30); LeastLoaded 50*2 (1/2);",
        "                             GpuLast 100*3",
        "  py-1   rejected   <none>   RunAffinity:",
    ]


def rejected(
    pod: str, detail: str | None, reason: str = "Full", plugin: str | None = "Mine"
) -> dict[str, Any]:
    says = {"pod": pod, "verdict": "rejected", "plugin": plugin, "reason": reason, "detail": detail}
    return says | {"scores": {}, "total": None}


@pytest.mark.parametrize(
    ("details", "why"),
    [
        (["cpu: 4 > 3", "cpu: 10 > 3", "cpu: 9 > 3"], "Mine: Full (cpu: 4..10 > 3)"),
        (["load 0.5", "load 0.25"], "Mine: Full (load 0.25..0.5)"),
        (["load 1/2", "load 3/2"], "Mine: Full (load 1..3/2)"),
        ([None, None], "Mine: Full"),
        (["", None], "Mine: Full"),
        (["9" * 5_000, "8" * 5_000], f"Mine: Full ({'8' * 40}..{'9' * 40}"),
    ],
)
def test_pods_rejected_alike_share_a_line(
    capsys: pytest.CaptureFixture[str], details: list[str | None], why: str
) -> None:
    pods = [rejected(f"py-{number}", detail) for number, detail in enumerate(details)]
    lines = shown(capsys, waiting(candidates=pods), explain=True)
    (row,) = lines[5:]
    assert cells(row)[:3] == [f"  {len(pods)} of {len(pods)}", "rejected", "<none>"]
    assert cells(row)[3].startswith(why)


@pytest.mark.parametrize(
    "other",
    [
        rejected("py-1", "cpu: 4 > 3", reason="Stale"),
        rejected("py-1", "cpu: 4 > 3", plugin=None),
        rejected("py-1", "gpu: 4 > 3"),
        rejected("py-1", "cpu:  > 3"),
        rejected("py-1", None),
        CANDIDATES[0] | {"pod": "py-1"},
    ],
)
def test_what_differs_in_more_than_figures_has_its_own_line(
    capsys: pytest.CaptureFixture[str], other: dict[str, Any]
) -> None:
    lines = shown(capsys, waiting(candidates=[rejected("py-0", "cpu: 4 > 3"), other]), explain=True)
    assert [cells(line)[0] for line in lines[5:]] == ["  py-0", "  py-1"]


def test_feasible_pods_share_a_line_if_their_scores_are_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    feasible = CANDIDATES[0] | {"verdict": "feasible"}
    worse = feasible | {"pod": "py-3", "total": 100}
    pods = [CANDIDATES[0], feasible | {"pod": "py-1"}, feasible | {"pod": "py-2"}, worse]
    lines = shown(capsys, decision(candidates=pods), explain=True)
    assert [cells(line)[:3] for line in lines[5:]] == [
        ["  py-0", "chosen", "200"],
        ["  2 of 4", "feasible", "200"],
        ["  py-3", "feasible", "100"],
    ]


# Standard error

UNREADABLE = {"gpu": "1e999999999"}


def unreadable(name: str, namespace: str = "team-a", pod: str | None = None) -> Unreadable:
    observation = Decoder().run(run_object(name, namespace=namespace, requests=UNREADABLE, pod=pod))
    return Unreadable(observation, f"{name}.yaml:7")


def test_what_is_left_out_is_one_line_with_the_most_first() -> None:
    skipped = Counter({"ConfigMap": 3, "Deployment": 9, "Alpha": 3})
    assert list(plan_output.skipped(skipped)) == [
        "skipped 15 objects of other kinds: 9 Deployment, 3 Alpha, 3 ConfigMap"
    ]
    assert list(plan_output.skipped(Counter({"Secret": 1}))) == ["skipped 1 object of other kinds: 1 Secret"]
    assert list(plan_output.skipped(Counter())) == []


def test_only_a_run_that_failed_is_told_to_be_unreadable() -> None:
    found = [unreadable("bad"), unreadable("cancelled"), unreadable("bad", "team-b")]
    decisions = [
        {"namespace": "team-a", "run": "bad", "outcome": "Failed"},
        {"namespace": "team-a", "run": "cancelled", "outcome": "Cancelled"},
    ]
    (line,) = plan_output.failed_unread(found, decisions)
    assert line.startswith("bad.yaml:7: Run team-a/bad: spec.resources.requests['gpu']: '1e999999999' ")


def test_an_active_run_whose_request_cannot_be_read_is_a_warning() -> None:
    found = [unreadable("pending"), unreadable("active", pod="py-0"), unreadable("other", "team-b", "py-0")]
    (line,) = plan_output.guessed_usage(found, "team-a")
    assert line.startswith("warning: active.yaml:7: Run team-a/active: ")
    assert len(list(plan_output.guessed_usage(found, None))) == 2


def test_a_broken_plugin_is_named_with_its_owner() -> None:
    error = PluginError("Mine", "mine 1.2", "filter", "KeyError: 'x'")
    (line,) = plan_output.broken_plugins([error])
    assert line.startswith("error: plugin Mine (mine 1.2) failed in filter: KeyError: 'x'; ")


def test_the_sum_names_each_outcome_in_one_order() -> None:
    outcomes = ["Waiting", "Cancelled", "Scheduled", "Waiting", "Later"]
    decisions = [{"outcome": outcome} for outcome in outcomes]
    assert plan_output.summary(decisions, None) == "5 Runs: 1 Scheduled, 2 Waiting, 1 Cancelled, 1 Later"
    assert plan_output.summary(decisions[:1], "team-a") == "1 Run: 1 Waiting"


def test_a_plan_without_runs_says_so() -> None:
    assert plan_output.summary([], None) == "no pending Runs"
    assert plan_output.summary([], "team-a") == "no pending Runs in the namespace team-a"


def test_what_can_never_be_placed_is_the_first_cause_then_the_most_runs() -> None:
    never = waiting(never=True)
    affine = waiting(reason="AffinityNotSatisfied")
    runs = [affine, waiting(), waiting(), never, decision(), waiting(outcome="Backoff", reason="PluginError")]
    assert [line.split() for line in plan_output.what_waits(runs, None)] == [
        ["RUNTIME", "REASON", "NEVER", "RUNS"],
        ["py", "InsufficientCapacity", "true", "1"],
        ["py", "InsufficientCapacity", "false", "2"],
        ["py", "AffinityNotSatisfied", "false", "1"],
    ]
    assert list(plan_output.what_waits([decision()], None)) == []


def test_causes_beyond_twenty_are_summed_up() -> None:
    runs = [waiting(runtime=f"py-{number:02}", namespace=f"n-{number % 2}") for number in range(25)]
    lines = list(plan_output.what_waits([*runs, runs[24], runs[24]], None))
    assert lines[0].split() == ["NAMESPACE", "RUNTIME", "REASON", "NEVER", "RUNS"]
    assert lines[1].split() == ["n-0", "py-24", "InsufficientCapacity", "false", "3"]
    assert (len(lines), lines[-1]) == (22, "  and 5 more in 5 rows")
