"""A record has the latest answer about each Pod, with its detail, however alike two answers are."""

from __future__ import annotations

from kruntimes_core import Reject, RuntimePod
from kruntimes_core.framework.profile import Profile
from kruntimes_core.framework.runtime import Runner
from kruntimes_core.testing import make_pod, make_run, make_snapshot
from kruntimes_core.testing.plugins import fake_plugin

ANSWERS = {"one": Reject("Full", "1 in use"), "two": Reject("Full", "2 in use"), "free": None}
RUN = make_run("r")


def pod(name: str, state: str) -> RuntimePod:
    return make_pod(name, annotations={"state": state})


def test_a_pod_that_is_rejected_for_the_same_reason_with_another_detail_is_recorded_anew() -> None:
    """Plugins may keep a rejection and give one object for many Pods, as these do."""
    plugin = fake_plugin(filter=lambda pod: ANSWERS[pod.annotations["state"]], reasons=["Full"])
    runner = Runner(Profile(plugins=(plugin,)), records=True)
    b = pod("b", "two")
    for state in ("one", "two", "one", "free", "two", "free", "one"):
        verdicts, _ = runner.explain(RUN, make_snapshot(pod("a", state), b))
        answer = ANSWERS[state]
        assert verdicts == {"a": (0, answer) if answer else None, "b": (0, ANSWERS["two"])}
        b = pod("b", "two")
        verdicts, _ = runner.explain(RUN, make_snapshot(pod("a", state), b))
        assert verdicts == {"a": (0, answer) if answer else None, "b": (0, ANSWERS["two"])}
