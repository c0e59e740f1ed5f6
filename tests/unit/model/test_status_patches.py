import copy
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kruntimes_core.model.decode import Decoder
from kruntimes_core.model.run import Phase, RunObservation
from kruntimes_core.model.status_patches import (
    WAITING_PREFIX,
    bind_patch,
    is_waiting_text,
    terminal_patch,
    waiting_patch,
)
from kruntimes_core.testing import condition_object, run_object

T0 = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
NOW = T0 + timedelta(minutes=1, microseconds=999_999)
NOW_TEXT = "2026-01-02T03:05:05Z"
FOREIGN = {
    "type": "example.com/Audited",
    "status": "Unknown",
    "reason": "R",
    "message": "",
    "future": {"a": None},
}
SCHEDULED = {
    "type": "Scheduled",
    "status": "True",
    "reason": "Assigned",
    "message": "assigned to runtime pod py-0",
    "lastTransitionTime": NOW_TEXT,
}


def observed(version: str = "7", phase: str | None = "Pending", **status: Any) -> RunObservation:
    return Decoder().run(run_object(version=version, status={"phase": phase, **status}))


def conditions_of(patch: dict[str, Any]) -> dict[str, Any]:
    return {condition["type"]: condition for condition in patch["status"]["conditions"]}


def test_a_bind_is_exactly_the_contracts() -> None:
    assert bind_patch(observed(), "py-0", "P0", NOW) == {
        "metadata": {"resourceVersion": "7"},
        "status": {
            "phase": "Scheduled",
            "assignedPod": "py-0",
            "assignedPodUID": "P0",
            "conditions": [SCHEDULED],
        },
    }


def test_patches_are_plain_json() -> None:
    patches = [
        bind_patch(observed(), "py-0", "P0", NOW),
        waiting_patch(observed(), "waiting for x"),
        terminal_patch(observed(), Phase.FAILED, "R", "m", NOW),
    ]
    for patch in patches:
        assert patch is not None
        assert type(patch["status"]["phase"]) is str
        assert json.loads(json.dumps(patch)) == patch


def test_a_patch_of_an_unknown_version_is_not_guarded() -> None:
    unknown = observed(version="")
    assert list(bind_patch(unknown, "py-0", "P0", NOW)) == ["status"]
    assert list(waiting_patch(unknown, "waiting for x") or {}) == ["status"]
    assert list(terminal_patch(unknown, Phase.CANCELLED, "Cancelled", "", NOW)) == ["status"]


def test_a_bind_repeats_the_conditions_of_others_as_they_stand() -> None:
    stopped = condition_object("Running", False, reason="PodLost", message="gone")
    observation = observed(attempt=2, conditions=[stopped, FOREIGN])
    patch = bind_patch(observation, "py-0", "P0", NOW)
    assert patch["status"]["conditions"] == [stopped, FOREIGN, SCHEDULED]
    assert json.dumps(patch["status"]["conditions"][:2]) == json.dumps([stopped, FOREIGN])


def test_a_bind_is_small_and_says_nothing_of_spec() -> None:
    obj = run_object(
        spec={"source": {"inline": "s" * 200_000}},
        metadata={"managedFields": [{"manager": "m" * 20_000}], "finalizers": ["example.com/f"]},
        status={
            "outputs": {"o": "x" * 10_000},
            "futureField": {"a": 1},
            "conditions": [condition_object("Running", False), FOREIGN],
        },
    )
    text = json.dumps(bind_patch(Decoder().run(obj), "py-0", "P0", NOW))
    assert len(text) < 1_000
    for word in ("spec", "inline", "managedFields", "finalizers", "outputs", "futureField"):
        assert word not in text


@pytest.mark.parametrize(
    ("message", "cleared"),
    [
        ('waiting for available runtime pods for runtime "py"', True),
        ("waiting for", True),
        ("", False),
        ("Waiting for a friend", False),
        ("retrying: was waiting for x", False),
        (None, False),
    ],
)
def test_a_bind_clears_only_the_schedulers_own_text(message: object, cleared: bool) -> None:
    status = bind_patch(observed(message=message), "py-0", "P0", NOW)["status"]
    assert ("message" in status) is cleared
    assert status.get("message") is None


def test_waiting_texts_begin_with_one_prefix() -> None:
    assert is_waiting_text(f"{WAITING_PREFIX} pods")
    assert not is_waiting_text("pods: waiting for them")


@pytest.mark.parametrize("phase", ["Pending", "", None])
def test_a_waiting_text_that_stands_is_not_written_again(phase: str | None) -> None:
    assert waiting_patch(observed(phase=phase, message="waiting for x"), "waiting for x") is None


def test_another_waiting_text_is_two_fields() -> None:
    expected = {
        "metadata": {"resourceVersion": "7"},
        "status": {"phase": "Pending", "message": "waiting for y"},
    }
    assert waiting_patch(observed(message="waiting for x"), "waiting for y") == expected
    assert waiting_patch(observed(phase=None), "waiting for y") == expected
    assert waiting_patch(observed(message="left by runtimed"), "waiting for y") == expected


def test_a_long_waiting_text_is_cut_and_then_stands() -> None:
    text = "waiting for " + "\N{GRINNING FACE}" * 5_000
    patch = waiting_patch(observed(), text)
    assert patch is not None
    written = patch["status"]["message"]
    assert len(written) == 4_096
    assert waiting_patch(observed(message=written), text) is None


def test_a_text_that_cannot_be_sent_is_made_fit_and_then_stands() -> None:
    patch = waiting_patch(observed(), "waiting for \ud800 pods")
    assert patch is not None
    written = patch["status"]["message"]
    assert written.encode()
    assert waiting_patch(observed(message=written), "waiting for \ud800 pods") is None


@pytest.mark.parametrize("phase", [Phase.FAILED, Phase.CANCELLED, Phase.TIMEOUT, Phase.SUCCEEDED])
def test_a_terminal_status_is_exactly_the_contracts(phase: Phase) -> None:
    patch = terminal_patch(observed(conditions=[FOREIGN]), phase, "InvalidResources", "ask for less", NOW)
    ended = {
        "status": "False",
        "reason": "InvalidResources",
        "message": "ask for less",
        "lastTransitionTime": NOW_TEXT,
    }
    assert patch == {
        "metadata": {"resourceVersion": "7"},
        "status": {
            "phase": phase.value,
            "message": "ask for less",
            "completionTime": NOW_TEXT,
            "conditions": [FOREIGN, {"type": "Running"} | ended, {"type": "Completed"} | ended],
        },
    }


def test_a_run_that_had_stopped_before_keeps_that_time() -> None:
    before = condition_object("Running", False, reason="PodLost")
    patch = terminal_patch(observed(conditions=[before]), Phase.CANCELLED, "Cancelled", "by user", NOW)
    conditions = conditions_of(patch)
    assert conditions["Running"]["lastTransitionTime"] == before["lastTransitionTime"]
    assert conditions["Running"]["reason"] == "Cancelled"
    assert conditions["Completed"]["lastTransitionTime"] == NOW_TEXT


def test_terminal_texts_are_cut_to_the_apis_limits() -> None:
    patch = terminal_patch(observed(), Phase.FAILED, "R" * 2_000, "m" * 100_000, NOW)
    assert len(patch["status"]["message"]) == 4_096
    for condition in conditions_of(patch).values():
        assert len(condition["message"]) == 32_768
        assert len(condition["reason"]) == 1_024


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("InvalidAffinity", "InvalidAffinity"),
        ("A_b,c:D", "A_b,c:D"),
        ("no gpu driver", "NoGpuDriver"),
        ("no-gpu!", "NoGpu"),
        ("7th heaven", "thHeaven"),
        ("Ends:", "Ends"),
        ("line\n", "Line"),
        ("", "Failed"),
        ("!!!", "Failed"),
        ("\N{GREEK SMALL LETTER ALPHA}", "Failed"),
    ],
)
def test_a_reason_is_made_to_fit_what_the_api_takes(given: str, written: str) -> None:
    patch = terminal_patch(observed(), Phase.FAILED, given, "m", NOW)
    assert {condition["reason"] for condition in conditions_of(patch).values()} == {written}


def test_a_new_condition_beyond_sixteen_is_left_out_at_the_end() -> None:
    others = [condition_object(f"Other{n}") for n in range(15)]
    patch = terminal_patch(observed(conditions=others), Phase.FAILED, "R", "m", NOW)
    assert [condition["type"] for condition in patch["status"]["conditions"]][15:] == ["Running"]


STANDING = condition_object("Scheduled", True, reason="Assigned", message="assigned to runtime pod py-9")
LOST = condition_object("Scheduled", False, reason="PodLost") | {"observedGeneration": 3}
UNREADABLE: list[Any] = [None, "", 5, []]
FIFTEEN = [condition_object(f"Other{n}") for n in range(15)]


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        # A wanted type changes in its place and keeps its unknown fields, even as the sixteenth.
        ([LOST, FOREIGN], [SCHEDULED | {"observedGeneration": 3}, FOREIGN]),
        ([*FIFTEEN, condition_object("Scheduled", False)], [*FIFTEEN, SCHEDULED]),
        # A seventeenth condition is left out.
        ([*FIFTEEN, FOREIGN], [*FIFTEEN, FOREIGN]),
        # The transition time changes only with the status; one that cannot be read is replaced.
        ([STANDING], [SCHEDULED | {"lastTransitionTime": STANDING["lastTransitionTime"]}]),
        *[([STANDING | {"lastTransitionTime": since}], [SCHEDULED]) for since in UNREADABLE],
        # Malformed conditions do not stop a bind.
        (None, [SCHEDULED]),
        ("none", [SCHEDULED]),
        ({"type": "Scheduled"}, [SCHEDULED]),
        ([None, 5, "x", ["y"]], [None, 5, "x", ["y"], SCHEDULED]),
        ([{}, {"type": ["Scheduled"]}], [{}, {"type": ["Scheduled"]}, SCHEDULED]),
        ([{"type": "Scheduled"}, FOREIGN, {"type": "Scheduled", "status": "True"}], [SCHEDULED, FOREIGN]),
        ([FOREIGN, FOREIGN], [FOREIGN, FOREIGN, SCHEDULED]),
    ],
)
def test_the_conditions_after_a_bind(conditions: object, expected: list[object]) -> None:
    patch = bind_patch(observed(conditions=conditions), "py-0", "P0", NOW)
    assert patch["status"]["conditions"] == expected


def test_patches_leave_the_observation_alone() -> None:
    conditions = [condition_object("Scheduled", False), condition_object("Running", True), FOREIGN]
    observation = observed(conditions=conditions)
    before = copy.deepcopy(observation)
    bind_patch(observation, "py-0", "P0", NOW)
    terminal_patch(observation, Phase.FAILED, "R", "m", NOW)
    assert observation == before


@pytest.mark.parametrize(("length", "end"), [(4_095, "xxxx"), (4_096, "xxxx"), (4_097, "x...")])
def test_a_text_is_cut_where_it_is_longer_than_the_api_takes(length: int, end: str) -> None:
    text = "waiting for ".ljust(length, "x")
    patch = waiting_patch(Decoder().run(run_object()), text)
    assert patch is not None
    written = patch["status"]["message"]
    assert (len(written), written[-4:]) == (min(length, 4_096), end)
