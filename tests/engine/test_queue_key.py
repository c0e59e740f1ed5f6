"""`queue_key`: asked once for a Run and attempt, in order of arrival, and kept through everything."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from kruntimes_core import Reject, Run, RuntimePod
from kruntimes_core.engine.plugin_work import QueueKeyWork
from kruntimes_core.testing import condition_object
from kruntimes_core.testing.builders import NOW
from kruntimes_core.testing.harness import Host, refuse
from kruntimes_core.testing.plugins import fake_plugin, profiles_of

Asked = list[tuple[str, Any]]


def fits(pod: RuntimePod, state: Any) -> Reject | None:
    return None if pod.available and pod.fits(state) else Reject("Full")


def host_of(key: Callable[..., Any]) -> Host:
    room = fake_plugin("Room", prefilter=lambda request: request, filter=fits, reasons=["Full"])
    return Host(profiles_of(room, fake_plugin("Order", queue_key=key)))


def by_priority(asked: Asked) -> Callable[..., Any]:
    def queue_key(run: Run, last: Any) -> int:
        asked.append((run.name, last))
        return -int(run.labels.get("priority", "0"))

    return queue_key


@pytest.fixture
def asked() -> Asked:
    return []


def placed_one_by_one(host: Host, names: list[str]) -> list[str]:
    """Give room for one Run after another; the names in the order in which they got it."""
    placed: list[str] = []
    for number in range(len(names)):
        host.pod(f"slot-{number}", runs=1)
        host.settle()
        placed += [name for name in names if host.pod_of(name) and name not in placed]
    return placed


def test_the_smallest_key_leaves_first_and_equal_keys_in_order_of_arrival(asked: Asked) -> None:
    host = host_of(by_priority(asked))
    names = ["a", "b", "c", "d"]
    for name, priority in zip(names, ("0", "5", "5", "9"), strict=True):
        host.run(name, labels={"priority": priority})
    host.settle()
    assert placed_one_by_one(host, names) == ["d", "b", "c", "a"]
    assert [name for name, _ in asked] == names


def test_the_order_stays_when_rows_of_runs_that_are_gone_are_cleared_away() -> None:
    """That happens each 1,024th time; here 1,100 Runs have keys, and two of three of them are deleted."""
    tried: list[int] = []

    def room(pod: RuntimePod, run: Run) -> Reject:
        tried.append(int(run.labels["key"]))
        return Reject("Full")

    order = fake_plugin("Order", queue_key=lambda run: int(run.labels["key"]))
    host = Host(profiles_of(fake_plugin("Room", filter=room, reasons=["Full"]), order))
    host.pod("py-0")
    random, left = Random(7), dict[str, int]()
    for number in range(1_100):
        name, key = f"r{number}", random.randrange(1_000_000)
        host.run(name, labels={"key": str(key)})
        left[name] = key
        host.observe()
        work = host.take()
        assert isinstance(work, QueueKeyWork)
        host.finish(work)
        if number % 3:
            gone = random.choice(sorted(left))
            del left[gone]
            host.delete(gone)
            host.observe()
    host.work()
    assert tried == sorted(left.values())


def test_a_key_survives_waiting_wakeups_conflicts_and_errors(asked: Asked) -> None:
    host = host_of(by_priority(asked))
    host.run("r")
    host.settle()
    host.pod("py-0", runs=1, ready=False)
    host.settle()
    host.disturb("r", refuse(409), refuse(422))
    host.ready("py-0", True)
    host.advance(10)
    assert host.pod_of("r") == "py-0"
    assert [name for name, _ in asked] == ["r"]


def test_it_is_asked_again_for_another_attempt_and_for_other_labels_only(asked: Asked) -> None:
    host = host_of(by_priority(asked))
    host.run("r")
    host.settle()
    host.change("r", metadata={"annotations": {"note": "x"}})
    host.change("r", status={"message": "somebody else's text"})
    host.settle()
    assert len(asked) == 1
    host.change("r", metadata={"labels": {"priority": "3"}})
    host.settle()
    assert len(asked) == 2
    host.change("r", status={"attempt": 2})
    host.settle()
    assert len(asked) == 3


def test_a_run_whose_key_grew_while_it_waits_goes_behind_the_others_of_its_class(asked: Asked) -> None:
    host = host_of(by_priority(asked))
    names = ["a", "b"]
    for name, priority in zip(names, ("9", "5"), strict=True):
        host.run(name, labels={"priority": priority})
    host.settle()
    host.change("a", metadata={"labels": {"priority": "1"}})
    host.settle()
    assert placed_one_by_one(host, names) == ["b", "a"]


def test_it_is_asked_when_the_run_is_first_eligible(asked: Asked) -> None:
    """Not in its retry delay, and never for one that is cancelled, invalid or being deleted."""
    host = host_of(by_priority(asked))
    stopped = condition_object("Running", False, since=NOW)
    host.run("delayed", status={"attempt": 2, "conditions": [stopped]})
    host.run("cancelled", spec={"cancelRequested": True})
    host.run("invalid", requests={"gpu": "0.5"})
    host.run("deleting", metadata={"deletionTimestamp": "2026-01-02T03:04:05Z"})
    host.settle()
    assert asked == []
    assert host.status("cancelled")["phase"] == "Cancelled"
    assert host.status("invalid")["phase"] == "Failed"
    host.advance(1)
    assert [name for name, _ in asked] == ["delayed"]


def test_last_is_the_greatest_key_placed_so_far(asked: Asked) -> None:
    host = host_of(by_priority(asked))
    host.run("a", labels={"priority": "5"})
    host.settle()
    host.pod("py-0", runs=2)
    host.settle()
    host.run("b", labels={"priority": "2"})
    host.settle()
    host.run("c", labels={"priority": "9"})
    host.settle()
    assert asked == [("a", None), ("b", -5), ("c", -2)]
    host.pod("py-1", runs=9)
    host.settle()
    host.run("d")
    host.settle()
    assert asked[-1] == ("d", -2)


def test_now_is_the_time_of_the_question() -> None:
    times = []

    def queue_key(now: Any) -> int:
        times.append(now)
        return 0

    host = host_of(queue_key)
    host.advance(7)
    host.run("r")
    host.settle()
    assert times == [NOW + timedelta(seconds=7)]


def test_labels_that_change_while_the_key_is_asked_are_asked_about_too(asked: Asked) -> None:
    host = host_of(by_priority(asked))
    host.run("high", labels={"priority": "1"})
    host.run("r", labels={"priority": "0"})
    host.observe()
    host.finish(host.take())
    work = host.take()
    assert isinstance(work, QueueKeyWork)
    host.change("r", metadata={"labels": {"priority": "7"}})
    host.observe()
    host.finish(work)
    host.settle()
    assert [name for name, _ in asked] == ["high", "r", "r"]
    assert placed_one_by_one(host, ["high", "r"]) == ["r", "high"]


@pytest.mark.parametrize(
    "key",
    [float("nan"), Decimal("nan"), (float("nan"), 1), None, object(), {1: 2}],
    ids=["nan", "decimal nan", "nan in a tuple", "None", "no order", "dict"],
)
def test_a_key_that_cannot_be_ordered_is_a_plugin_error(key: Any) -> None:
    host = host_of(lambda run: key if run.name == "odd" else 1)
    host.pod("py-0", runs=9)
    host.run("first")
    host.settle()
    host.run("odd")
    host.run("r")
    host.advance(3)
    assert host.pod_of("r") == "py-0"
    assert host.pod_of("odd") is None
    assert host.engine.counters.plugin_errors[("Order", "queue_key")] == 3


class ArrayBool:
    """A truth value as libraries of arrays have them: no `bool`."""

    def __init__(self, value: bool) -> None:
        self._value = value

    def __bool__(self) -> bool:
        return self._value

    def __eq__(self, other: object) -> bool:
        return self._value == other

    __hash__ = None  # type: ignore[assignment]


class ArrayInteger:
    """An integer of which comparisons give such truth values."""

    def __init__(self, value: int) -> None:
        self._value = value

    def __eq__(self, other: object) -> Any:
        return ArrayBool(isinstance(other, ArrayInteger) and self._value == other._value)

    def __ne__(self, other: object) -> Any:
        return ArrayBool(not self == other)

    def __lt__(self, other: ArrayInteger) -> Any:
        return ArrayBool(self._value < other._value)

    __hash__ = None  # type: ignore[assignment]


def test_integers_of_a_library_of_arrays_are_keys() -> None:
    host = host_of(lambda run: ArrayInteger(-int(run.labels.get("priority", "0"))))
    for name, priority in zip(("a", "b", "c"), ("0", "5", "9"), strict=True):
        host.run(name, labels={"priority": priority})
    host.settle()
    assert placed_one_by_one(host, ["a", "b", "c"]) == ["c", "b", "a"]


def test_keys_of_two_kinds_cannot_be_ordered_against_each_other() -> None:
    host = host_of(lambda run: "text" if run.name == "odd" else 1)
    host.pod("py-0", runs=9)
    for name in ("first", "odd", "r"):
        host.run(name)
    host.advance(3)
    assert (host.pod_of("first"), host.pod_of("odd"), host.pod_of("r")) == ("py-0", None, "py-0")


def test_a_queue_key_that_raises_holds_up_its_own_run_alone() -> None:
    def queue_key(run: Run) -> int:
        if run.name == "odd":
            raise SystemExit(1)
        return 0

    host = host_of(queue_key)
    host.pod("py-0", runs=9)
    host.run("odd")
    host.run("r")
    host.advance(8)
    assert (host.pod_of("odd"), host.pod_of("r")) == (None, "py-0")
    assert host.engine.counters.plugin_errors == {("Order", "queue_key"): 4}
    assert not host.writes("odd")


def test_a_run_that_is_back_after_its_pod_was_lost_queues_behind_those_before_it(asked: Asked) -> None:
    """In order of arrival, a new attempt arrives anew."""
    host = host_of(by_priority(asked))
    host.pod("py-0", runs=1)
    host.run("r")
    host.settle()
    host.run("other")
    host.settle()
    back = {"phase": "Pending", "assignedPod": None, "assignedPodUID": None, "attempt": 2}
    host.ready("py-0", False)
    host.change("r", status=back)
    host.settle()
    host.ready("py-0", True)
    host.settle()
    assert (host.pod_of("other"), host.pod_of("r")) == ("py-0", None)


def test_another_plugin_for_the_queue_is_asked_about_all_that_wait(asked: Asked) -> None:
    """Its keys cannot be ordered against the former's, and `last` starts anew."""
    host = host_of(by_priority(asked))
    names = ["a", "b", "c"]
    for name, priority in zip(names, ("1", "2", "3"), strict=True):
        host.run(name, labels={"priority": priority})
    host.settle()
    again: Asked = []

    def opposite(run: Run, last: Any) -> tuple[str]:
        again.append((run.name, last))
        return (run.labels["priority"],)

    room = fake_plugin("Room", prefilter=lambda request: request, filter=fits, reasons=["Full"])
    host.engine.reload(profiles_of(room, fake_plugin("Other", queue_key=opposite)), host.now)
    host.settle()
    assert again == [("a", None), ("b", None), ("c", None)]
    assert placed_one_by_one(host, names) == ["a", "b", "c"]


def test_without_a_plugin_for_the_queue_any_more_the_order_is_that_of_arrival(asked: Asked) -> None:
    host = host_of(by_priority(asked))
    names = ["a", "b", "c"]
    for name, priority in zip(names, ("1", "2", "3"), strict=True):
        host.run(name, labels={"priority": priority})
    host.observe()
    host.finish(host.take())
    room = fake_plugin("Room", prefilter=lambda request: request, filter=fits, reasons=["Full"])
    host.engine.reload(profiles_of(room), host.now)
    host.settle()
    assert placed_one_by_one(host, names) == names


def test_a_run_that_waits_for_its_key_is_asked_about_once_after_a_reload(asked: Asked) -> None:
    host = host_of(by_priority([]))
    host.run("a")
    host.run("b")
    host.observe()
    room = fake_plugin("Room", prefilter=lambda request: request, filter=fits, reasons=["Full"])
    for _ in range(3):
        host.engine.reload(profiles_of(room, fake_plugin("Order", queue_key=by_priority(asked))), host.now)
    works = [host.take(), host.take()]
    assert not isinstance(host.engine.take(host.now), QueueKeyWork)
    for work in works:
        host.finish(work)
    host.settle()
    assert [name for name, _ in asked] == ["a", "b"]


def test_runs_that_are_gone_do_not_wait_for_a_key(asked: Asked) -> None:
    host = host_of(by_priority(asked))
    host.run("r")
    host.observe()
    host.delete("r")
    host.settle()
    assert asked == []
    assert host.engine.sizes["awaiting_queue_key"] == 0
