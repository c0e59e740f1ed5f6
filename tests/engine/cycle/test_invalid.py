"""A Run ends as invalid only by what is so at the commit."""

from __future__ import annotations

from typing import Any

from engine_scenes import in_work

from kruntimes_core import InvalidRun, Targets
from kruntimes_core.testing.builders import matching
from kruntimes_core.testing.harness import Host
from kruntimes_core.testing.plugins import fake_plugin, profiles_of


def test_a_run_that_turns_invalid_by_a_prefilter_during_its_plan_ends_as_failed() -> None:
    def prefilter(labels: Any) -> None:
        if labels.get("bad"):
            raise InvalidRun("BadLabel", "remove the label bad")

    host = Host(profiles_of(fake_plugin(prefilter=prefilter)))
    host.pod("py-0")
    host.run("r")
    with in_work(host):
        host.change("r", metadata={"labels": {"bad": "yes"}})
    host.settle()
    assert host.status("r")["phase"] == "Failed"
    assert host.pod_of("r") is None


def test_a_verdict_of_invalid_from_what_changed_meanwhile_is_asked_for_again() -> None:
    """Failed is for ever, so it must be true when it is written, and not only when it was thought."""

    def prefilter(targets: Targets) -> None:
        if targets.any(matching(app="other")):
            raise InvalidRun("NotAlone", "wait until nothing of app other runs")

    host = Host(profiles_of(fake_plugin(prefilter=prefilter)))
    host.pod("py-0")
    host.run("x", labels={"app": "other"}, pod="py-0")
    host.run("r")
    with in_work(host):
        host.end("x")
    host.settle()
    assert host.pod_of("r") == "py-0"
