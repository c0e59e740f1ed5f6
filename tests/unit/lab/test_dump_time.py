from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import pytest

from kruntimes_core.engine.clock import SECOND, Now
from kruntimes_core.lab.offline_plan.dump_time import DumpTime, NewestObject, ObjectTimes, pod_states
from kruntimes_core.model.decode import Decoder
from kruntimes_core.model.pod import Unavailability
from kruntimes_core.model.times import format_time
from kruntimes_core.testing import pod_object, run_object
from kruntimes_core.testing.builders import NOW

LIMIT = 15 * SECOND


def seconds(number: float) -> datetime:
    return NOW + timedelta(seconds=number)


def newest(*contents: dict[str, Any]) -> tuple[str, datetime] | None:
    times = ObjectTimes()
    for content in contents:
        times.note(content)
    found = times.newest
    return (found.title, found.at) if found is not None else None


def test_pods_are_stale_as_for_the_engine_and_only_ready_ones_count() -> None:
    ages = {"exactly": 15.0, "over": 15.001, "old": 3_600.0, "of-the-future": -60.0}
    objects = [pod_object(name, probed_at=seconds(-age)) for name, age in ages.items()]
    objects.append(pod_object("gone", probed_at=seconds(-3_600), phase="Failed"))
    decoder = Decoder()
    seen = [observation for content in objects if (observation := decoder.pod(content)) is not None]
    found = pod_states(seen, Now(NOW, 0), LIMIT)
    assert (found.ready, found.stale, found.outage) == (4, 2, False)
    assert (found.at, found.limit_seconds) == (NOW, 15.0)
    stale, failed = Unavailability.HEARTBEAT_STALE, Unavailability.NOT_RUNNING
    assert found.counts == Counter({None: 2, stale: 2, failed: 1})


@pytest.mark.parametrize(
    ("ages", "phase", "outage"),
    [([16, 17], "Running", True), ([16, 1], "Running", False), ([16], "Failed", False), ([], "", False)],
)
def test_an_outage_is_that_no_ready_pod_has_a_fresh_heartbeat(
    ages: list[int], phase: str, outage: bool
) -> None:
    decoder = Decoder()
    pods = [pod_object(f"py-{age}", probed_at=seconds(-age), phase=phase) for age in ages]
    seen = [observation for content in pods if (observation := decoder.pod(content)) is not None]
    assert pod_states(seen, Now(NOW, 0), LIMIT).outage is outage


@pytest.mark.parametrize(
    ("heartbeat", "other", "judged"),
    [
        (0, -60, 0),
        (0, 15, 0),
        (0, 15.001, 15.001),
        (0, 3_600, 3_600),
        (None, 7, 7),
        (0, None, 0),
        (None, None, None),
    ],
)
def test_a_dump_is_judged_at_its_newest_object_once_that_has_outlived_all_heartbeats(
    heartbeat: float | None, other: float | None, judged: float | None
) -> None:
    found = NewestObject("Run a/r", seconds(other)) if other is not None else None
    time = DumpTime(seconds(heartbeat) if heartbeat is not None else None, found)
    assert time.at(LIMIT) == (seconds(judged) if judged is not None else None)
    outlived = heartbeat is not None and judged == other
    assert time.outlived_by(LIMIT) == (found if outlived else None)


def test_the_time_of_an_object_is_that_of_its_creation_or_of_a_condition() -> None:
    run = run_object("r", namespace="team-a")
    ready = {"type": "Ready", "lastTransitionTime": format_time(seconds(60))}
    pod = pod_object("py-0", namespace="team-b")
    pod["status"]["conditions"].append(ready)
    node = {"kind": "Node", "metadata": {"name": "n", "creationTimestamp": format_time(seconds(90))}}
    assert newest(run) == ("Run team-a/r", NOW)
    assert newest(run, pod) == ("Pod team-b/py-0", seconds(60))
    assert newest(pod, node, run) == ("Node n", seconds(90))
    assert newest() is None


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"metadata": None, "status": None},
        {"metadata": {"creationTimestamp": 7}, "status": {"conditions": "none"}},
        {"metadata": {"creationTimestamp": "yesterday"}, "status": {"conditions": [None, "x", {}]}},
        {"metadata": {}, "status": {"conditions": [{"lastTransitionTime": None}]}},
    ],
)
def test_what_is_no_time_is_none(content: dict[str, Any]) -> None:
    assert newest(content) is None
