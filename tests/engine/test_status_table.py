"""The specification's table of situations, phases and what the scheduler does."""

from __future__ import annotations

from typing import Any

import pytest
from engine_scenes import BASE_TEXT, condition

from kruntimes_core import InvalidRun
from kruntimes_core.engine.counters import SyncResult
from kruntimes_core.testing import affinity_object, term_object
from kruntimes_core.testing.harness import Host
from kruntimes_core.testing.plugins import fake_plugin, profiles_of

AFFINITY_TEXT = "waiting for a runtime pod that satisfies required run affinity"
ANTI_TEXT = "waiting for a runtime pod without the runs that required run anti-affinity excludes"


@pytest.mark.parametrize(
    ("prepare", "run", "text"),
    [
        (lambda host: None, {}, BASE_TEXT),
        (lambda host: host.pod("py-0", ready=False), {}, BASE_TEXT),
        (lambda host: host.pod("py-0", runs=1), {"requests": {"runs": "2"}}, BASE_TEXT),
        (
            lambda host: host.pod("py-0"),
            {"affinity": affinity_object(required=[term_object({"app": "a"})])},
            AFFINITY_TEXT,
        ),
        (
            lambda host: (host.pod("py-0", runs=4), host.run("x", labels={"app": "a"}, pod="py-0")),
            {"affinity": affinity_object(required_anti=[term_object({"app": "a"})])},
            ANTI_TEXT,
        ),
    ],
    ids=["no pod", "no ready pod", "no capacity", "affinity", "anti-affinity"],
)
def test_what_cannot_be_satisfied_now_stays_pending_with_a_bounded_text(
    host: Host, prepare: Any, run: dict[str, Any], text: str
) -> None:
    prepare(host)
    host.run("r", **run)
    host.settle()
    assert host.status("r")["phase"] == "Pending"
    assert host.texts("r") == [text]
    assert host.engine.counters.syncs[SyncResult.NO_PODS] == 1


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"requests": {"gpu": "1e999999999"}}, "InvalidResources"),
        ({"requests": {"gpu": "500m"}}, "InvalidResources"),
        ({"requests": {"gpu": "-1"}}, "InvalidResources"),
        ({"affinity": affinity_object(required=[term_object()])}, "InvalidAffinity"),
        (
            {"spec": {"workspace": {"name": "ws", "kind": "Deployment"}}},
            "InvalidWorkspace",
        ),
        (
            {
                "affinity": affinity_object(
                    required=[term_object(expressions=[{"key": "app", "operator": "in", "values": ["a"]}])]
                )
            },
            "InvalidAffinity",
        ),
    ],
)
@pytest.mark.parametrize("pods", [0, 2])
def test_an_invalid_constraint_fails_once_and_never_loops(
    host: Host, fields: dict[str, Any], reason: str, pods: int
) -> None:
    for number in range(pods):
        host.pod(f"py-{number}")
    host.run("r", **fields)
    host.run("ok")
    host.advance(100)
    status = host.status("r")
    assert status["phase"] == "Failed"
    assert status["completionTime"] == "2026-01-02T03:04:05Z"
    assert status["message"]
    for kind in ("Running", "Completed"):
        assert (condition(host, kind)["status"], condition(host, kind)["reason"]) == ("False", reason)
    assert len(host.writes("r")) == 1
    assert host.pod_of("ok") == ("py-0" if pods else None)


def test_an_active_runs_own_invalid_selector_harms_nobody(host: Host) -> None:
    host.pod("py-0", runs=2)
    host.run("x", pod="py-0", affinity=affinity_object(required=[term_object()]))
    host.run("r")
    host.settle()
    assert host.pod_of("r") == "py-0"
    assert not host.writes("x")


def test_a_prefilter_may_end_a_run_with_a_reason_of_its_own() -> None:
    def prefilter(labels: Any) -> None:
        if "tenant" not in labels:
            raise InvalidRun("TenantMissing", "set the label tenant")

    host = Host(profiles_of(fake_plugin(prefilter=prefilter)))
    host.pod("py-0")
    host.run("r")
    host.run("ok", labels={"tenant": "a"})
    host.settle()
    assert host.status("r")["message"] == "set the label tenant"
    assert condition(host, "Completed")["reason"] == "TenantMissing"
    assert host.pod_of("ok") == "py-0"


def test_a_preference_that_cannot_be_met_is_no_constraint(host: Host) -> None:
    host.pod("py-0")
    host.run("r", affinity=affinity_object(preferred=[(100, term_object({"app": "nowhere"}))]))
    host.settle()
    assert host.pod_of("r") == "py-0"


def test_a_pod_that_turns_unhealthy_after_the_bind_is_the_platforms_affair(host: Host) -> None:
    host.pod("py-0")
    host.pod("py-1")
    host.run("r")
    host.settle()
    host.ready("py-0", False)
    host.advance(120)
    assert host.pod_of("r") == "py-0"
    assert len(host.writes("r")) == 1
