"""A Pod of which every reading is noted is a Pod like any other to who reads it."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, fields, replace
from typing import Any

import pytest

from kruntimes_core import Request, RuntimePod
from kruntimes_core.framework.runner.read_pod import PodReads, ReadPod
from kruntimes_core.testing import make_pod, matching

POD = make_pod(labels={"zone": "a"}, usage={"runs": 1}, targets=[{"app": "a"}])


def read(ask: Callable[[RuntimePod], Any]) -> tuple[Any, PodReads]:
    """What somebody gets who asks, and what is noted of it."""
    reads = PodReads()
    return ask(ReadPod(POD, reads)), reads


@pytest.mark.parametrize("name", [field.name for field in fields(RuntimePod)])
def test_each_value_is_that_of_the_pod(name: str) -> None:
    got, reads = read(lambda pod: getattr(pod, name))
    assert got == getattr(POD, name)
    assert not reads.matches_alone, "comparing the targets reads all of them"


@pytest.mark.parametrize(
    "ask",
    [
        lambda pod: pod == POD,
        lambda pod: POD == pod,  # noqa: SIM300 - the other side is asked first
        lambda pod: pod == ReadPod(POD, PodReads()),
        lambda pod: hash(pod) == hash(POD),
        lambda pod: repr(pod) == repr(POD),
        lambda pod: pod.available and pod.fits(Request({"runs": 1})),
        lambda pod: replace(pod, name="other") == replace(POD, name="other"),
        lambda pod: asdict(pod) == asdict(POD),
        lambda pod: copy.copy(pod) == POD,
        lambda pod: pickle.loads(pickle.dumps(pod)) == POD,  # noqa: S301 - our own
        lambda pod: {POD: "found"}[pod] == "found",
    ],
)
def test_what_is_made_of_a_pod_is_made_of_all_of_it(ask: Callable[[RuntimePod], bool]) -> None:
    right, reads = read(ask)
    assert right is True
    assert reads.beyond


def test_what_targets_match_is_noted_with_its_answer() -> None:
    (yes, no), reads = read(lambda pod: [pod.targets.any(matching(app=app)) for app in "ab"])
    assert (yes, no) == (True, False)
    assert reads.any_of == {matching(app="a"): True, matching(app="b"): False}
    assert reads.matches_alone


def test_it_is_a_pod_and_cannot_be_changed() -> None:
    pod = ReadPod(POD, PodReads())
    assert isinstance(pod, RuntimePod)
    with pytest.raises(FrozenInstanceError):
        pod.name = "other"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        pod.nothing  # noqa: B018 - that it is not there
