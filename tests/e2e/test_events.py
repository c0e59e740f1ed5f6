"""Events on a real API server: one of each reason as its readers see it, and none in anybody's way."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Protocol

import pytest

from faultproxy.faults import Fault, Match, refusal
from faultproxy.proxy import FaultProxy
from kruntimes_core.cluster.event_recorder.event import CONTROLLER, EventOutcome, EventReason
from kruntimes_core.cluster.event_recorder.sources import NEVER, OUTAGE
from realcluster.access import RULES
from realcluster.client import PODS, Object, Resource
from realcluster.fixtures import ServiceAccounts
from realcluster.scheduler import STEADY, Scheduler, running_scheduler
from realcluster.servers import Cluster
from realcluster.workload import Workload, placed

EVENTS = Resource("events.k8s.io", "v1", "events")
SECRET = "hunter2"  # noqa: S105 - it is what must not be told
CONFIGURATION = f"""{STEADY}
backoff: {{initialSeconds: 0.2, maxSeconds: 0.5}}
events: {{afterSeconds: 1, repeatSeconds: 1, perSecond: 100, placements: true}}
"""
FICKLE = f"""{CONFIGURATION}
profiles:
- name: fickle
  runtimes: [fickle]
  plugins: {{enabled: [Fickle]}}
"""
PLUGIN = f"""
from kruntimes_core import hookimpl


class Fickle:
    on_by_default = False

    @hookimpl
    def filter(self, pod):
        raise RuntimeError("cannot log in with {SECRET}")
"""


class StartAnnouncing(Protocol):
    """What the fixture `announcing` gives."""

    def __call__(
        self, by: FaultProxy | None = None, *, may_announce: bool = True, text: str = ...
    ) -> Scheduler:
        """A scheduler that announces what lasts for a second; text: its configuration."""


@pytest.fixture
def announcing(
    cluster: Cluster, namespace: str, service_account: ServiceAccounts, tmp_path: Path
) -> Iterator[StartAnnouncing]:
    """Start schedulers of the test's namespace; they are gone after the test."""
    with ExitStack() as running:

        def start(
            by: FaultProxy | None = None, *, may_announce: bool = True, text: str = CONFIGURATION
        ) -> Scheduler:
            rules = [rule for rule in RULES if may_announce or rule["resources"] != ["events"]]
            scheduler = running.enter_context(
                running_scheduler(
                    by.cluster if by is not None else cluster,
                    service_account(rules).token,
                    tmp_path,
                    f"--namespaces={namespace}",
                    configuration=text,
                )
            )
            scheduler.says("deciding")
            return scheduler

        yield start


@pytest.fixture
def fickle_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a plugin for the processes that are started: all that it does is to fail."""
    folder = tmp_path / "installed"
    metadata = folder / "fickle-1.0.dist-info"
    metadata.mkdir(parents=True)
    (folder / "fickle.py").write_text(PLUGIN)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: fickle\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[kruntimes.plugins]\nFickle = fickle:Fickle\n")
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))


def events_of(work: Workload, name: str) -> list[Object]:
    """The Events about an object, by reason."""
    items = work.client.list(EVENTS, work.namespace, fieldSelector=f"regarding.name={name}").body["items"]
    return sorted(items, key=lambda event: str(event["reason"]))


def reasons(work: Workload, name: str) -> list[str]:
    return [event["reason"] for event in events_of(work, name)]


def said(work: Workload, name: str, *expected: str) -> bool:
    return reasons(work, name) == sorted(expected)


def count(work: Workload, name: str) -> int:
    return max((event.get("series", {}).get("count", 1) for event in events_of(work, name)), default=0)


def shown(cluster: Cluster, kubectl: str, namespace: str, *arguments: str) -> str:
    """What kubectl prints."""
    command = [kubectl, f"--kubeconfig={cluster.kubeconfig}", f"-n={namespace}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout


def check_event(event: Object, work: Workload, reason: EventReason, regarding: Object) -> None:
    """What is so of every Event."""
    assert event["reason"] == reason.value
    assert (event["type"], event["action"]) == (reason.type, reason.action)
    assert event["reportingController"] == CONTROLLER
    assert event["reportingInstance"]
    assert event["metadata"]["namespace"] == work.namespace
    assert event["regarding"]["uid"] == regarding["metadata"]["uid"]
    assert event["regarding"]["kind"] == regarding["kind"]
    assert event["regarding"]["apiVersion"] == regarding["apiVersion"]
    assert SECRET not in str(event)


def waits(work: Workload) -> Object:
    return work.run("example", runtime="none")


def never_fits(work: Workload) -> Object:
    return work.run("example", resources={"requests": {"runs": 9}})


def beats_no_more(work: Workload) -> Object:
    work.pod("old-0", runtime="old")
    long_ago = "2026-01-02T03:04:05Z"
    common = {"status": "True", "reason": "Test", "message": "", "lastTransitionTime": long_ago}
    conditions = [
        {"type": "Ready", **common},
        {"type": "kruntimes.io/RuntimedReady", "lastProbeTime": long_ago, **common},
    ]
    body = {"status": {"conditions": conditions}}
    assert work.client.patch(PODS, "old-0", body, work.namespace, subresource="status").status == 200
    return work.run("example", runtime="old")


def fails_in_a_plugin(work: Workload) -> Object:
    work.pod("fickle-0", runtime="fickle")
    return work.run("example", runtime="fickle")


def asks_for_a_pod(work: Workload) -> Object:
    return work.run("example")


def is_invalid(work: Workload) -> Object:
    return work.run("example", resources={"requests": {"gpu": "500m"}})


CASES: dict[EventReason, tuple[Callable[[Workload], Object], str]] = {
    EventReason.FAILED_SCHEDULING: (waits, 'waiting for available runtime pods for runtime "none"'),
    EventReason.NEVER_FITS: (never_fits, f'waiting for available runtime pods for runtime "py": {NEVER}'),
    EventReason.HEARTBEAT_STALE: (beats_no_more, OUTAGE),
    EventReason.PLUGIN_ERROR: (fails_in_a_plugin, "plugin Fickle (fickle 1.0) fails in filter"),
    EventReason.FAILED_UPDATE_STATUS: (asks_for_a_pod, "cannot be written: the API server answers 422"),
    EventReason.INVALID_RUN: (is_invalid, "can never be scheduled (InvalidResources)"),
    EventReason.SCHEDULED: (asks_for_a_pod, "assigned to a runtime pod"),
}


@pytest.mark.usefixtures("fickle_plugin")
@pytest.mark.parametrize("reason", CASES)
def test_each_reason_is_told_of_and_shown_by_kubectl(
    cluster: Cluster,
    kubectl: str,
    work: Workload,
    proxy: FaultProxy,
    announcing: StartAnnouncing,
    reason: EventReason,
) -> None:
    begin, note = CASES[reason]
    work.pod("py-0", runs=8)
    if reason is EventReason.FAILED_UPDATE_STATUS:
        refused = Fault(forwarded=False, answer=refusal(422, "Invalid", f"a webhook knows {SECRET}"))
        proxy.disturb(Match("patch", "runs", "example"), refused, times=None)
    scheduler = announcing(proxy, text=FICKLE)
    run = begin(work)
    scheduler.wait_until(lambda: said(work, "example", reason.value))
    (event,) = events_of(work, "example")
    check_event(event, work, reason, run)
    assert note in event["note"]
    if reason is EventReason.FAILED_SCHEDULING:  # the Event may be there before the text is
        scheduler.wait_until(lambda: work.get("example").get("status", {}).get("message") == event["note"])
    described = shown(cluster, kubectl, work.namespace, "describe", "run", "example")
    assert all(text in described for text in (reason.value, CONTROLLER, event["note"]))
    listed = shown(cluster, kubectl, work.namespace, "events", "--for", "run/example")
    assert all(text in listed for text in (reason.type, reason.value, event["note"]))
    if reason in (EventReason.INVALID_RUN, EventReason.SCHEDULED):
        return
    scheduler.wait_until(lambda: count(work, "example") >= 2)
    assert reasons(work, "example") == [reason.value]


def test_many_runs_that_wait_for_the_same_share_an_event(work: Workload, announcing: StartAnnouncing) -> None:
    for number in range(20):
        work.run(f"waits-{number:02}", runtime="none")
    scheduler = announcing()
    scheduler.wait_until(lambda: count(work, "waits-00") >= 2)
    (event,) = events_of(work, "waits-00")
    assert event["note"].endswith(" (the same holds back 19 more runs of this runtime)")
    listed = work.client.list(EVENTS, work.namespace).body["items"]
    assert {one["regarding"]["name"] for one in listed} == {"waits-00"}


def test_a_pod_that_holds_more_than_it_has_is_told_of(work: Workload, announcing: StartAnnouncing) -> None:
    """What it advertises is lowered below what it holds, as by a new version of its Runtime."""
    scheduler = announcing()
    work.pod("py-0", runs=2)
    for name in ("one", "other"):
        work.run(name)
        work.wait_for(name, placed)
    lowered = {"metadata": {"annotations": {"kruntimes.io/capacity.runs": "1"}}}
    assert work.client.patch(PODS, "py-0", lowered, work.namespace).status == 200
    # It counts once both watches have reached its version: this Run brings that of Runs there.
    work.run("later")
    scheduler.wait_until(lambda: said(work, "py-0", EventReason.RUNTIME_POD_OVERSOLD.value))
    (event,) = events_of(work, "py-0")
    pod = work.client.get(PODS, "py-0", work.namespace).body
    check_event(event, work, EventReason.RUNTIME_POD_OVERSOLD, pod)


def test_without_the_right_binds_go_on_and_what_is_missing_is_said(
    work: Workload, announcing: StartAnnouncing
) -> None:
    scheduler = announcing(may_announce=False)
    work.run("waits", runtime="none")
    refused = partial(
        scheduler.metric,
        "events_total",
        reason=EventReason.FAILED_SCHEDULING.value,
        outcome=EventOutcome.REFUSED,
    )
    scheduler.wait_until(lambda: refused() >= 1)
    work.pod("py-0")
    work.run("r1")
    work.wait_for("r1", placed)
    assert reasons(work, "waits") == reasons(work, "r1") == []
    scheduler.says_like("cannot create events.events.k8s.io in .*: forbidden: grant the verb")
    assert scheduler.get("probes", "/readyz")[0] == 200
    assert "[+]events ok: cannot create events" in scheduler.get("probes", "/readyz?verbose")[1]
    assert f"events.k8s.io in {work.namespace}: forbidden" in scheduler.get("debug", "/checks")[1]
    assert scheduler.stop() == 0


def test_what_waits_over_a_restart_is_told_of_anew(work: Workload, announcing: StartAnnouncing) -> None:
    first = announcing()
    work.run("waits", runtime="none")
    first.wait_until(lambda: count(work, "waits") >= 2)
    assert first.stop() == 0
    second = announcing()
    second.wait_until(lambda: len(events_of(work, "waits")) == 2)
    assert len({event["reportingInstance"] for event in events_of(work, "waits")}) == 2
