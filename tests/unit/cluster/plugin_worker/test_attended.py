"""A command that asks plugins ends though one of them hangs, and says which."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial, wraps
from typing import Any

import pytest
from engine_scenes import work_of

from kruntimes_core.cluster.plugin_thread import LIMIT_SECONDS, AttendedCalls
from kruntimes_core.engine.plugin_work import Runners, Work, plugins_of
from kruntimes_core.framework.profile import ActivePlugin, CurrentCall
from kruntimes_core.framework.runtime import ScheduleResult
from kruntimes_core.model.messages import InputError
from kruntimes_core.testing.plugins import fake_plugin

LIMIT = 0.1
ENOUGH = 30.0
"""Seconds that nothing here takes."""


def attended(
    values: Iterator[Any], current: CurrentCall, *, limit_seconds: float = LIMIT_SECONDS
) -> Iterator[Any]:
    """The same values, made on a thread that ends with them."""
    with closing(AttendedCalls(current, limit_seconds=limit_seconds)) as calls:
        yield from calls.values(values)


def planning(under_way: CurrentCall, *works: Work) -> Iterator[Any]:
    """What comes of each piece of work."""
    for work in works:
        yield under_way.call(plugins_of(work), partial(work.execute, Runners()))


Threads = Callable[[], list[threading.Thread]]


@pytest.fixture
def planner_threads() -> Threads:
    """The threads that plan since the test began: a test of the same process may have left one that hangs."""
    before = set(threading.enumerate())
    return lambda: [
        thread for thread in threading.enumerate() if thread.name == "kruntimes-plan" and thread not in before
    ]


def end_of(threads: list[threading.Thread]) -> bool:
    """Whether they end."""
    for thread in threads:
        thread.join(ENOUGH)
    return not any(thread.is_alive() for thread in threads)


def passing(pod: Any) -> None:
    """A filter that lets all pass."""


def test_the_values_come_as_they_are_made() -> None:
    under_way = CurrentCall()
    work = work_of(fake_plugin(filter=passing))
    results = list(attended(planning(under_way, work, work), under_way, limit_seconds=LIMIT))
    assert [type(result) for result in results] == [ScheduleResult, ScheduleResult]
    assert (under_way.number, under_way.plugins) == (2, ())


def test_what_the_making_raises_is_raised_by_the_taking(planner_threads: Threads) -> None:
    def failing() -> Iterator[int]:
        yield 1
        raise KeyError("x")

    values = attended(failing(), CurrentCall())
    assert next(values) == 1
    with pytest.raises(KeyError, match="x"):
        next(values)
    assert end_of(planner_threads())


def test_a_call_that_does_not_return_is_named_in_the_words_of_the_scheduler(planner_threads: Threads) -> None:
    release = threading.Event()

    def hanging(pod: Any) -> None:
        release.wait(ENOUGH)

    under_way = CurrentCall()
    works = work_of(fake_plugin(filter=passing)), work_of(fake_plugin("Hanger", filter=hanging))
    values = attended(planning(under_way, *works), under_way, limit_seconds=LIMIT)
    assert isinstance(next(values), ScheduleResult)
    with pytest.raises(InputError) as raised:
        next(values)
    assert str(raised.value) == (
        "plugin Hanger (fake-hanger 1.0) failed in filter: did not return within 0.1 s:"
        " the call is abandoned; correct, upgrade or disable it"
    )
    # Where nothing keeps the process from ending, whether it returns or not.
    (thread,) = planner_threads()
    assert thread.daemon
    release.set()
    assert end_of(planner_threads())


def test_a_loop_without_end_is_named_interrupted_and_asked_no_more(planner_threads: Threads) -> None:
    asked = []

    def spinning(pod: Any) -> None:
        asked.append(pod.name)
        while True:
            pass

    under_way = CurrentCall()
    work = work_of(fake_plugin("Spinner", filter=spinning))
    with pytest.raises(InputError, match=r"^plugin Spinner .* the call is abandoned"):
        list(attended(planning(under_way, work, work, work), under_way, limit_seconds=LIMIT))
    assert end_of(planner_threads())
    assert asked == ["py-0"]


def test_what_is_asked_outside_of_the_cycle_has_the_same_limit(planner_threads: Threads) -> None:
    release = threading.Event()
    under_way = CurrentCall()
    plugin = fake_plugin("Hanger", filter=lambda pod: release.wait(ENOUGH))

    def explaining() -> Iterator[Any]:
        yield under_way.call((plugin,), lambda: plugin.hooks["filter"].function(None))

    with pytest.raises(InputError, match=r"^plugin Hanger \(fake-hanger 1\.0\) failed in filter"):
        list(attended(explaining(), under_way, limit_seconds=LIMIT))
    release.set()
    assert end_of(planner_threads())


def test_what_the_host_itself_does_between_calls_has_no_limit() -> None:
    looked = threading.Event()

    class Looks(CurrentCall):
        """Tells when it was looked at more often than a call is given time for."""

        looks = 0

        @property
        def plugins(self) -> Sequence[ActivePlugin]:
            self.looks += 1
            if self.looks > 50:
                looked.set()
            return ()

        @plugins.setter
        def plugins(self, plugins: Sequence[ActivePlugin]) -> None:
            """Nothing is asked here."""

    under_way = Looks()
    assert list(attended((looked.wait(ENOUGH) for _ in range(1)), under_way, limit_seconds=LIMIT)) == [True]


def test_who_takes_no_more_lets_the_thread_end(planner_threads: Threads) -> None:
    made: list[int] = []

    def many() -> Iterator[int]:
        for number in range(10_000):
            made.append(number)
            yield number

    values = attended(many(), CurrentCall())
    assert next(values) == 0
    values.close()  # type: ignore[attr-defined]
    assert end_of(planner_threads())
    assert made == [0]


def test_ctrl_c_ends_it_whichever_thread_gets_it_and_whenever(planner_threads: Threads) -> None:
    # What another thread gets is heard by this one when its wait is over: in the middle of taking a value.
    def striking() -> Iterator[int]:
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        left.wait(ENOUGH)
        yield 1

    left = threading.Event()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            list(attended(striking(), CurrentCall(), limit_seconds=LIMIT))
    finally:
        signal.signal(signal.SIGINT, before)
        left.set()
    assert end_of(planner_threads())


def _counted(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator that several plugins use: the code that runs is the same for all of them."""

    @wraps(function)
    def inner(pod: Any) -> Any:
        return function(pod)

    return inner


def test_a_decorator_that_plugins_share_leads_to_the_one_that_hangs(planner_threads: Threads) -> None:
    release = threading.Event()

    @_counted
    def hanging(pod: Any) -> None:
        release.wait(ENOUGH)

    @_counted
    def quick(pod: Any) -> None:
        """It lets all pass."""

    under_way = CurrentCall()
    plugins = (fake_plugin("Hanger", filter=hanging), fake_plugin("Quick", filter=quick))
    with pytest.raises(InputError, match=r"^plugin Hanger "):
        list(attended(planning(under_way, work_of(*plugins)), under_way, limit_seconds=LIMIT))
    release.set()
    assert end_of(planner_threads())
