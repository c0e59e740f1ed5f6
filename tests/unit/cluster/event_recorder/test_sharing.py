"""Runs of one Runtime that one cause holds back share an Event, and what somebody must see to comes first."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from virtual.calls import status, target
from virtual.site import Site

from kruntimes_core.cluster.client.transport import Call, Response
from kruntimes_core.cluster.event_recorder.event import (
    EventContent,
    EventReason,
    Lane,
    reference_to_run,
    shared_note,
)
from kruntimes_core.cluster.event_recorder.pending_conditions import (
    ConditionKind,
    NoEvent,
    PendingCause,
    PendingCondition,
    PendingConditions,
)
from kruntimes_core.cluster.event_recorder.recorder import EventQueue
from kruntimes_core.cluster.event_recorder.sources import NEVER, OUTAGE, HeldBack
from kruntimes_core.engine.clock import SECOND, Now
from kruntimes_core.testing.builders import NOW
from kruntimes_core.testing.objects import affinity_object, term_object
from kruntimes_core.testing.plugins import fake_plugin, profiles_of
from tests.unit.cluster.event_recorder.scene import AFTER, REPEAT, EventWay, Play, recorder_of
from tests.unit.cluster.played import event_scene

STALE_AFTER = 15.0
"""Seconds: the limit of a heartbeat's age."""
WAITING = 'waiting for available runtime pods for runtime "{}"'


def told(way: EventWay) -> list[tuple[str, str, str]]:
    """Of each Event in the order in which they were sent: the Run, the reason and the note."""
    return [(event["regarding"]["name"], event["reason"], event["note"]) for event in way.events]


def more(number: int) -> str:
    return f" (the same holds back {number} more runs of this runtime)"


@event_scene()
async def test_a_thousand_waiting_runs_of_five_causes_make_five_events(site: Site, way: EventWay) -> None:
    counts = {"full": 400, "absent": 200, "cohort": 60, "stale": 300, "large": 40}
    needs: dict[str, dict[str, Any]] = {
        "large": {"requests": {"runs": 9}},
        "cohort": {"affinity": affinity_object(required=[term_object({"app": "db"})])},
    }
    for runtime in ("full", "cohort", "large"):
        site.pod(f"{runtime}-0", runtime=runtime, runs=2)
    site.pod("stale-0", runtime="stale", beating=False)
    site.run("held", runtime="full", requests={"runs": 2}, pod="full-0")
    site.start()
    await site.passes(STALE_AFTER + 1)
    for runtime, many in counts.items():
        for number in range(many):
            site.run(f"{runtime}-{number:03}", runtime=runtime, **needs.get(runtime, {}))
    await site.passes(AFTER + 2)
    said = told(way)
    assert {reason for _, reason, _ in said[:2]} == {"NeverFits", "HeartbeatStale"}
    affinity = "waiting for a runtime pod that satisfies required run affinity"
    assert sorted(said) == [
        ("absent-000", "FailedScheduling", WAITING.format("absent") + more(199)),
        ("cohort-000", "FailedScheduling", affinity + more(59)),
        ("full-000", "FailedScheduling", WAITING.format("full") + more(399)),
        ("large-000", "NeverFits", f"{WAITING.format('large')}: {NEVER}{more(39)}"),
        ("stale-000", "HeartbeatStale", f"{WAITING.format('stale')}: {OUTAGE}{more(299)}"),
    ]
    await site.passes(REPEAT + 1)
    assert Counter(call.method for _, call in way.calls) == {"POST": 5, "PATCH": 5}


@event_scene()
async def test_an_event_regards_the_oldest_run_that_still_waits(site: Site, way: EventWay) -> None:
    site.start()
    for name in ("r0", "r1", "r2"):
        site.run(name)
        await site.passes(0.1)
    await site.passes(AFTER + 1)
    note = WAITING.format("py")
    assert told(way) == [("r0", "FailedScheduling", note + more(2))]
    site.delete("r0")
    await site.passes(REPEAT + 1)
    one_more = " (the same holds back 1 more run of this runtime)"
    assert told(way)[1:] == [("r1", "FailedScheduling", note + one_more)]
    site.delete("r1")
    await site.passes(REPEAT)
    assert told(way)[2:] == [("r2", "FailedScheduling", note)]


@event_scene()
async def test_runs_that_join_are_counted_when_the_event_is_due_again(site: Site, way: EventWay) -> None:
    site.start()
    site.run("r0")
    await site.passes(AFTER + 1)
    for number in range(1, 10):
        site.run(f"r{number}")
    await site.passes(REPEAT - 2)
    assert told(way) == [("r0", "FailedScheduling", WAITING.format("py"))]
    await site.passes(2)
    assert told(way)[1:] == [("r0", "FailedScheduling", WAITING.format("py") + more(9))]


@event_scene()
async def test_runs_that_have_not_waited_for_long_are_counted_and_make_no_event_of_their_own(
    site: Site, way: EventWay
) -> None:
    site.start()
    site.run("r0")
    await site.passes(AFTER - 2)
    for number in range(1, 10):
        site.run(f"r{number}")
    site.run("other", runtime="go")
    await site.passes(3)
    assert told(way) == [("r0", "FailedScheduling", WAITING.format("py") + more(9))]


@event_scene()
async def test_runtimes_and_namespaces_do_not_share(site: Site, way: EventWay) -> None:
    way.namespace("team-b")
    site.start()
    for number in range(2):
        site.run(f"a{number}", runtime="py")
        site.run(f"b{number}", runtime="go")
        site.run(f"c{number}", namespace="team-b", runtime="py")
    await site.passes(AFTER + 1)
    assert sorted(name for name, _, _ in told(way)) == ["a0", "b0", "c0"]


@event_scene()
async def test_an_outage_is_told_of_at_once_whatever_the_runs_waited_for_before(
    site: Site, way: EventWay
) -> None:
    """Their texts are those of their own cycles; the Event is about the Pods of now."""
    site.pod("py-0", runs=1)
    site.pod("py-1", ready=False)
    site.run("held", pod="py-0")
    site.start()
    site.run("full")
    await site.passes(0.1)
    site.run("alone", affinity=affinity_object(required=[term_object({"app": "db"})]))
    await site.passes(AFTER + 1)
    assert {reason for _, reason, _ in told(way)} == {"FailedScheduling"}
    before = len(way.events)
    site.silence("py-0")
    await site.passes(STALE_AFTER + AFTER + 1)
    one_more = " (the same holds back 1 more run of this runtime)"
    assert told(way)[before:] == [
        ("full", "HeartbeatStale", f"{WAITING.format('py')}: {OUTAGE}{one_more}"),
    ]
    site.beat("py-0")
    site.pod("py-2", runs=1, beating=False)
    await site.passes(2)
    assert site.pod_of("full") == "py-2"


@event_scene()
async def test_runs_that_waited_for_this_and_that_share_an_event_when_no_pod_is_ready(
    site: Site, way: EventWay
) -> None:
    site.pod("py-0", runs=1)
    site.run("held", pod="py-0")
    site.start()
    site.run("a-full")
    site.run("b-alone", affinity=affinity_object(required=[term_object({"app": "db"})]))
    await site.passes(1)
    site.ready("py-0", ready=False)
    await site.passes(AFTER)
    one_more = " (the same holds back 1 more run of this runtime)"
    assert told(way) == [("a-full", "FailedScheduling", WAITING.format("py") + one_more)]


@pytest.mark.parametrize("beats", ["one of two", "none is ready"])
@event_scene()
async def test_no_outage_is_told_of_while_a_pod_beats_or_where_none_is_ready(
    site: Site, way: EventWay, beats: str
) -> None:
    site.pod("py-0", runs=1, beating=False, ready=beats == "one of two")
    site.pod("py-1", runs=1, ready=beats == "one of two")
    site.run("held", pod="py-1")
    site.start()
    await site.passes(STALE_AFTER + 1)
    site.run("r1")
    await site.passes(AFTER + 1)
    assert [reason for _, reason, _ in told(way)] == ["FailedScheduling"]


def test_what_fails_in_a_plugin_is_one_event_too(announced: Play) -> None:
    def breaks(pod: object) -> None:
        raise RuntimeError("no")

    async def scene(site: Site, way: EventWay) -> None:
        site.pod("py-0")
        site.start()
        for number in range(20):
            site.run(f"r{number:02}")
        await site.passes(3 * AFTER)
        ((name, reason, note),) = told(way)
        assert (name, reason) == ("r00", "PluginError")
        assert note.endswith(more(19))

    announced(scene, of=profiles_of(fake_plugin("Fickle", filter=breaks)))


@event_scene()
async def test_what_cannot_be_written_is_one_event_too(site: Site, way: EventWay) -> None:
    async def refuse(call: Call) -> Response | None:
        return status(422, "Invalid", "no") if target(call).verb == "patch" else None

    site.api.faults.append(refuse)
    site.pod("py-0", runs=9)
    site.start()
    for number in range(5):
        site.run(f"r{number}")
    await site.passes(4 * AFTER)
    ((name, reason, note),) = told(way)
    assert (name, reason) == ("r0", "FailedUpdateStatus")
    assert note.endswith(more(4))


def test_what_somebody_must_see_to_is_sent_before_what_merely_waits(announced: Play) -> None:
    async def scene(site: Site, way: EventWay) -> None:
        for number in range(10):
            site.pod(f"large-{number}", runtime=f"large-{number}", runs=1)
        site.start()
        for number in range(60):
            site.run(f"waits-{number:02}", runtime=f"absent-{number}")
        await site.passes(1)
        for number in range(10):
            site.run(f"never-{number}", runtime=f"large-{number}", requests={"runs": 2})
        await site.passes(AFTER + 7)
        site.run("bad", affinity=affinity_object(required=[term_object()]))
        await site.passes(2)
        sent = [name for name, _, _ in told(way)]
        late = [place for place, name in enumerate(sent) if not name.startswith("waits")]
        # They came later than all that wait. What of those had been sent by then was sent at the pace.
        assert len(late) == 11
        assert late[:10] == list(range(late[0], late[0] + 10))
        assert sent[late[10] - 1].startswith("waits")

    announced(scene, per_second=2.0)


# The queue by itself


def queue_of(
    conditions: PendingConditions, causes: dict[str, HeldBack | EventContent | NoEvent]
) -> tuple[EventQueue, Counter[str]]:
    looked: Counter[str] = Counter()

    def look(condition: PendingCondition, now: Now) -> HeldBack | EventContent | NoEvent:
        looked[condition.name] += 1
        return causes[condition.name]

    return EventQueue(conditions, look), looked


def held(reason: EventReason, arrival: int = 0, runtime: str = "py") -> HeldBack:
    return HeldBack(PendingCause("a", runtime, reason, "waits"), arrival)


def looked_through(queue: EventQueue, at: int) -> None:
    while queue.look(Now(NOW, at)):
        pass


def observe(conditions: PendingConditions, *names: str, at: int = 0) -> None:
    for name in names:
        conditions.observe(("a", name), name, ConditionKind.WAITING, at)


def test_each_is_looked_at_once_in_a_while_and_before_any_event_is_sent() -> None:
    conditions = PendingConditions(60 * SECOND, 1_800 * SECOND)
    names = [f"r{number}" for number in range(1_000)]
    causes = {name: held(EventReason.FAILED_SCHEDULING, -place) for place, name in enumerate(names)}
    queue, looked = queue_of(conditions, dict(causes))
    observe(conditions, *names)
    looked_through(queue, 0)
    assert queue.pop() is None
    assert queue.next_at(0) == 15 * SECOND
    assert not queue.look(Now(NOW, 15 * SECOND - 1))
    looked_through(queue, 60 * SECOND)
    assert set(looked.values()) == {2}
    event = queue.pop()
    assert event is not None
    assert event.shared is not None
    assert event.content.regarding.name == "r999"
    assert event.content.note == "waits" + more(999)
    assert queue.pop() is None
    conditions.recorded(event.shared, 61 * SECOND, written=True)
    for quarter in range(5, 4 * 31):
        looked_through(queue, quarter * 15 * SECOND)
        assert queue.pop() is None
    looked_through(queue, 1_861 * SECOND)
    assert queue.pop() is not None


def test_rounds_come_when_a_cause_is_due_and_never_too_close_together() -> None:
    conditions = PendingConditions(60 * SECOND, 1_800 * SECOND)
    queue, _ = queue_of(
        conditions, {"r": held(EventReason.FAILED_SCHEDULING), "s": held(EventReason.NEVER_FITS)}
    )
    observe(conditions, "r", at=0)
    looked_through(queue, 50 * SECOND)
    assert queue.next_at(50 * SECOND) == 60 * SECOND
    observe(conditions, "s", at=SECOND)
    looked_through(queue, 60 * SECOND)
    assert [event.content.regarding.name for event in iter(queue.pop, None)] == ["r"]
    assert queue.next_at(60 * SECOND) == 63 * SECOND


def test_an_event_that_could_not_be_written_is_due_again_after_a_while() -> None:
    conditions = PendingConditions(60 * SECOND, 1_800 * SECOND)
    queue, _ = queue_of(conditions, {"r": held(EventReason.FAILED_SCHEDULING)})
    observe(conditions, "r")
    looked_through(queue, 60 * SECOND)
    event = queue.pop()
    assert event is not None
    assert event.shared is not None
    conditions.recorded(event.shared, 60 * SECOND, written=False)
    for at, due in ((75, False), (105, False), (120, True)):
        looked_through(queue, at * SECOND)
        assert (queue.pop() is not None) is due


def test_what_was_not_sent_in_time_is_queued_anew_behind_what_is_urgent() -> None:
    conditions = PendingConditions(60 * SECOND, 1_800 * SECOND)
    causes: dict[str, HeldBack | EventContent | NoEvent] = {
        name: held(EventReason.FAILED_SCHEDULING, runtime=name) for name in ("r0", "r1", "r2")
    }
    queue, _ = queue_of(conditions, causes)
    observe(conditions, *causes)
    looked_through(queue, 60 * SECOND)
    causes["r2"] = held(EventReason.NEVER_FITS, runtime="r2")
    looked_through(queue, 75 * SECOND)
    assert [event.content.regarding.name for event in iter(queue.pop, None)] == ["r2", "r0", "r1"]


def test_a_cause_that_is_over_before_its_event_is_sent_makes_none() -> None:
    conditions = PendingConditions(60 * SECOND, 1_800 * SECOND)
    causes: dict[str, HeldBack | EventContent | NoEvent] = {
        name: held(EventReason.FAILED_SCHEDULING, runtime=name) for name in ("gone", "over", "early", "other")
    }
    queue, _ = queue_of(conditions, causes)
    observe(conditions, *causes)
    looked_through(queue, 60 * SECOND)
    conditions.end(("a", "gone"))
    causes |= {"over": NoEvent.OVER, "early": NoEvent.EARLY, "other": held(EventReason.NEVER_FITS)}
    looked_through(queue, 120 * SECOND)
    sent = [event.content.reason for event in iter(queue.pop, None)]
    assert sent == [EventReason.NEVER_FITS]
    assert len(conditions) == 2


def test_urgent_ones_come_first_and_take_turns_with_those_that_are_sent_at_once() -> None:
    conditions = PendingConditions(SECOND, SECOND)
    causes: dict[str, HeldBack | EventContent | NoEvent] = {}
    for number in range(2):
        causes[f"waits-{number}"] = held(EventReason.FAILED_SCHEDULING, runtime=f"w{number}")
        causes[f"never-{number}"] = held(EventReason.NEVER_FITS, runtime=f"n{number}")
    queue, _ = queue_of(conditions, causes)
    observe(conditions, *causes)
    looked_through(queue, SECOND)
    run = reference_to_run("a", "r", "U")
    for lane, reason in ((Lane.PLACEMENTS, EventReason.SCHEDULED), (Lane.AT_ONCE, EventReason.INVALID_RUN)):
        for number in range(2):
            queue.add(lane, EventContent(reason, run, str(number)))
    sent = [event.content.reason for event in iter(queue.pop, None)]
    assert Counter(sent[:4]) == {EventReason.INVALID_RUN: 2, EventReason.NEVER_FITS: 2}
    assert sent[0] != sent[1]
    assert Counter(sent[4:]) == {EventReason.FAILED_SCHEDULING: 2, EventReason.SCHEDULED: 2}
    assert sent[4] != sent[5]


@pytest.mark.parametrize("note", ["x" * 5_000, "ü" * 1_023])
def test_a_long_note_still_ends_with_the_number(note: str) -> None:
    said = shared_note(note, 12)
    assert said.endswith("..." + more(12))
    assert len(said.encode()) <= 1_024
    assert shared_note("short", 0) == "short"


@event_scene()
async def test_runs_that_are_placed_leave_no_cause(site: Site, way: EventWay) -> None:
    site.start()
    for number in range(30):
        site.run(f"r{number}", runtime=f"rt-{number % 3}")
    await site.passes(AFTER + 1)
    assert len(way.events) == 3
    for number in range(3):
        site.pod(f"py-{number}", runtime=f"rt-{number}", runs=10)
    await site.passes(2)
    recorder = recorder_of(site)
    assert recorder.lengths[Lane.LASTING] == 0
    assert recorder._conditions._causes == {}
    assert len(way.calls) == 3
