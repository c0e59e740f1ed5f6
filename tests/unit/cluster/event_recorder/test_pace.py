"""However much there is to say, so many Events a second are sent, and no more is looked at than is said."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from virtual.site import Site

from kruntimes_core.cluster.event_recorder.event import (
    EventContent,
    EventOutcome,
    EventReason,
    Lane,
    reference_to_run,
)
from kruntimes_core.cluster.event_recorder.event_correlator import EventCorrelator, TokenBucket
from kruntimes_core.cluster.event_recorder.pending_conditions import (
    ConditionKind,
    PendingConditions,
)
from kruntimes_core.engine.clock import SECOND
from kruntimes_core.testing.builders import make_pod, make_run
from kruntimes_core.testing.objects import affinity_object, term_object
from tests.unit.cluster.event_recorder.scene import AFTER, REPEAT, EventWay, Play, recorder_of
from tests.unit.cluster.played import event_scene

CROWD = 10_000


def most_in_a_second(way: EventWay) -> int:
    """The most requests in any second that begins with one."""
    times = [at for at, _ in way.calls]
    return max(sum(begin <= at < begin + 1 for at in times) for begin in times)


@event_scene()
async def test_a_crowd_is_told_of_at_the_pace_and_after_a_burst(site: Site, way: EventWay) -> None:
    site.start()
    for number in range(200):
        site.run(f"r{number:03}", runtime=f"rt-{number}")
    await site.passes(AFTER + 5)
    assert len(way.calls) == 25 + 5 * 5
    assert 25 < most_in_a_second(way) <= 25 + 5
    await site.passes(5)
    assert len(way.calls) == 25 + 5 * 10
    assert len({event["regarding"]["name"] for event in way.events}) == len(way.events)
    assert way.at_a_time == 1


@event_scene()
async def test_a_crowd_beside_which_others_are_told_of_too(site: Site, way: EventWay) -> None:
    """What lasts is told of for minutes, and an invalid Run does not wait for that."""
    site.start()
    for number in range(300):
        site.run(f"r{number:03}", runtime=f"rt-{number}")
    await site.passes(AFTER + 10)
    site.run("bad", affinity=affinity_object(required=[term_object()]))
    await site.passes(2)
    assert [event["reason"] for event in way.of("bad")] == ["InvalidRun"]


@event_scene()
async def test_what_is_beyond_the_queue_is_dropped_and_counted(site: Site, way: EventWay) -> None:
    site.start()
    await site.passes(1)
    recorder = recorder_of(site)
    for number in range(1_300):
        recorder.sources.oversold(make_pod("py-0"), make_run(f"r{number:04}"))
    assert recorder.lengths[Lane.AT_ONCE] == 1_000
    assert recorder.counts[EventReason.RUNTIME_POD_OVERSOLD, EventOutcome.DROPPED] == 300
    await site.passes(4)
    told = recorder.counts[EventReason.RUNTIME_POD_OVERSOLD, EventOutcome.CREATED]
    assert told == len(way.events)
    under_way = 1_000 - recorder.lengths[Lane.AT_ONCE] - told
    assert under_way in (0, 1)


def test_no_more_runs_are_watched_than_can_be_told_of() -> None:
    conditions = PendingConditions(SECOND, SECOND, most=3)
    noted = [conditions.observe(("a", str(number)), "r", ConditionKind.WAITING, 0) for number in range(5)]
    assert noted == [True, True, True, False, False]
    conditions.end(("a", "1"))
    assert conditions.observe(("a", "9"), "r", ConditionKind.WAITING, 0)


def test_runs_that_came_and_went_leave_nothing() -> None:
    conditions = PendingConditions(60 * SECOND, SECOND)
    for number in range(CROWD):
        conditions.observe(("a", str(number)), "r", ConditionKind.WAITING, 0)
        conditions.end(("a", str(number)))
    assert len(conditions) == 0
    assert conditions.next_at(0) is None


def test_events_that_were_written_longest_ago_are_forgotten_first() -> None:
    correlator = EventCorrelator(most=2)
    said = [EventContent(EventReason.INVALID_RUN, reference_to_run("a", str(n), ""), "") for n in range(3)]
    events = [correlator.of(one, 0, 7) for one in said[:2]]
    for one, event in zip(said[:2], events, strict=True):
        correlator.written(one, event, 0)
    correlator.written(said[0], events[0], 1)
    correlator.of(said[2], 2, 7)
    assert correlator.of(said[0], 2, 7) is events[0]
    assert len(correlator) == 2


def test_so_many_events_are_remembered_and_no_more() -> None:
    correlator = EventCorrelator()
    for number in range(20_001):
        correlator.of(EventContent(EventReason.INVALID_RUN, reference_to_run("a", str(number), ""), ""), 0, 7)
    assert len(correlator) == 20_000


@given(
    st.sampled_from([0.1, 0.5, 1.0, 5.0, 7.3, 100.0]),
    st.lists(st.integers(0, 3 * SECOND), min_size=1, max_size=60),
)
def test_a_bucket_never_gives_more_than_its_depth_and_its_rate(per_second: float, waits: list[int]) -> None:
    bucket, now = TokenBucket(per_second), 0
    taken: list[int] = []
    for wait in waits:
        now = bucket.free_at(now + wait)
        bucket.take(now)
        taken.append(now)
    depth = max(5 * per_second, 1)
    for begin in range(len(taken)):
        for end in range(begin, len(taken)):
            seconds = (taken[end] - taken[begin]) / SECOND
            assert end - begin + 1 <= depth + per_second * seconds + 1 + 1e-3


@pytest.mark.parametrize("per_second", [0.5, 1.0, 20.0])
def test_the_pace_is_what_was_asked_for(announced: Play, per_second: float) -> None:
    async def scene(site: Site, way: EventWay) -> None:
        site.start()
        for number in range(220):
            site.run(f"r{number:03}", runtime=f"rt-{number}")
        await site.passes(AFTER + 1)
        begun = len(way.calls)
        await site.passes(2)
        assert len(way.calls) - begun == 2 * per_second
        times = [at for at, _ in way.calls[begun:]]
        assert all(after - before >= 0.99 / per_second for before, after in pairwise(times))

    announced(scene, per_second=per_second)


@event_scene()
async def test_an_event_does_not_change_with_every_try_of_its_run(site: Site, way: EventWay) -> None:
    """Other Runs come and go every second; the one that waits is tried each time, and told of once."""
    site.pod("py-0", runs=2)
    site.start()
    site.run("small")
    await site.passes(1)
    site.run("big", requests={"runs": 2})
    for number in range(int(AFTER + REPEAT) + 1):
        site.run(f"r{number}")
        await site.passes(0.5)
        site.end("small" if not number else f"r{number - 1}")
        await site.passes(0.5)
    assert site.pod_of("big") is None
    bodies = [json.loads(call.body or b"") for _, call in way.calls]
    assert (len([body for body in bodies if "regarding" in body]), len(bodies)) == (1, 2)
