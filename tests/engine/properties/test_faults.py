"""Whatever goes wrong, no Pod is oversold, no Run is bound twice, and none is lost."""

from __future__ import annotations

from typing import Any

import pytest
from histories.disturbed import Disturbed, disturbances
from histories.history import pictures, placements
from histories.steps import Step, histories
from hypothesis import given, settings

from kruntimes_core.engine.clock import SECOND
from kruntimes_core.engine.engine import Settings
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.testing.harness import PODS, RUNS, WORKSPACES, Host


def truth(host: Host) -> dict[str, dict[str, int]]:
    """Usage of each Pod UID by the server."""
    used: dict[str, dict[str, int]] = {}
    for obj in host.server.all(RUNS):
        run = host.server.decoder.run(obj)
        if run.active and run.assigned_pod_uid:
            place = used.setdefault(run.assigned_pod_uid, {})
            for resource, amount in run.held.items():
                place[resource] = place.get(resource, 0) + amount
    return used


def statuses(host: Host) -> dict[str, Any]:
    """The status of each Run by the server."""
    return {run["metadata"]["name"]: run["status"] for run in host.server.all(RUNS)}


def says_nothing(status: Any) -> bool:
    """Whether a Run is Pending and does not say what it waits for."""
    return status["phase"] == "Pending" and not status.get("message", "").startswith("waiting for")


@pytest.mark.parametrize("text_delay", [0, SECOND], ids=["texts at once", "texts held back"])
@settings(max_examples=120)
@given(histories(disturbances))
def test_no_history_oversells_a_pod_binds_twice_or_loses_a_run(
    profiles: Profiles, text_delay: int, history: list[Step]
) -> None:
    """The server checks each accepted bind; in the end every Run has what a fresh host would give it."""
    played = Disturbed(profiles, Settings(text_delay=text_delay))
    for step in history:
        played.play(step)
    played.calm()
    host = played.host
    known = {pod.uid: dict(pod.usage) for picture in pictures(host) for pod in picture.pods.values()}
    used = truth(host)
    assert known == {uid: used.get(uid, {}) for uid in known}
    before = placements(host)
    fresh = Host(profiles, server=host.server, leading=False)
    fresh.jump((host.now.wall - fresh.now.wall).total_seconds())
    fresh.relist(PODS, WORKSPACES, RUNS)
    fresh.engine.lead(fresh.now)
    fresh.settle()
    assert placements(host) == before
    assert [name for name, status in statuses(host).items() if says_nothing(status)] == []
    for name in list(before):
        host.delete(name)
    host.advance(100)
    sizes = host.engine.sizes
    assert {name: size for name, size in sizes.items() if name != "timers"} == dict.fromkeys(
        (name for name in sizes if name != "timers"), 0
    )
