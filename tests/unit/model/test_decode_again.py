"""A Run that is seen again: what cannot have changed is taken from before, and nothing else is."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kruntimes_core.model.decode import Decoder
from kruntimes_core.model.run import RunObservation
from kruntimes_core.testing import affinity_object, condition_object, run_object, term_object

Object = dict[str, Any]

DECODER = Decoder()

CHANGES: list[tuple[str, str, Any]] = [
    ("status", "phase", "Scheduled"),
    ("status", "phase", "Pending"),
    ("status", "assignedPod", "py-1"),
    ("status", "message", "waiting for it"),
    ("status", "conditions", [condition_object("Running", False)]),
    ("status", "attempt", 3),
    ("status", "attempt", "3"),
    ("metadata", "resourceVersion", "8"),
    ("metadata", "deletionTimestamp", "2026-01-02T03:04:05Z"),
    ("metadata", "labels", {"app": "b"}),
    ("metadata", "labels", {"app": "a", "n": 1}),
    ("metadata", "labels", [1]),
    ("metadata", "labels", None),
    ("metadata", "annotations", {"team": "blue"}),
    ("metadata", "annotations", {"team": "red", "n": 1}),
    ("metadata", "annotations", {"team": "red", "kubectl.kubernetes.io/last-applied-configuration": "{}"}),
    ("metadata", "annotations", None),
    ("metadata", "name", "other"),
    ("metadata", "namespace", "other"),
    ("metadata", "uid", "other"),
    ("metadata", "uid", None),
    ("metadata", "generation", None),
    ("metadata", "generation", True),
]


def whole(generation: object = 1) -> Object:
    return run_object(
        version="7",
        labels={"app": "a"},
        requests={"gpu": "1"},
        affinity=affinity_object(required=[term_object({"app": "a"})]),
        pod="py-0",
        spec={"retryPolicy": {"backoff": "2s"}},
        metadata={"generation": generation, "annotations": {"team": "red"}},
        status={"attempt": 2},
    )


def changed(obj: Object, *changes: tuple[str, str, Any]) -> Object:
    after = copy.deepcopy(obj)
    for part, field, value in changes:
        after[part][field] = value
    return after


def again(obj: Object, before: RunObservation) -> RunObservation:
    """What is read beside what was known. It must be what is read without."""
    observation = DECODER.run(obj, before)
    assert observation == DECODER.run(obj)
    return observation


@given(st.lists(st.sampled_from(CHANGES), max_size=3), st.lists(st.sampled_from(CHANGES), max_size=3))
def test_it_is_read_as_if_nothing_was_known(
    before: list[tuple[str, str, Any]], after: list[tuple[str, str, Any]]
) -> None:
    known = changed(whole(), *before)
    again(changed(known, *after), DECODER.run(known))
    again(changed(whole(), *after), DECODER.run(known))


@pytest.mark.parametrize("status", [None, [1], "Running"])
def test_a_status_of_any_type_is_read_as_if_nothing_was_known(status: object) -> None:
    again(whole() | {"status": status}, DECODER.run(whole()))


def test_while_its_status_changes_it_stays_the_same_run() -> None:
    before = DECODER.run(whole())
    after = again(changed(whole(), ("status", "phase", "Succeeded"), ("status", "message", "done")), before)
    assert after.run is before.run
    assert (after.phase, after.message) == ("Succeeded", "done")


def test_an_equal_generation_stands_for_an_equal_spec() -> None:
    """What a server counts is relied on: otherwise all would have to be read each time."""
    before = DECODER.run(whole())
    assert not DECODER.run(changed(whole(), ("spec", "cancelRequested", True)), before).cancel_requested


def test_a_new_generation_is_read() -> None:
    cancelled = changed(whole(2), ("spec", "cancelRequested", True))
    assert again(cancelled, DECODER.run(whole(1))).cancel_requested


@pytest.mark.parametrize("generation", [None, 0, -1, True, 1.0, "1"])
def test_without_a_generation_all_is_read(generation: object) -> None:
    before = DECODER.run(whole(generation))
    assert again(changed(whole(generation), ("spec", "cancelRequested", True)), before).cancel_requested


def test_what_was_invalid_is_read_again() -> None:
    unnamed = changed(whole(), ("metadata", "labels", {"app": 1}))
    before = DECODER.run(unnamed)
    assert before.invalid is not None
    assert again(whole(), before).invalid is None
