"""A `reserve` or `unreserve` that raises, hangs or answers out of contract."""

from __future__ import annotations

from kruntimes_core import Reject, RuntimePod
from kruntimes_core.engine.plugin_work import ReserveWork
from kruntimes_core.testing.plugins import fake_plugin
from tests.engine.reserving.keeper import Keeper, Log, host_of


def test_a_reserve_that_raises_is_given_back_too_with_those_before_it(log: Log) -> None:
    def reserve(pod: RuntimePod) -> None:
        log.append(("reserve", "Broken", pod.name))
        raise SystemExit(3)

    def unreserve(pod: RuntimePod, bound: bool) -> None:
        log.append(("unreserve", "Broken", pod.name, bound))

    host = host_of(
        Keeper("A", log).plugin(),
        fake_plugin("Broken", reserve=reserve, unreserve=unreserve),
        Keeper("Z", log).plugin(),
    )
    host.pod("py-0", runs=1)
    host.run("r")
    host.settle()
    assert log == [
        ("reserve", "A", "r", "py-0"),
        ("reserve", "Broken", "py-0"),
        ("unreserve", "Broken", "py-0", False),
        ("unreserve", "A", "r", "py-0", False),
    ]
    assert host.engine.counters.plugin_errors == {("Broken", "reserve"): 1}
    assert not host.requests
    assert not host.usage()


def test_a_reserve_that_never_came_back_is_given_back_up_to_the_plugin_that_hangs(log: Log) -> None:
    """The driver abandons the call and says who hangs; those behind were never asked."""
    host = host_of(*(Keeper(name, log).plugin() for name in "ABC"))
    host.pod("py-0", runs=1)
    host.run("r")
    host.observe()
    host.finish(host.take())
    work = host.take()
    assert isinstance(work, ReserveWork)
    hanging = work.profile.plugins[2]
    host.engine.finish(work, work.failed(hanging.error("reserve", "did not return")), host.now)
    host.work()
    assert log == [("unreserve", "B", "r", "py-0", False), ("unreserve", "A", "r", "py-0", False)]
    assert not host.usage()
    host.advance(2)
    assert host.pod_of("r") == "py-0"


def test_an_unreserve_that_raises_is_counted_and_the_others_are_asked(log: Log) -> None:
    def unreserve(bound: bool) -> None:
        raise RuntimeError("no")

    host = host_of(
        Keeper("A", log).plugin(), fake_plugin("Broken", reserve=lambda pod: None, unreserve=unreserve)
    )
    host.pod("py-0", runs=1)
    host.run("r")
    host.settle()
    assert host.pod_of("r") == "py-0"
    assert log[-1] == ("unreserve", "A", "r", "py-0", True)
    assert host.engine.counters.plugin_errors == {("Broken", "unreserve"): 1}


def test_an_undeclared_reason_of_a_reserve_is_an_error_and_no_rejection() -> None:
    host = host_of(fake_plugin("Odd", reserve=lambda pod: Reject("Undeclared")))
    host.pod("py-0", runs=1)
    host.run("r")
    host.settle()
    assert host.engine.counters.plugin_errors == {("Odd", "reserve"): 1}
    assert host.texts("r") == []
