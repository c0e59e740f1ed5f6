"""The plan of what kubectl printed for a small busy cluster, each placement reasoned out by hand.

The two namespaces hold the same story under other names. For each Runtime: what the Pods hold at the
start, then a line for each Run, in the order of arrival, with the loads (usage + request) / capacity.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from kruntimes_core.cli.main import main
from kruntimes_core.model.yaml_files import load_documents

DUMP = Path(__file__).parents[1] / "data" / "dump.yaml"

# The story's Pods. Capacity: python cpu 8, runs 6; gpu gpu 4, memory 64Gi, runs 3; bash runs 2 (default).
# At the start: P0 holds etl and report (cpu 5, runs 2), P1 holds etl (runs 1), P2 nothing, P3 is not Ready.
# G1 holds model a (gpu 2, memory 16Gi, runs 1), G0 nothing. B0 holds one Run, B1 nothing.
PODS = {
    "analytics": {
        "P0": "python-runtime-d993908-0",
        "P1": "python-runtime-c414002-1",
        "P2": "python-runtime-b075954-2",
        "G0": "gpu-torch-runtime-b953893-0",
        "G1": "gpu-torch-runtime-c039317-1",
        "B0": "bash-runtime-b454710-0",
        "B1": "bash-runtime-f073248-1",
    },
    "ml-batch": {
        "P0": "python-runtime-c095119-0",
        "P1": "python-runtime-f061981-1",
        "P2": "python-runtime-b993473-2",
        "G0": "gpu-torch-runtime-b605136-0",
        "G1": "gpu-torch-runtime-f051998-1",
        "B0": "bash-runtime-c048845-0",
        "B1": "bash-runtime-c303677-1",
    },
}

PLACED = {
    # Must be beside etl, which P0 (6/8) and P1 (2/6) hold: the less loaded.
    8: "P1",
    # Must be apart from etl: only P2 is.
    9: "P2",
    10: "P2",
    # Seeds the set s1. Highest load 3/6 on P1 and P2; the sums 5/8 and 4/8 (no cpu in use there) decide.
    11: "P2",
    # Follow their seed. P2 holds five Runs now.
    12: "P2",
    13: "P2",
    # Prefers model a on G1 (100), but G0 is less loaded (2/4 against 4/4: 100). Equal, so by name.
    16: "G0",
    # Prefers to be apart from 16: G1 gets 100. Highest load 1 on both, sums 1+40/64+2/3 and 1+56/64+2/3:
    # G0 gets 100. Equal, so by name.
    17: "G0",
    # Half full before full; then equal, so by name; then the last place.
    19: "B1",
    20: "B0",
    21: "B1",
    # Prefers report (10) and etl (20): P0 30, P1 20, P2 0, normalized 100, 66, 0. Load: P1 1/2, then P0
    # before P2 (highest 1 on both, sums 12/8 and 13/8), so 50, 100, 0. In all 150, 166, 0.
    23: "P1",
    # Must be apart from 23. Prefers gold on P0, which is also less loaded (6/8) than P2 (6/6).
    24: "P0",
    # No cpu: P0 6/8, P1 4/6, P2 6/6.
    25: "P1",
    # cpu 2: P0 8/8, P1 5/6, P2 6/6.
    26: "P1",
    # cpu 1: P0 7/8, P1 and P2 6/6.
    27: "P0",
    # cpu 2: P0 has no room. Highest load 1 on P1 and P2; the sums 2 and 12/8 decide. P2 is full.
    28: "P2",
    # No cpu: P0 7/8, P1 6/6.
    29: "P0",
    # cpu 2: P0 has no room. P1 is full.
    30: "P1",
    # cpu 1: the last place of all.
    31: "P0",
}
NO_ROOM, NO_TARGET = "InsufficientCapacity", "AffinityNotSatisfied"
WAITING = {
    # Must be beside a Run that never comes, so nothing wakes it: its first answer stays.
    14: NO_TARGET,
    # No python Pod advertises a gpu.
    15: NO_ROOM,
    # gpu 4: two are in use on G1, all on G0.
    18: NO_ROOM,
    22: NO_ROOM,
    **dict.fromkeys(range(32, 39), NO_ROOM),
    40: "NoRuntimePods",
}
CANCELLED = 39
NEVER = 15


# A Run that waits and is woken would stand where it was answered last; here nothing wakes one.
ORDER = list(range(8, 41))

# How far the numbers of a namespace's Runs are from those of the story.
OFFSETS = {"analytics": 0, "ml-batch": 40}


@pytest.fixture
def document(capsysbinary: pytest.CaptureFixture[bytes]) -> dict[str, Any]:
    assert main(["plan", "-f", str(DUMP), "--explain", "-o", "json"]) == 1
    planned: dict[str, Any] = json.loads(capsysbinary.readouterr().out)
    return planned


def decided(document: dict[str, Any], namespace: str) -> dict[int, dict[str, Any]]:
    """The decisions of a namespace by the number of the Run in the story, in their order."""
    return {
        int(made["run"].removeprefix("run-")) - OFFSETS[namespace]: made
        for made in document["decisions"]
        if made["namespace"] == namespace
    }


def test_the_plan_says_when_and_by_whom(document: dict[str, Any]) -> None:
    assert document["apiVersion"] == "kruntimes.io/plan/v1"
    assert document["now"] == "2026-11-30T00:00:40Z"
    assert [plugin["name"] for plugin in document["plugins"]] == [
        "RuntimePodAvailability",
        "RunAffinity",
        "WorkspacePlacement",
        "PreferredRunAffinity",
        "LeastLoaded",
    ]


@pytest.mark.parametrize("namespace", OFFSETS)
def test_every_run_is_where_it_must_be(document: dict[str, Any], namespace: str) -> None:
    made = decided(document, namespace)
    pods = PODS[namespace]
    scheduled = {number: one["pod"] for number, one in made.items() if one["outcome"] == "Scheduled"}
    assert scheduled == {number: pods[pod] for number, pod in PLACED.items()}
    waiting = {number: one["reason"] for number, one in made.items() if one["outcome"] == "Waiting"}
    assert waiting == WAITING
    assert [number for number, one in made.items() if one["outcome"] == "Cancelled"] == [CANCELLED]
    assert [number for number, one in made.items() if one["never"]] == [NEVER]


@pytest.mark.parametrize("namespace", OFFSETS)
def test_runs_are_decided_in_the_order_of_arrival(document: dict[str, Any], namespace: str) -> None:
    assert list(decided(document, namespace)) == ORDER


@pytest.mark.parametrize("namespace", OFFSETS)
def test_the_scores_are_those_of_the_reasoning(document: dict[str, Any], namespace: str) -> None:
    made, pods = decided(document, namespace), PODS[namespace]

    def normalized(number: int) -> dict[str, list[int]]:
        candidates = {one["pod"]: one for one in made[number]["candidates"]}
        return {
            story: [score["normalized"] for score in candidates[pod]["scores"].values()]
            for story, pod in pods.items()
            if pod in candidates and candidates[pod]["scores"]
        }

    assert normalized(11) == {"P0": [0, 0], "P1": [0, 50], "P2": [0, 100]}
    assert normalized(16) == {"G0": [0, 100], "G1": [100, 0]}
    assert normalized(17) == {"G0": [0, 100], "G1": [100, 0]}
    assert normalized(20) == {"B0": [0, 100], "B1": [0, 100]}
    assert normalized(23) == {"P0": [100, 50], "P1": [66, 100], "P2": [0, 0]}
    assert normalized(24) == {"P0": [100, 100], "P2": [0, 0]}
    assert normalized(28) == {"P1": [0, 0], "P2": [0, 100]}


def test_a_candidate_that_is_not_ready_says_so(document: dict[str, Any]) -> None:
    candidates = {one["pod"]: one for one in decided(document, "analytics")[8]["candidates"]}
    unready = candidates["python-runtime-b383452-3"]
    assert unready["verdict"] == "rejected"
    assert (unready["plugin"], unready["reason"]) == ("RuntimePodAvailability", "PodNotReady")


def test_waiting_texts_are_bounded_and_the_same_for_equal_reasons(document: dict[str, Any]) -> None:
    texts = {(one["runtime"], one["message"]) for one in document["decisions"] if one["outcome"] == "Waiting"}
    assert texts == {
        (runtime, f'waiting for available runtime pods for runtime "{runtime}"')
        for runtime in ("python", "gpu-torch", "bash", "nosuch")
    } | {("python", "waiting for a runtime pod that satisfies required run affinity")}


def test_the_order_of_the_input_does_not_matter(
    document: dict[str, Any], tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    documents = list(load_documents(DUMP.read_bytes(), "dump.yaml"))
    items = [item for _, content in documents for item in content["items"]]  # type: ignore[index]
    backwards = tmp_path / "backwards.json"
    backwards.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items[::-1]}))
    main(["plan", "-f", str(backwards), "--explain", "-o", "json"])
    assert json.loads(capsysbinary.readouterr().out) == document
