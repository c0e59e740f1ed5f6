"""What changes while a plugin's `reserve` is under way."""

from __future__ import annotations

import pytest

from kruntimes_core.engine.plugin_work import ReserveWork
from kruntimes_core.testing.harness import (
    Host,
    hold_request,
)
from tests.engine.reserving.keeper import RESERVED, Keeper, Log, host_of, unreserved


def test_a_plan_that_comes_back_after_leadership_was_lost_reserves_nothing(log: Log) -> None:
    """Also when a text of the Run is under way meanwhile."""
    host = host_of(Keeper("A", log).plugin())
    host.run("r")
    host.disturb("r", hold_request)
    host.settle()
    host.pod("py-0", runs=1)
    host.observe()
    work = host.take()
    host.engine.stand_down(host.now)
    host.finish(work)
    host.settle()
    assert log == []
    assert not host.usage()


def test_a_reserve_under_way_when_leadership_is_lost_is_given_back(host: Host, log: Log) -> None:
    host.observe()
    host.finish(host.take())
    work = host.take()
    assert isinstance(work, ReserveWork)
    host.engine.stand_down(host.now)
    host.finish(work)
    host.settle()
    assert log == RESERVED + unreserved(bound=False)


def test_a_run_deleted_while_its_reserve_is_under_way_is_given_back(host: Host, log: Log) -> None:
    host.observe()
    host.finish(host.take())
    work = host.take()
    host.delete("r")
    host.observe()
    host.finish(work)
    host.settle()
    assert log == RESERVED + unreserved(bound=False)
    assert not host.usage()


def test_a_reserve_that_was_not_begun_is_not_asked_for_a_run_that_is_gone(host: Host, log: Log) -> None:
    host.observe()
    host.finish(host.take())
    host.delete("r")
    host.settle()
    assert log == []


def test_a_run_that_changed_while_its_reserve_is_under_way_is_given_back_and_tried_again(
    host: Host, log: Log
) -> None:
    host.observe()
    host.finish(host.take())
    work = host.take()
    host.change("r", metadata={"labels": {"app": "b"}})
    host.observe()
    host.finish(work)
    host.settle()
    assert log == RESERVED + unreserved(bound=False) + RESERVED + unreserved(bound=True)
    assert host.pod_of("r") == "py-0"


@pytest.mark.parametrize("how", ["cancelled", "deleting"])
def test_a_run_that_is_to_end_while_its_reserve_is_under_way_is_not_bound(
    host: Host, log: Log, how: str
) -> None:
    host.observe()
    host.finish(host.take())
    work = host.take()
    if how == "cancelled":
        host.change("r", spec={"cancelRequested": True})
    else:
        host.change("r", metadata={"deletionTimestamp": "2026-01-02T03:04:05Z"})
    host.observe()
    host.finish(work)
    host.settle()
    assert log == RESERVED + unreserved(bound=False)
    assert host.pod_of("r") is None
    assert host.status("r")["phase"] == ("Cancelled" if how == "cancelled" else "Pending")
