"""A Pod that holds more than it has is told of once, by the event that made it so, at the price of that."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from counting.crowd import Crowd

from kruntimes_core.cluster.client.resources import PODS, RUNS
from kruntimes_core.cluster.clock import SystemClock
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.scheduler.oversold_pods import OversoldPods
from kruntimes_core.engine import events
from kruntimes_core.engine.cache import Allocations, PodAllocations
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.model.pod import RuntimePod
from kruntimes_core.model.run import Run
from kruntimes_core.testing.builders import NAMESPACE


class Followed(Crowd):
    """A crowd whose events `OversoldPods` hears, as a host lets it; and what it told.

    Each event is followed by bookmarks of both watches.
    """

    def __init__(self, profiles: Profiles, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(profiles)
        self.oversold = OversoldPods(Log(io.StringIO(), SystemClock()), None, self._hear)
        self.told: list[tuple[str, str | None]] = []
        tell = self.host.tell

        def tell_both(event: events.Event) -> None:
            tell(event)
            self.oversold.after(event)
            self.bookmarks()

        monkeypatch.setattr(self.host, "tell", tell_both)

    def bookmarks(self) -> None:
        """Both watches have shown all that happened."""
        for resource in (RUNS, PODS):
            self.oversold.reached(resource, None, str(self._version))

    def _hear(self, pod: RuntimePod, run: Run | None) -> None:
        self.told.append((pod.name, run.name if run is not None else None))


@pytest.fixture
def crowd(profiles: Profiles, monkeypatch: pytest.MonkeyPatch) -> Followed:
    """Two Pods with room for two Runs each; one of them is full."""
    followed = Followed(profiles, monkeypatch)
    followed.see_pod("py-0", 2)
    followed.see_pod("py-1", 2)
    for name in ("one", "other"):
        followed.see_run(name, pod="py-0")
    followed.list_pods()
    followed.list_runs()
    assert followed.told == []
    return followed


def test_a_pod_that_advertises_less_than_it_holds_is_told_of_at_once(crowd: Followed) -> None:
    crowd.see_pod("py-0", 1)
    assert crowd.told == [("py-0", None)]


def test_it_is_told_of_once_however_often_it_and_its_runs_are_seen(crowd: Followed) -> None:
    crowd.see_pod("py-0", 1)
    crowd.beat()
    crowd.see_run("one", pod="py-0")
    crowd.list_pods()
    crowd.list_runs()
    assert crowd.told == [("py-0", None)]


def test_it_is_told_of_again_after_it_had_room(crowd: Followed) -> None:
    crowd.see_pod("py-0", 1)
    crowd.see_pod("py-0", 2)
    crowd.see_pod("py-0", 1)
    assert crowd.told == [("py-0", None)] * 2


def test_the_end_of_a_run_ends_it(crowd: Followed) -> None:
    crowd.see_pod("py-0", 1)
    crowd.end("other")
    crowd.see_run("third", pod="py-0")
    assert crowd.told == [("py-0", None), ("py-0", "third")]


def test_a_run_that_holds_nothing_of_what_lacks_does_not_end_it(crowd: Followed) -> None:
    crowd.see_pod("py-0", 2, capacity={"gpu": 1})
    crowd.see_run("large", pod="py-1", request={"gpu": 1})
    assert crowd.told == [("py-1", "large")]
    crowd.see_run("small", pod="py-1")
    crowd.see_run("large", pod="py-1", request={"gpu": 1})
    assert crowd.told == [("py-1", "large")]


def test_a_list_tells_of_pods_that_changed_meanwhile_and_forgets_those_that_are_gone(crowd: Followed) -> None:
    crowd.see_pod("py-0", 1)
    del crowd.pods[NAMESPACE, "py-0"]
    crowd.list_pods()
    crowd.see_pod("py-0", 1)
    assert crowd.told == [("py-0", None)] * 2


def test_a_successor_of_the_same_name_is_told_of_by_itself(crowd: Followed) -> None:
    crowd.see_pod("py-0", 1)
    crowd.see_pod("py-0", 1, uid="next")
    assert crowd.told == [("py-0", None)]
    crowd.see_pod("py-0", 1)
    assert crowd.told == [("py-0", None)] * 2


def test_what_is_only_reserved_is_not_held_until_it_is_seen(crowd: Followed) -> None:
    host = crowd.host
    crowd.see_pod("py-0", 1)
    crowd.told.clear()
    crowd.see_run("new")
    crowd.see_run("newer")
    host.work()
    pod = host.engine.cache.pods.get(NAMESPACE, "py-1")
    assert pod is not None
    assert pod.usage["runs"] == 2
    crowd.see_pod("py-1", 1)
    assert crowd.told == []
    crowd.see_run("new", pod="py-1")
    assert crowd.told == []
    crowd.see_run("newer", pod="py-1")
    assert crowd.told == [("py-1", "newer")]


def _looks(crowd: Followed, event: events.Event, monkeypatch: pytest.MonkeyPatch) -> int:
    """At how many Pods `OversoldPods` looks for an event."""
    looks: list[str] = []
    on_pod = Allocations.on_pod

    def counted(table: Allocations, namespace: str, name: str, uid: str) -> PodAllocations:
        looks.append(name)
        return on_pod(table, namespace, name, uid)

    with monkeypatch.context() as patch:
        patch.setattr(Allocations, "on_pod", counted)
        crowd.oversold.after(event)
        crowd.bookmarks()
    return len(looks)


def test_an_event_costs_a_look_at_its_pod_however_many_are_oversold(
    crowd: Followed, monkeypatch: pytest.MonkeyPatch
) -> None:
    crowd.make_pods(300, runs=1, prefix="many")
    for index in range(600):
        crowd.see_run(f"r{index}", pod=f"many-{index % 300:04}")
    assert len(crowd.told) == 300
    seen = crowd.pods[NAMESPACE, "many-0007"]
    heartbeat = events.PodObserved(replace(seen, version=crowd._next(), probed_at=None))
    assert _looks(crowd, heartbeat, monkeypatch) == 0
    bound = events.RunObserved(crowd.observation("r7", pod="py-1"))
    assert _looks(crowd, bound, monkeypatch) == 2
    same = events.RunObserved(crowd.observation("r7", pod="py-1"))
    assert _looks(crowd, same, monkeypatch) == 0
    waiting = crowd.observation("waiting")
    assert _looks(crowd, events.RunObserved(waiting), monkeypatch) == 0
