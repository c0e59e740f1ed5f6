import reprlib
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest

from kruntimes_core.model.decode import Decoder
from kruntimes_core.model.pod import PodObservation, Unavailability
from kruntimes_core.model.quantity import MAX_AMOUNT
from kruntimes_core.testing import condition_object, make_pod, pod_object

T0 = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
HEARTBEAT = "kruntimes.io/RuntimedReady"


def decoded(obj: dict[str, Any]) -> PodObservation:
    observation = Decoder().pod(obj)
    assert observation is not None
    return observation


def with_status(**status: Any) -> dict[str, Any]:
    obj = pod_object()
    obj["status"] |= status
    return obj


def with_heartbeat(**fields: Any) -> dict[str, Any]:
    heartbeat = condition_object(HEARTBEAT) | {"lastProbeTime": "2026-01-02T03:04:05Z"} | fields
    return with_status(conditions=[condition_object("Ready"), heartbeat])


def test_a_runtime_pod_is_read_without_usage_and_targets() -> None:
    observation = decoded(pod_object("py-7", uid="P7", version="9", capacity={"runs": "4", "gpu": "2.5"}))
    annotations = {"kruntimes.io/capacity.runs": "4", "kruntimes.io/capacity.gpu": "2.5"}
    capacity: dict[str, int | Fraction] = {"runs": 4, "gpu": Fraction(5, 2)}
    assert observation.pod == make_pod(
        "py-7", uid="P7", node="node-1", capacity=capacity, annotations=annotations
    )
    assert (observation.version, observation.probed_at) == ("9", T0)
    assert observation.pod.available


@pytest.mark.parametrize(
    "labels", [None, {}, [], "runtime", {"app": "a"}, {"runtime": None}, {"runtime": 5}, {"runtime": ""}]
)
def test_a_pod_without_a_runtime_is_somebody_elses(labels: object) -> None:
    assert Decoder().pod(pod_object(metadata={"labels": labels})) is None


@pytest.mark.parametrize(
    ("advertised", "capacity"),
    [
        ({}, {"runs": 2}),
        ({"runs": ""}, {"runs": 2}),
        ({"runs": "abc"}, {"runs": 2}),
        ({"runs": "-3"}, {"runs": 2}),
        ({"runs": "0"}, {"runs": 2}),
        ({"runs": "2.5"}, {"runs": Fraction(5, 2)}),
        ({"gpu": "0", "mem": "x"}, {"runs": 2}),
        ({"gpu": "1e999999999"}, {"gpu": MAX_AMOUNT, "runs": 2}),
        ({"example.com/gpu": "2"}, {"example.com/gpu": 2, "runs": 2}),
        ({"": "7"}, {"runs": 2}),
        ({".gpu": "7"}, {".gpu": 7, "runs": 2}),
    ],
)
def test_capacity_is_what_is_advertised_as_positive_quantities(
    advertised: dict[str, str], capacity: dict[str, int | Fraction]
) -> None:
    assert dict(decoded(pod_object(capacity=advertised)).pod.capacity) == capacity


@pytest.mark.parametrize(
    "key",
    [
        "kruntimes.io/capacityx.gpu",
        "kruntimes.io/capacity",
        "kruntimes.io/capacities.gpu",
        "Kruntimes.io/capacity.gpu",
        "x.kruntimes.io/capacity.gpu",
    ],
)
def test_annotations_that_only_look_like_capacity_are_none(key: str) -> None:
    obj = pod_object(metadata={"annotations": {key: "9"}})
    assert dict(decoded(obj).pod.capacity) == {"runs": 2}


@pytest.mark.parametrize(
    ("capacity", "request_", "fits"),
    [
        ("999m", 1, 0),
        ("2500m", 1, 2),
        ("1E", 5 * 10**17, 2),
        ("9223372036854775807", 5 * 10**18, 1),
        ("9007199254740993", 9007199254740992, 1),
        ("1", 1, 1),
    ],
)
def test_a_capacity_holds_exactly_as_many_requests_as_go_into_it(
    capacity: str, request_: int, fits: int
) -> None:
    amount = decoded(pod_object(capacity={"x": capacity})).pod.capacity["x"]
    assert fits * request_ <= amount < (fits + 1) * request_


def test_capacity_is_read_before_long_annotations_are_cut() -> None:
    annotations = {"a": "x" * 5_000, "kruntimes.io/capacity.gpu": "3"}
    pod = decoded(pod_object(metadata={"annotations": annotations})).pod
    assert dict(pod.capacity) == {"gpu": 3, "runs": 2}
    assert dict(pod.annotations) == {}


REASONS = [
    (pod_object(metadata={"deletionTimestamp": "2026-01-02T03:04:05Z"}), Unavailability.TERMINATING),
    (pod_object(phase="Pending", metadata={"deletionTimestamp": "odd"}), Unavailability.TERMINATING),
    (pod_object(phase="Pending", ready=False, runtimed_ready=False), Unavailability.NOT_RUNNING),
    (with_status(phase=None), Unavailability.NOT_RUNNING),
    (with_status(phase=["Running"]), Unavailability.NOT_RUNNING),
    (pod_object() | {"status": None}, Unavailability.NOT_RUNNING),
    (pod_object() | {"status": "Running"}, Unavailability.NOT_RUNNING),
    (pod_object(ready=False, runtimed_ready=False), Unavailability.NOT_READY),
    (with_status(conditions=None), Unavailability.NOT_READY),
    (with_status(conditions="Ready"), Unavailability.NOT_READY),
    (with_status(conditions=[None, 5, "Ready", ["Ready"]]), Unavailability.NOT_READY),
    (with_status(conditions=[condition_object("Ready", "Unknown")]), Unavailability.NOT_READY),
    (with_status(conditions=[{"type": "Ready", "status": True}]), Unavailability.NOT_READY),
    (pod_object(metadata={"labels": {"runtime": "py", "x": 1}}), Unavailability.NOT_READY),
    (pod_object(metadata={"annotations": {"kruntimes.io/capacity.runs": 1}}), Unavailability.NOT_READY),
    (pod_object(metadata={"annotations": []}), Unavailability.NOT_READY),
    (pod_object(metadata={"name": 5}), Unavailability.NOT_READY),
    (pod_object(metadata={"namespace": None}), Unavailability.NOT_READY),
    (pod_object(metadata={"uid": {}}), Unavailability.NOT_READY),
    (with_status(conditions=[condition_object("Ready")]), Unavailability.RUNTIMED_NOT_READY),
    (pod_object(runtimed_ready=False), Unavailability.RUNTIMED_NOT_READY),
    (with_heartbeat(status="Unknown"), Unavailability.RUNTIMED_NOT_READY),
    (with_heartbeat(lastProbeTime=None), Unavailability.RUNTIMED_NOT_READY),
    (with_heartbeat(lastProbeTime=""), Unavailability.RUNTIMED_NOT_READY),
    (with_heartbeat(lastProbeTime="yesterday"), Unavailability.RUNTIMED_NOT_READY),
    (with_heartbeat(lastProbeTime="2026-01-02T03:04:05"), Unavailability.RUNTIMED_NOT_READY),
    (with_heartbeat(lastProbeTime=1767323045), Unavailability.RUNTIMED_NOT_READY),
    (with_heartbeat(), None),
]


@pytest.mark.parametrize(("obj", "reason"), REASONS, ids=reprlib.repr)
def test_the_first_reason_against_a_pod_is_named(obj: dict[str, Any], reason: Unavailability | None) -> None:
    observation = decoded(obj)
    assert observation.pod.unavailable is reason
    assert observation.pod.available is (reason is None)


def test_a_heartbeat_without_a_time_cannot_be_trusted() -> None:
    assert decoded(with_heartbeat(lastProbeTime=None)).probed_at is None
    assert decoded(with_heartbeat(lastProbeTime="2026-01-02T04:04:05.5+01:00")).probed_at == T0 + timedelta(
        milliseconds=500
    )


def test_a_heartbeat_makes_no_other_pod() -> None:
    decoder = Decoder()
    before = decoder.pod(pod_object(version="1", metadata={"managedFields": []}))
    after = decoder.pod(
        pod_object(
            version="2",
            probed_at=T0 + timedelta(seconds=5),
            metadata={"managedFields": [{"manager": "runtimed"}], "generation": 4},
        )
    )
    assert before is not None
    assert after is not None
    assert before.pod == after.pod
    assert (before.version, before.probed_at) != (after.version, after.probed_at)


@pytest.mark.parametrize(
    "change",
    [
        {"uid": "another"},
        {"node": "node-2"},
        {"labels": {"zone": "b"}},
        {"capacity": {"runs": "3"}},
        {"ready": False},
        {"metadata": {"annotations": {"note": "x"}}},
    ],
    ids=reprlib.repr,
)
def test_what_a_plugin_can_see_makes_another_pod(change: dict[str, Any]) -> None:
    assert decoded(pod_object(**change)).pod != decoded(pod_object()).pod


@pytest.mark.parametrize("spec", [None, [], {}, {"nodeName": ""}, {"nodeName": 5}])
def test_a_pod_may_have_no_node(spec: object) -> None:
    observation = decoded(pod_object() | {"spec": spec})
    assert observation.pod.node is None
    assert observation.pod.available
