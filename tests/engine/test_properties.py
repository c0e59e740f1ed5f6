"""What holds in every history, by generated ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kruntimes_core.engine.binding.requests import InDoubt, Write, WriteAnswer
from kruntimes_core.engine.tally import WakeSource
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.model.snapshot import Snapshot
from kruntimes_core.testing import affinity_object, condition_object, term_object
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness import (
    PODS,
    RUNS,
    WORKSPACES,
    Host,
    answer_late,
    apply,
    arrive_late,
    land_late,
    lose_answer,
    lose_request,
    refuse,
)
from kruntimes_core.testing.plugins import fake_plugin, installed_profiles

PROFILES = installed_profiles()
EXAMPLES = settings(max_examples=60)

Step = tuple[Any, ...]


def _of(kind: str, term: Any) -> dict[str, Any]:
    return {kind: [term]}


apps = st.sampled_from(["a", "b", "c"])
run_names = st.sampled_from([f"r{number}" for number in range(8)])
pod_names = st.sampled_from(["py-0", "py-1", "py-2", "js-0"])

affinities = st.one_of(
    st.just(None),
    st.builds(
        lambda kind, app: affinity_object(**_of(kind, term_object({"app": app}))),
        st.sampled_from(["required", "required_anti"]),
        apps,
    ),
    st.builds(
        lambda kind, app, weight: affinity_object(**_of(kind, (weight, term_object({"app": app})))),
        st.sampled_from(["preferred", "preferred_anti"]),
        apps,
        st.integers(1, 3),
    ),
)
runs = st.fixed_dictionaries(
    {
        "labels": st.builds(lambda app: {"app": app}, apps),
        "runtime": st.sampled_from(["py", "py", "py", "js"]),
        "affinity": affinities,
        "requests": st.sampled_from([None, None, {"runs": "2"}, {"gpu": "1"}]),
        "workspace": st.sampled_from([None, None, None, "ws"]),
    }
)
steps: st.SearchStrategy[Step] = st.one_of(
    st.tuples(st.just("create"), run_names, runs),
    st.tuples(st.just("create"), run_names, runs),
    st.tuples(st.just("end"), run_names),
    st.tuples(st.just("delete"), run_names),
    st.tuples(st.just("label"), run_names, apps),
    st.tuples(st.just("cancel"), run_names),
    st.tuples(st.just("requeue"), run_names),
    st.tuples(st.just("pod"), pod_names, st.integers(1, 3)),
    st.tuples(st.just("grow"), pod_names, st.integers(3, 5)),
    st.tuples(st.just("ready"), pod_names, st.booleans()),
    st.tuples(st.just("workspace"), st.sampled_from(["Pending", "Bound", "Lost"]), pod_names),
    st.tuples(st.just("advance"), st.sampled_from([0.3, 2.0, 20.0])),
)
histories = st.lists(steps, min_size=3, max_size=30)


class History:
    """Plays steps on a host, skipping those that make no sense at the moment."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.made = 0

    def play(self, step: Step) -> None:
        name, *arguments = step
        getattr(self, name)(*arguments)

    def run_exists(self, name: str, *phases: str) -> bool:
        exists = self.host.server.exists(RUNS, NAMESPACE, name)
        return exists and (not phases or self.host.status(name)["phase"] in phases)

    def create(self, name: str, fields: dict[str, Any]) -> None:
        if not self.run_exists(name):
            self.made += 1
            self.host.run(name, uid=f"{name}-{self.made}", **fields)

    def end(self, name: str) -> None:
        if self.run_exists(name, "Scheduled", "Running"):
            self.host.end(name)

    def delete(self, name: str) -> None:
        if self.run_exists(name):
            self.host.delete(name)

    def label(self, name: str, app: str) -> None:
        if self.run_exists(name):
            self.host.change(name, metadata={"labels": {"app": app}})

    def cancel(self, name: str) -> None:
        if self.run_exists(name):
            self.host.change(name, spec={"cancelRequested": True})

    def requeue(self, name: str) -> None:
        if self.run_exists(name, "Scheduled", "Running"):
            attempt = self.host.status(name).get("attempt", 1) + 1
            stopped = condition_object("Running", False, since=self.host.now.wall)
            self.host.change(
                name,
                status={
                    "phase": "Pending",
                    "assignedPod": None,
                    "assignedPodUID": None,
                    "attempt": attempt,
                    "conditions": [stopped],
                },
            )

    def pod(self, name: str, runs: int) -> None:
        self.made += 1
        runtime = name.split("-")[0]
        self.host.pod(name, uid=f"{name}-{self.made}", runtime=runtime, runs=runs, capacity={"gpu": "1"})

    def grow(self, name: str, runs: int) -> None:
        """More room only: the API server lets an owner take room away that is in use."""
        if self.host.server.exists(PODS, NAMESPACE, name):
            annotations = {"kruntimes.io/capacity.runs": str(runs)}
            self.host.server.change(PODS, NAMESPACE, name, {"metadata": {"annotations": annotations}})

    def ready(self, name: str, ready: bool) -> None:
        if self.host.server.exists(PODS, NAMESPACE, name):
            self.host.ready(name, ready)

    def workspace(self, phase: str, pod: str) -> None:
        self.host.workspace("ws", phase=phase, bound_pod=pod)

    def advance(self, seconds: float) -> None:
        self.host.advance(seconds)


def placements(host: Host) -> dict[str, tuple[str, str | None]]:
    """Run name to phase and Pod, by the server's truth."""
    found = {}
    for run in host.server.all(RUNS):
        status = run["status"]
        found[run["metadata"]["name"]] = (status["phase"], status.get("assignedPod"))
    return found


def pictures(host: Host) -> Iterator[Snapshot]:
    for runtime in ("py", "js"):
        yield host.engine.state.snapshot(NAMESPACE, runtime, host.now.wall)


# Reuse


@EXAMPLES
@given(histories)
def test_decisions_with_reuse_equal_those_without(history: list[Step]) -> None:
    reusing, asking = (History(Host(PROFILES, reuse=reuse)) for reuse in (True, False))
    for step in history:
        for one in (reusing, asking):
            one.play(step)
            one.host.settle()
        assert placements(reusing.host) == placements(asking.host)
        tallies = [one.host.engine.tally.filter_rejections for one in (reusing, asking)]
        assert tallies[0] == tallies[1]
    texts = [[write.body["status"] for write in one.host.server.accepted] for one in (reusing, asking)]
    assert texts[0] == texts[1]


# State


@EXAMPLES
@given(histories)
def test_the_state_kept_by_changes_equals_one_built_anew(history: list[Step]) -> None:
    played = History(Host(PROFILES))
    for step in history:
        played.play(step)
        played.host.settle()
    host = played.host
    for pod in host.server.all(PODS):
        host.beat(pod["metadata"]["name"])
    host.settle()
    anew = Host(PROFILES, server=host.server, leading=False)
    anew.jump((host.now.wall - anew.now.wall).total_seconds())
    anew.relist(PODS, WORKSPACES, RUNS)
    for kept, built in zip(pictures(host), pictures(anew), strict=True):
        assert dict(kept.pods) == dict(built.pods)
        assert kept.targets == built.targets
        assert dict(kept.workspaces) == dict(built.workspaces)


# Waking


class Exhaustive(Host):
    """Tries every waiting Run after each change, in order, and starts again after each placement."""

    def settle(self) -> None:
        super().settle()
        while True:
            binds = sum(self.server.invariants.binds.values())
            self.engine._core.waiting.wake_all(WakeSource.RELOAD)
            self._until_one_is_placed(binds)
            super().settle()
            if sum(self.server.invariants.binds.values()) == binds:
                return

    def _until_one_is_placed(self, binds: int) -> None:
        while sum(self.server.invariants.binds.values()) == binds and self.step():
            pass


@EXAMPLES
@given(histories)
def test_waking_by_classes_places_what_trying_every_run_after_each_change_would(
    history: list[Step],
) -> None:
    by_classes, by_trying = History(Host(PROFILES)), History(Exhaustive(PROFILES))
    for step in history:
        for one in (by_classes, by_trying):
            one.play(step)
            one.host.settle()
        assert placements(by_classes.host) == placements(by_trying.host)
    assert by_classes.host.engine.tally.rescues == 0


# Faults

FAULTS: dict[str, Callable[[Host, Write], WriteAnswer | None]] = {
    "apply": apply,
    "lose answer": lose_answer,
    "lose request": lose_request,
    "answer late": answer_late(1.5),
    "arrive late": arrive_late(1.5),
    "land late": land_late(4),
    "conflict": refuse(409),
    "too many": refuse(429, 2),
    "unprocessable": refuse(422),
}
disturbances: st.SearchStrategy[Step] = st.one_of(
    st.tuples(st.just("fault"), run_names, st.sampled_from(sorted(FAULTS))),
    st.tuples(st.just("fault"), run_names, st.sampled_from(sorted(FAULTS))),
    st.tuples(
        st.just("lose_read"),
    ),
    st.tuples(st.just("hold"), st.sampled_from([RUNS, PODS, WORKSPACES])),
    st.tuples(st.just("resume")),
    st.tuples(st.just("relist"), st.sampled_from([RUNS, PODS, WORKSPACES])),
    st.tuples(st.just("stand_down")),
    st.tuples(st.just("take")),
    st.tuples(st.just("finish"), st.integers(0, 3)),
    st.tuples(st.just("send")),
    st.tuples(st.just("settle")),
)


class Disturbed(History):
    """A history in which the network, the watch, the worker and the lease misbehave."""

    def __init__(self, profiles: Profiles = PROFILES) -> None:
        super().__init__(Host(profiles))
        self.host.server.invariants.pods_may_go = True
        self.under_way: list[Any] = []

    def fault(self, name: str, fault: str) -> None:
        self.host.disturb(name, FAULTS[fault])

    def lose_read(self) -> None:
        self.host.read_faults.append(lambda host, read: InDoubt())

    def hold(self, kind: str) -> None:
        self.host.watches.hold(kind)

    def resume(self) -> None:
        self.host.watches.resume(RUNS, PODS, WORKSPACES)

    def relist(self, kind: str) -> None:
        self.host.relist(kind)

    def stand_down(self) -> None:
        self.host.engine.stand_down(self.host.now)
        self.host.advance(1)
        self.host.engine.lead(self.host.now)

    def take(self) -> None:
        work = self.host.engine.take(self.host.now)
        if work is not None:
            self.under_way.append(work)

    def finish(self, place: int) -> None:
        if place < len(self.under_way):
            self.host.finish(self.under_way.pop(place))

    def send(self) -> None:
        self.host.send()

    def settle(self) -> None:
        self.host.settle()

    def calm(self) -> None:
        """All faults end, and time passes."""
        while self.under_way:
            self.finish(0)
        self.resume()
        self.host.calm()
        self.host.advance(200)


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


@settings(max_examples=120)
@given(st.lists(st.one_of(steps, disturbances), min_size=5, max_size=40))
def test_no_history_oversells_a_pod_binds_twice_or_loses_a_run(history: list[Step]) -> None:
    """The server checks each accepted bind; in the end every Run has what a fresh host would give it."""
    played = Disturbed()
    for step in history:
        played.play(step)
    played.calm()
    host = played.host
    known = {pod.uid: dict(pod.usage) for picture in pictures(host) for pod in picture.pods.values()}
    used = truth(host)
    assert known == {uid: used.get(uid, {}) for uid in known}
    before = placements(host)
    fresh = Host(PROFILES, server=host.server, leading=False)
    fresh.jump((host.now.wall - fresh.now.wall).total_seconds())
    fresh.relist(PODS, WORKSPACES, RUNS)
    fresh.engine.lead(fresh.now)
    fresh.settle()
    assert placements(host) == before
    for name in list(before):
        host.delete(name)
    host.advance(100)
    sizes = host.engine.sizes
    assert {name: size for name, size in sizes.items() if name != "timers"} == dict.fromkeys(
        (name for name in sizes if name != "timers"), 0
    )


# Reservations


class Ledger:
    """A plugin that counts what it was asked to keep and to give back."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], int] = {}
        self.problems: list[str] = []

    def reserve(self, pod: Any, run: Any) -> None:
        self.kept[run.uid, pod.uid] = self.kept.get((run.uid, pod.uid), 0) + 1

    def unreserve(self, pod: Any, run: Any, bound: bool) -> None:
        self.kept[run.uid, pod.uid] = self.kept.get((run.uid, pod.uid), 0) - 1
        if self.kept[run.uid, pod.uid] < 0:
            self.problems.append(f"{run.name} was given back on {pod.name} without having been kept")


def with_ledger() -> tuple[Profiles, Ledger]:
    ledger = Ledger()
    plugin: ActivePlugin = fake_plugin("Ledger", reserve=ledger.reserve, unreserve=ledger.unreserve)
    (profile,) = PROFILES.all
    return Profiles((replace(profile, plugins=(*profile.plugins, plugin)),)), ledger


@EXAMPLES
@given(st.lists(st.one_of(steps, disturbances), min_size=5, max_size=40))
def test_each_reserve_is_given_back_exactly_once(history: list[Step]) -> None:
    profiles, ledger = with_ledger()
    played = Disturbed(profiles)
    for step in history:
        played.play(step)
    played.calm()
    assert ledger.problems == []
    assert set(ledger.kept.values()) <= {0}
