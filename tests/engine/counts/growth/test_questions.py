"""How often each hook is asked, fitted as `kruntimes bench engine --growth` does, where many classes wait.

A call for each Pod, class or cohort is the most that one placement may take: twice the size never brings
more than twice the calls, in whatever dimension, with several namespaces that have limits in common.
"""

from __future__ import annotations

import pytest

from kruntimes_core.engine.settings import Settings
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.lab.bench.engine.driver import EngineSetup
from kruntimes_core.lab.bench.engine.measurement import EngineBench
from kruntimes_core.lab.bench.engine.shape import Shape
from kruntimes_core.lab.bench.engine.workloads import WORKLOADS, Timed

SHAPE = Shape(
    pods=32, runs=8, known=32, waiting=80, requests=10, cohorts=10, preferences=10, namespaces=4, runtimes=4
)
# So many calls of a hook in one placement are a few that come now and then, and no loop.
FEW = 2.0


@pytest.mark.parametrize(
    "workload",
    [one for one in WORKLOADS if isinstance(one, Timed) and one.places],
    ids=lambda workload: str(workload.name),
)
def test_no_hook_is_asked_more_often_than_in_proportion(profiles: Profiles, workload: Timed) -> None:
    bench = EngineBench([workload], SHAPE, EngineSetup(profiles, Settings()), 1, growth=True)
    assert len(list(bench.run())) == bench.steps
    grown = [(growth.dimension, hook) for growth in bench.growth for hook in growth.hooks]
    assert any(max(hook.calls.values) > FEW for _, hook in grown), "a plugin was asked something"
    steep = [
        (dimension, hook.name, hook.calls.values)
        for dimension, hook in grown
        if max(hook.calls.values) > FEW and hook.calls.exponent > 1
    ]
    assert not steep
