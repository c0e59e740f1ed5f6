"""Whatever JSON stands in whatever field, decoding answers and answers within bounds."""

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kruntimes_core.model.decode import Decoder
from kruntimes_core.model.run import RunObservation
from kruntimes_core.testing import (
    affinity_object,
    condition_object,
    pod_object,
    run_object,
    term_object,
    workspace_object,
)

DECODER = Decoder()

WORDS = [
    "",
    "Ready",
    "Running",
    "True",
    "False",
    "In",
    "Exists",
    "1K",
    "1e999999999",
    "-1",
    "2026-01-02T03:04:05Z",
    "0000-00-00T99:99:99+99:99",
    "\ud800",
    "5s",
    "kruntimes.io/runtime-pod",
    "kruntimes.io/capacity.runs",
]
KEYS = [
    "name",
    "labels",
    "type",
    "status",
    "key",
    "operator",
    "values",
    "weight",
    "runs",
    "phase",
    "conditions",
]
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from([10**400, -(10**400), 0, 1]),
    st.text(max_size=5),
    st.sampled_from(WORDS),
)
anything = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(st.sampled_from(KEYS), st.text(max_size=3)), inner, max_size=3),
    ),
    max_leaves=8,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to everything in a JSON value, the root left out."""
    if isinstance(value, dict):
        found = [(*path, key) for key in value]
    else:
        found = [(*path, index) for index in range(len(value))] if isinstance(value, list) else []
    return found + [deeper for one in found for deeper in places(value[one[-1]], one)]


def with_damage(make: Callable[[], dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """The object that `make` makes, with up to three of its fields replaced by anything."""

    def damaged(damage: list[tuple[tuple[Any, ...], Any]]) -> dict[str, Any]:
        obj = make()
        for path, value in damage:
            parent: Any = obj
            for step in path[:-1]:
                inside = isinstance(parent, dict) and step in parent
                inside = inside or (isinstance(parent, list) and isinstance(step, int) and step < len(parent))
                parent = parent[step] if inside else {}
            if isinstance(parent, dict):
                parent[path[-1]] = value
        return obj

    return st.lists(st.tuples(st.sampled_from(places(make())), anything), min_size=1, max_size=3).map(damaged)


def whole_run() -> dict[str, Any]:
    term = term_object({"app": "a"}, expressions=[{"key": "t", "operator": "In", "values": ["x"]}])
    return run_object(
        labels={"app": "a"},
        requests={"gpu": "1", "runs": 1},
        affinity=affinity_object(required=[term], preferred_anti=[(5, term)]),
        workspace="ws",
        pod="py-0",
        spec={"retryPolicy": {"backoff": "2s"}, "cancelRequested": False},
        metadata={"annotations": {"a": "b"}, "deletionTimestamp": None},
        status={"attempt": 2, "message": "x", "conditions": [condition_object("Running", False)]},
    )


def whole_pod() -> dict[str, Any]:
    return pod_object(labels={"x": "y"}, capacity={"runs": "4", "gpu": "1.5"})


def check(observation: RunObservation) -> None:
    assert observation.held["runs"] >= 1
    assert all(type(amount) is int and 0 < amount < 2**63 for amount in observation.held.values())
    assert all(isinstance(value, str) for value in observation.run.labels.values())
    assert observation.run.attempt >= 1
    assert 0 < observation.backoff_seconds < 1e10
    if observation.invalid is not None:
        assert observation.invalid.message.startswith(observation.invalid.path)
        assert observation.invalid.message.encode()
    else:
        assert observation.run.name
        assert observation.run.namespace
        assert observation.run.runtime
        assert observation.run.request == observation.held
    hash((observation.run, observation.held))


@given(with_damage(whole_run))
def test_a_run_with_any_fields_is_decoded(obj: dict[str, Any]) -> None:
    observation = DECODER.run(obj)
    check(observation)
    again = Decoder().run(obj)
    assert (again.run, again.held, again.invalid) == (observation.run, observation.held, observation.invalid)


@given(with_damage(whole_pod))
def test_a_pod_with_any_fields_is_decoded(obj: dict[str, Any]) -> None:
    observation = DECODER.pod(obj)
    if observation is not None:
        assert all(amount > 0 for amount in observation.pod.capacity.values())
        assert observation.pod.capacity["runs"] > 0
        assert observation.pod.unavailable or (observation.pod.name and observation.probed_at)
        hash(observation.pod)


@given(with_damage(workspace_object))
def test_a_workspace_with_any_fields_is_decoded(obj: dict[str, Any]) -> None:
    hash(DECODER.workspace(obj))


@given(anything)
def test_anything_at_all_is_decoded(obj: Any) -> None:
    check(DECODER.run(obj))
    assert DECODER.pod(obj) is None
    hash(DECODER.workspace(obj))


def test_what_is_nested_without_end_is_decoded() -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = [deep]
    spec = {"resources": deep, "affinity": {"runAffinity": deep}, "workspace": deep}
    observation = Decoder().run(run_object(spec=spec, metadata={"labels": {"a": deep}}))
    assert observation.invalid is not None
    assert observation.invalid.path == "metadata.labels"
    while deep:  # taken apart by hand: comparing or dropping it whole may exhaust the stack
        deep = deep.pop()
