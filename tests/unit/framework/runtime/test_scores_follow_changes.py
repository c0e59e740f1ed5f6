"""The best Pod is the one with the best score now, whatever it and others had before."""

from __future__ import annotations

from random import Random

import pytest

from kruntimes_core import RuntimePod
from kruntimes_core.framework.profile import Profile
from kruntimes_core.framework.runtime import Runner, ScheduleResult
from kruntimes_core.testing import make_pod, make_run, make_snapshot
from kruntimes_core.testing.plugins import fake_plugin


def level(pod: RuntimePod) -> int:
    return int(pod.annotations["level"])


def other(pod: RuntimePod) -> int:
    return int(pod.annotations["other"])


@pytest.mark.parametrize("levels", [2, 5, 100])
@pytest.mark.parametrize("scorers", [1, 2])
def test_the_best_follows_the_scores_as_they_change(scorers: int, levels: int) -> None:
    """Few Pods and many levels, many Pods and few levels, and Pods that take the place of others."""
    random, run = Random(levels), make_run("r")
    plugins = [fake_plugin("Level", score=level), fake_plugin("Other", score=other)]
    runner = Runner(Profile(plugins=tuple(plugins[:scorers])))
    pods: dict[str, RuntimePod] = {}
    for _ in range(600):
        name = f"py-{random.randrange(8)}"
        if name in pods and random.random() < 0.3:
            del pods[name]
        else:
            scores = {"level": str(random.randrange(levels)), "other": str(random.randrange(3))}
            pods[name] = make_pod(name, annotations=scores)
        if not pods:
            continue
        outcome = runner.plan(run, make_snapshot(*pods.values()))
        totals = {name: level(pod) + (other(pod) if scorers == 2 else 0) for name, pod in pods.items()}
        assert isinstance(outcome, ScheduleResult)
        assert outcome.pod.name == min(totals, key=lambda name: (-totals[name], name))
