"""Every patch, applied to any status as RFC 7386 says, changes what it is for and nothing else."""

import copy
import json
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kruntimes_core.model.decode import Decoder
from kruntimes_core.model.run import Phase
from kruntimes_core.model.status_patches import bind_patch, terminal_patch, waiting_patch
from kruntimes_core.testing import run_object

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def merge(target: Any, patch: Any) -> Any:
    """RFC 7386, section 2."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge(merged.get(key), value)
    return merged


leaves = st.one_of(st.booleans(), st.integers(), st.text(max_size=4))
foreign = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
conditions = st.lists(
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(["Scheduled", "Running", "Completed", "Ready", "example.com/Other"]),
            "status": st.sampled_from(["True", "False", "Unknown"]),
        },
        optional={
            "reason": st.just("R"),
            "message": st.text(max_size=4),
            "lastTransitionTime": st.sampled_from(["2026-01-01T00:00:00Z", "odd"]),
            "observedGeneration": st.integers(0, 9),
            "future": st.none() | foreign,
        },
    ),
    max_size=6,
    unique_by=lambda condition: str(condition["type"]),
)
messages = st.sampled_from(["", "waiting for pods", "left by runtimed", "x" * 4_096])
statuses = st.fixed_dictionaries(
    {},
    optional={
        "phase": st.sampled_from(["Pending", ""]),
        "message": messages,
        "conditions": conditions,
        "attempt": st.integers(0, 5),
        "startTime": st.just("2026-01-01T00:00:00Z"),
        "outputs": st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2),
        "artifactRefs": st.lists(foreign, max_size=2),
        "futureField": foreign,
    },
)
OWN_ON_BIND = {"phase", "assignedPod", "assignedPodUID", "conditions", "message"}
OWN_AT_THE_END = {"phase", "message", "completionTime", "conditions"}


def run_with(status: dict[str, Any]) -> dict[str, Any]:
    obj = run_object(labels={"app": "a"}, requests={"gpu": "1"}, metadata={"finalizers": ["example.com/f"]})
    obj["status"] = copy.deepcopy(status)
    return obj


def others(conditions: list[dict[str, Any]], *own: str) -> list[str]:
    return [json.dumps(condition) for condition in conditions if condition["type"] not in own]


@given(statuses)
def test_a_bind_changes_the_placement_and_nothing_else(status: dict[str, Any]) -> None:
    obj = run_with(status)
    merged = merge(obj, bind_patch(Decoder().run(obj), "py-0", "P0", NOW))
    after = merged.pop("status")
    assert merged == {key: value for key, value in obj.items() if key != "status"}
    assert {k: v for k, v in after.items() if k not in OWN_ON_BIND} == {
        k: v for k, v in status.items() if k not in OWN_ON_BIND
    }
    assert (after["phase"], after["assignedPod"], after["assignedPodUID"]) == ("Scheduled", "py-0", "P0")
    waiting = status.get("message", "").startswith("waiting for")
    assert after.get("message") == (None if waiting else status.get("message"))
    before = status.get("conditions", [])
    assert others(after["conditions"], "Scheduled") == others(before, "Scheduled")
    assert [c["type"] for c in after["conditions"]].count("Scheduled") == 1
    assert len(after["conditions"]) <= len(before) + 1


@given(statuses)
def test_a_terminal_status_changes_its_own_fields_and_nothing_else(status: dict[str, Any]) -> None:
    obj = run_with(status)
    patch = terminal_patch(Decoder().run(obj), Phase.FAILED, "InvalidResources", "ask for less", NOW)
    merged = merge(obj, patch)
    after = merged.pop("status")
    assert merged == {key: value for key, value in obj.items() if key != "status"}
    assert {k: v for k, v in after.items() if k not in OWN_AT_THE_END} == {
        k: v for k, v in status.items() if k not in OWN_AT_THE_END
    }
    before = {c["type"]: c for c in status.get("conditions", [])}
    own = {c["type"]: c for c in after["conditions"] if c["type"] in ("Running", "Completed")}
    assert others(after["conditions"], *own) == others(status.get("conditions", []), *own)
    assert set(own) == {"Running", "Completed"}
    for kind, condition in own.items():
        assert (condition["status"], condition["reason"]) == ("False", "InvalidResources")
        since = before.get(kind, {}).get("lastTransitionTime")
        unchanged = before.get(kind, {}).get("status") == "False" and since is not None
        assert condition["lastTransitionTime"] == (since if unchanged else "2026-01-02T03:04:05Z")


@given(
    statuses, st.sampled_from(["waiting for pods", "waiting for a workspace", "waiting for " + "x" * 9_000])
)
def test_a_waiting_text_changes_the_text_once(status: dict[str, Any], text: str) -> None:
    obj = run_with(status)
    patch = waiting_patch(Decoder().run(obj), text)
    if patch is None:
        assert status["message"] == text
        return
    merged = merge(obj, patch)
    assert merge(obj, {"status": {"phase": "Pending", "message": merged["status"]["message"]}}) == merged
    assert len(merged["status"]["message"]) <= 4_096
    assert waiting_patch(Decoder().run(merged), text) is None
