"""What is known after many changes is what a host finds that lists it now."""

from __future__ import annotations

from hypothesis import given, settings

from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.testing.harness import PODS, RUNS, WORKSPACES, Host
from tests.engine.properties.history import History, pictures
from tests.engine.properties.steps import Step, histories


@settings(max_examples=60)
@given(histories())
def test_the_state_kept_by_changes_equals_one_built_anew(profiles: Profiles, history: list[Step]) -> None:
    played = History(Host(profiles))
    for step in history:
        played.play(step)
        played.host.settle()
    host = played.host
    for pod in host.server.all(PODS):
        host.beat(pod["metadata"]["name"])
    host.settle()
    anew = Host(profiles, server=host.server, leading=False)
    anew.jump((host.now.wall - anew.now.wall).total_seconds())
    anew.relist(PODS, WORKSPACES, RUNS)
    for kept, built in zip(pictures(host), pictures(anew), strict=True):
        assert dict(kept.pods) == dict(built.pods)
        assert kept.targets == built.targets
        assert dict(kept.workspaces) == dict(built.workspaces)
