"""No mixture of versions makes a Pod oversold: an alarm is only of what was true at one version."""

from __future__ import annotations

import asyncio
import io
from dataclasses import dataclass, field, replace
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from virtual.calls import status, target
from virtual.site import Site

from kruntimes_core.cluster.client.resources import PODS, RUNS, ApiResource
from kruntimes_core.cluster.client.transport import Call, Response
from kruntimes_core.cluster.clock import SystemClock
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.scheduler.oversold_pods import OversoldPods
from kruntimes_core.engine import events
from kruntimes_core.model.pod import PodObservation, RuntimePod
from kruntimes_core.model.run import Phase, Run, RunObservation
from kruntimes_core.testing import make_pod, make_run
from kruntimes_core.testing.builders import NAMESPACE
from tests.unit.cluster.played import scheduler_scene

SCOPES = pytest.mark.parametrize("scope", [None, NAMESPACE], ids=["all namespaces", "one namespace"])


# Scenes


def _bound_by_another(site: Site, name: str, pod: str = "py-0", **fields: str) -> None:
    """Another client places a Run."""
    uid = site.server.get("Pod", NAMESPACE, pod)["metadata"]["uid"]
    bound = {"phase": "Scheduled", "assignedPod": pod, "assignedPodUID": uid, **fields}
    site.change(name, status=bound)


def _refuses_late(site: Site, name: str) -> None:
    """Each write for a Run is refused after 3 s, so that the scheduler reads the Run."""

    async def fault(call: Call) -> Response | None:
        what = target(call)
        if (what.verb, what.name) != ("patch", name):
            return None
        await asyncio.sleep(3)
        return status(409, "Conflict")

    site.api.faults.append(fault)


async def _full_pod(site: Site) -> None:
    """A Pod with room for one Run, which it has, and a Run that waits."""
    site.pod("py-0", runs=1)
    site.run("first", pod="py-0")
    site.run("next")
    site.start()
    await site.passes(7)


@scheduler_scene()
async def test_a_run_that_was_read_ahead_of_the_end_of_another(site: Site) -> None:
    _refuses_late(site, "next")
    site.pod("py-0", runs=1)
    site.run("first", pod="py-0")
    site.start()
    await site.passes(7)
    site.run("next")
    await site.passes(1)
    site.api.lag_seconds = {"runs": 12.0}
    site.end("first")
    _bound_by_another(site, "next")
    await site.passes(4)
    entry = site.host.engine.find(NAMESPACE, "next")
    assert entry is not None
    assert entry.observation.active
    await site.passes(60)
    assert site.host.oversold_pods.count == 0


@scheduler_scene()
async def test_a_run_that_came_ahead_of_the_growth_of_its_pod(site: Site) -> None:
    await _full_pod(site)
    site.api.lag_seconds = {"pods": 12.0}
    site.server.change("Pod", NAMESPACE, "py-0", _capacity(2))
    _bound_by_another(site, "next")
    await site.passes(60)
    assert site.pod_of("next") == "py-0"
    assert site.host.oversold_pods.count == 0


@scheduler_scene(namespaces=[NAMESPACE])
async def test_a_pod_that_shrank_ahead_of_the_end_of_its_run(site: Site) -> None:
    site.pod("py-0", runs=2)
    for name in ("first", "next"):
        site.run(name, pod="py-0")
    site.start()
    await site.passes(7)
    site.api.lag_seconds = {"runs": 12.0}
    site.end("first")
    site.server.change("Pod", NAMESPACE, "py-0", _capacity(1))
    await site.passes(60)
    assert site.host.oversold_pods.count == 0


@scheduler_scene()
async def test_a_list_of_one_resource_while_the_other_is_behind(site: Site) -> None:
    await _full_pod(site)
    site.api.lag_seconds = {"pods": 12.0}
    site.server.change("Pod", NAMESPACE, "py-0", _capacity(2))
    site.api.oldest = int(site.server.list("Run").version) + 1
    _bound_by_another(site, "next")
    for stream in site.api.streams:
        if stream.plural == "runs":
            stream.cut()
    await site.passes(60)
    assert site.host.oversold_pods.count == 0


async def _is_told_within_a_minute(site: Site) -> None:
    site.pod("py-0", runs=1, beating=False)
    site.run("first", pod="py-0")
    site.run("next")
    site.start()
    await site.passes(7)
    _bound_by_another(site, "next")
    await site.passes(60)
    assert site.host.oversold_pods.count == 1
    assert "a pod holds more than it has pod=team-a/py-0 resources=runs" in site.log


@scheduler_scene()
async def test_what_is_oversold_in_a_silent_cluster_is_told_within_a_minute(site: Site) -> None:
    await _is_told_within_a_minute(site)


@scheduler_scene(namespaces=[NAMESPACE])
async def test_what_is_oversold_in_a_silent_namespace_is_told_within_a_minute(site: Site) -> None:
    await _is_told_within_a_minute(site)


def _capacity(runs: int) -> dict[str, object]:
    return {"metadata": {"annotations": {"kruntimes.io/capacity.runs": str(runs)}}}


# Histories: one consistent server, and two watches that show it at their own pace


@dataclass
class Cluster:
    """Runs and Pods at each version, and the events of both."""

    strict: bool
    """Whether nothing that would oversell a Pod is accepted."""
    version: int = 1
    runs: dict[str, RunObservation] = field(default_factory=dict)
    pods: dict[str, RuntimePod] = field(default_factory=dict)
    log: list[tuple[int, ApiResource, events.Event]] = field(default_factory=list)
    states: dict[int, tuple[dict[str, RunObservation], dict[str, RuntimePod]]] = field(default_factory=dict)
    pod_versions: dict[str, str] = field(default_factory=dict)
    numbers: count[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        self.states[self.version] = ({}, {})

    def store(self, resource: ApiResource, name: str, value: RunObservation | RuntimePod | None) -> None:
        """Store or delete an object, unless that oversells a Pod and must not."""
        runs, pods = dict(self.runs), dict(self.pods)
        table: dict[str, RunObservation | RuntimePod] = runs if resource is RUNS else pods  # type: ignore[assignment]
        if value is None:
            table.pop(name)
        else:
            table[name] = value
        if self.strict and oversold(runs, pods):
            return
        self.version += 1
        version = str(self.version)
        if isinstance(value, RunObservation):
            runs[name] = replace(value, version=version)
            event: events.Event = events.RunObserved(runs[name])
        elif value is not None:
            event = events.PodObserved(PodObservation(pod=value, version=version))
            self.pod_versions[name] = version
        else:
            gone = events.RunGone if resource is RUNS else events.PodGone
            event = gone(namespace=NAMESPACE, name=name, uid="", version=version)
        self.runs, self.pods = runs, pods
        self.states[self.version] = (runs, pods)
        self.log.append((self.version, resource, event))

    def at(self, version: int) -> tuple[dict[str, RunObservation], dict[str, RuntimePod]]:
        """All objects at a version."""
        return self.states[version]


def oversold(runs: dict[str, RunObservation], pods: dict[str, RuntimePod]) -> set[str]:
    """The UIDs of the Pods that hold more than they have."""
    held: dict[str, int] = {}
    for run in runs.values():
        if run.active:
            held[run.assigned_pod_uid or ""] = held.get(run.assigned_pod_uid or "", 0) + run.held["runs"]
    return {pod.uid for pod in pods.values() if held.get(pod.uid, 0) > pod.capacity["runs"]}


class Watcher:
    """`OversoldPods` with its watches, and a check of each alarm."""

    def __init__(self, cluster: Cluster, scope: str | None) -> None:
        self.cluster, self.scope = cluster, scope
        self.shown: dict[ApiResource, int] = {}
        self.alarms: list[str] = []
        namespaces = [scope] if scope is not None else None
        self.oversold = OversoldPods(Log(io.StringIO(), SystemClock()), namespaces, self._told)
        for resource in (PODS, RUNS):
            self.list(resource)

    def list(self, resource: ApiResource) -> None:
        """List a resource as it is now."""
        self.shown[resource] = self.cluster.version
        runs, pods = self.cluster.at(self.cluster.version)
        version = str(self.cluster.version)
        if resource is RUNS:
            listed: events.Event = events.RunsListed(
                observations=tuple(runs.values()), version=version, namespace=self.scope
            )
        else:
            seen = tuple(
                PodObservation(pod=pod, version=self.cluster.pod_versions[pod.name]) for pod in pods.values()
            )
            listed = events.PodsListed(observations=seen, version=version, namespace=self.scope)
        self.oversold.after(listed)

    def show(self, resource: ApiResource) -> bool:
        """Show the next event of a watch, if there is one."""
        for version, of, event in self.cluster.log:
            if of is resource and version > self.shown[resource]:
                self.shown[resource] = version
                self.oversold.after(event)
                return True
        return False

    def bookmark(self, resource: ApiResource) -> None:
        """A bookmark, once a watch has shown all."""
        while self.show(resource):
            pass
        self.shown[resource] = self.cluster.version
        self.oversold.reached(resource, self.scope, str(self.cluster.version))

    def _told(self, pod: RuntimePod, run: Run | None) -> None:
        both = min(self.shown.values())
        assert any(pod.uid in oversold(*self.cluster.at(version)) for version in range(1, both + 1))
        self.alarms.append(pod.uid)


names = st.sampled_from(["a", "b", "c", "d"])
pod_names = st.sampled_from(["p", "q"])
resources = st.sampled_from([RUNS, PODS])
steps = st.one_of(
    st.tuples(st.just("bind"), names, pod_names, st.integers(1, 2)),
    st.tuples(st.just("bind"), names, pod_names, st.integers(1, 2)),
    st.tuples(st.just("touch"), names),
    st.tuples(st.just("end"), names),
    st.tuples(st.just("end"), names),
    st.tuples(st.just("delete run"), names),
    st.tuples(st.just("pod"), pod_names, st.integers(1, 3)),
    st.tuples(st.just("resize"), pod_names, st.integers(1, 3)),
    st.tuples(st.just("resize"), pod_names, st.integers(1, 3)),
    st.tuples(st.just("delete pod"), pod_names),
    st.tuples(st.just("show"), resources),
    st.tuples(st.just("show"), resources),
    st.tuples(st.just("bookmark"), resources),
    st.tuples(st.just("list"), resources),
)
histories = st.lists(steps, min_size=15, max_size=60)


def _play(cluster: Cluster, watcher: Watcher, step: tuple[object, ...]) -> None:
    match step:
        case ("bind", str(name), str(pod), int(number)) if pod in cluster.pods:
            run = make_run(name, request={"runs": number})
            seen = RunObservation(run=run, phase=Phase.SCHEDULED, assigned_pod=pod, held=run.request)
            cluster.store(RUNS, name, replace(seen, assigned_pod_uid=cluster.pods[pod].uid))
        case ("touch", str(name)) if name in cluster.runs:
            cluster.store(RUNS, name, replace(cluster.runs[name], message=str(next(cluster.numbers))))
        case ("end", str(name)) if name in cluster.runs:
            cluster.store(RUNS, name, replace(cluster.runs[name], phase=Phase.SUCCEEDED))
        case ("delete run", str(name)) if name in cluster.runs:
            cluster.store(RUNS, name, None)
        case ("pod", str(name), int(runs)):
            if name in cluster.pods:
                cluster.store(PODS, name, None)
            uid = f"{name}-{next(cluster.numbers)}"
            cluster.store(PODS, name, make_pod(name, uid=uid, capacity={"runs": runs}))
        case ("resize", str(name), int(runs)) if name in cluster.pods:
            uid = cluster.pods[name].uid
            cluster.store(PODS, name, make_pod(name, uid=uid, capacity={"runs": runs}))
        case ("delete pod", str(name)) if name in cluster.pods:
            cluster.store(PODS, name, None)
        case ("show" | "bookmark" | "list" as what, resource):
            getattr(watcher, str(what))(resource)


def _played(history: list[tuple[object, ...]], scope: str | None, *, strict: bool) -> tuple[Cluster, Watcher]:
    cluster = Cluster(strict)
    for name in ("p", "q"):
        cluster.store(PODS, name, make_pod(name, uid=f"{name}-first", capacity={"runs": 2}))
    watcher = Watcher(cluster, scope)
    for step in history:
        _play(cluster, watcher, step)
    return cluster, watcher


@SCOPES
@settings(max_examples=100)
@given(history=histories)
def test_where_nothing_is_ever_oversold_there_is_no_alarm(
    scope: str | None, history: list[tuple[object, ...]]
) -> None:
    _, watcher = _played(history, scope, strict=True)
    for resource in (RUNS, PODS):
        watcher.bookmark(resource)
    assert watcher.alarms == []


@SCOPES
@settings(max_examples=100)
@given(history=histories)
def test_each_alarm_is_true_and_what_is_oversold_at_the_end_is_told(
    scope: str | None, history: list[tuple[object, ...]]
) -> None:
    cluster, watcher = _played(history, scope, strict=False)
    for resource in (RUNS, PODS):
        watcher.bookmark(resource)
    assert oversold(*cluster.at(cluster.version)) <= set(watcher.alarms)


def test_versions_that_cannot_be_ordered_are_never_an_alarm_until_a_list() -> None:
    cluster = Cluster(strict=False)
    cluster.store(PODS, "p", make_pod("p", uid="u", capacity={"runs": 1}))
    watcher = Watcher(cluster, None)
    for name in ("a", "b"):
        run = make_run(name)
        seen = RunObservation(run=run, phase=Phase.RUNNING, assigned_pod="p", assigned_pod_uid="u")
        cluster.store(RUNS, name, seen)
        watcher.oversold.after(events.RunObserved(replace(cluster.runs[name], version=f"v{name}")))
    for resource in (RUNS, PODS):
        watcher.shown[resource] = cluster.version
        watcher.oversold.reached(resource, None, str(cluster.version))
    assert watcher.alarms == []
    watcher.list(RUNS)
    assert watcher.alarms == ["u"]


@SCOPES
@settings(max_examples=100)
@given(history=histories)
def test_one_list_of_what_is_behind_settles_a_suspicion(
    scope: str | None, history: list[tuple[object, ...]]
) -> None:
    cluster, watcher = _played(history, scope, strict=False)
    for resource in (RUNS, PODS):
        while watcher.show(resource):
            pass
    for _ in range(2):
        for resource in (RUNS, PODS):
            if watcher.oversold.behind(resource, scope):
                watcher.list(resource)
    assert not any(watcher.oversold.behind(resource, scope) for resource in (RUNS, PODS))
    assert oversold(*cluster.at(cluster.version)) <= set(watcher.alarms)


@pytest.mark.parametrize("shrinks", [True, False])
@scheduler_scene()
async def test_a_server_whose_bookmarks_stay_behind_is_listed(site: Site, shrinks: bool) -> None:
    site.pod("py-0", runs=2 if shrinks else 1, beating=False)
    for name in ("first", "next"):
        site.run(name, pod="py-0" if shrinks or name == "first" else None)
    site.start()
    await site.passes(7)
    lists = len([what for _, what, _ in site.api.calls if what.verb == "list"])
    if shrinks:
        site.server.change("Pod", NAMESPACE, "py-0", _capacity(1))
    else:
        _bound_by_another(site, "next")
    await site.passes(45)
    assert site.host.oversold_pods.count == 1
    assert site.host.deciding
    await site.passes(200)
    assert site.host.oversold_pods.count == 1
    assert len([what for _, what, _ in site.api.calls if what.verb == "list"]) == lists + 1
