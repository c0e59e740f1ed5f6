"""A Pod with its load is the observed Pod in all but usage and targets."""

from __future__ import annotations

from dataclasses import fields, replace

from kruntimes_core import FrozenMap, RuntimePod, Unavailability
from kruntimes_core.engine.cache import PodAllocations, carrying
from kruntimes_core.testing import make_pod, make_targets


def test_carrying_a_load_keeps_every_other_field() -> None:
    pod = make_pod(
        "py-7",
        namespace="team-b",
        uid="P7",
        runtime="js",
        node="node-3",
        labels={"zone": "a"},
        annotations={"note": "x"},
        capacity={"runs": 7},
        unavailable=Unavailability.NOT_READY,
    )
    default = RuntimePod(namespace="", name="", uid="", runtime="")
    named = [field.name for field in fields(RuntimePod) if field.name not in ("usage", "targets")]
    assert [name for name in named if getattr(pod, name) == getattr(default, name)] == []
    load = PodAllocations(FrozenMap({"runs": 3}), make_targets([{"app": "a"}]))
    assert carrying(pod, load) == replace(pod, usage=load.usage, targets=load.targets)
