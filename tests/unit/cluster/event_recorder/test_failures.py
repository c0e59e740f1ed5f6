"""Events that are refused or lost: counted, and in nobody's way."""

from __future__ import annotations

import asyncio
import json

import pytest
from virtual.calls import Fault, status
from virtual.site import Site

from kruntimes_core.cluster.client.transport import Call, MaybeSentError, NotSentError, Response
from kruntimes_core.cluster.event_recorder.event import EventOutcome, EventReason
from kruntimes_core.testing.builders import make_pod, make_run
from kruntimes_core.testing.objects import affinity_object, pod_object, term_object
from tests.unit.cluster.event_recorder.scene import AFTER, EventWay, Play, recorder_of
from tests.unit.cluster.played import event_scene

FORBIDDEN = 'events.events.k8s.io is forbidden: User "u" cannot create resource "events" in API group'


def answering(code: int, message: str = "no", **headers: str) -> Fault:
    async def fault(call: Call) -> Response | None:
        return status(code, "EventReason", message, **headers)

    return fault


async def silent(call: Call) -> Response | None:
    await asyncio.sleep(3600)
    return None


async def broken(call: Call) -> Response | None:
    raise MaybeSentError("the connection broke")


async def unreachable(call: Call) -> Response | None:
    raise NotSentError("no connection")


def invalid_run(site: Site, name: str = "bad") -> None:
    """A Run that is ended as Failed at once, and told of at once."""
    site.run(name, affinity=affinity_object(required=[term_object()]))


# With how each ends, and how often that is by then.
FAULTS: dict[str, tuple[Fault, EventOutcome, int]] = {
    "400": (answering(400), EventOutcome.REFUSED, 1),
    "401": (answering(401), EventOutcome.REFUSED, 1),
    "403": (answering(403, FORBIDDEN), EventOutcome.REFUSED, 1),
    "404": (answering(404), EventOutcome.REFUSED, 1),
    "422": (answering(422), EventOutcome.REFUSED, 1),
    "408": (answering(408), EventOutcome.FAILED, 4),
    "429": (answering(429, retry_after="1"), EventOutcome.FAILED, 4),
    "500": (answering(500), EventOutcome.FAILED, 4),
    "504": (answering(504), EventOutcome.FAILED, 4),
    "silent": (silent, EventOutcome.FAILED, 2),
    "broken": (broken, EventOutcome.FAILED, 4),
    "unreachable": (unreachable, EventOutcome.FAILED, 4),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_binds_go_on_while_events_do_not(announced: Play, fault: str) -> None:
    """With and without the fault the same binds are sent at the same times, to the tick."""
    fails, outcome, times = FAULTS[fault]

    async def scene(site: Site, way: EventWay) -> None:
        way.faults.append(fails)
        site.pod("py-0", runs=50)
        site.start()
        site.run("waits", requests={"gpu": 1})
        invalid_run(site)
        await site.passes(AFTER + 1)
        for number in range(20):
            site.run(f"r{number}")
        asked = asyncio.get_running_loop().time()
        await site.passes(5)
        assert all(site.pod_of(f"r{number}") == "py-0" for number in range(20))
        binds = [
            at for at, what, _ in site.api.calls if what.verb == "patch" and (what.name or "").startswith("r")
        ]
        assert len(binds) == 20
        assert max(binds) - asked < 0.01
        counts = recorder_of(site).counts
        assert counts[EventReason.INVALID_RUN, outcome] == times
        assert {kind for _, kind in counts} == {outcome}
        assert way.events == []
        assert all(check.holds for check in site.host.ready())

    announced(scene)


@event_scene()
async def test_a_refused_event_is_not_tried_again_and_a_lost_one_five_times(
    site: Site, way: EventWay
) -> None:
    site.start()
    way.faults.append(answering(422))
    invalid_run(site, "refused")
    await site.passes(3)
    assert len(way.calls) == 1
    way.faults[:] = [answering(503)]
    invalid_run(site, "lost")
    await site.passes(40)
    assert len(way.calls) == 6
    counts = recorder_of(site).counts
    assert counts[EventReason.INVALID_RUN, EventOutcome.FAILED] == 5
    assert counts[EventReason.INVALID_RUN, EventOutcome.DROPPED] == 1


@event_scene()
async def test_an_event_whose_answer_was_lost_is_not_made_twice(site: Site, way: EventWay) -> None:
    async def lose_once(call: Call) -> Response | None:
        way.faults.clear()
        await way.arrives(call)
        raise MaybeSentError("the connection broke")

    way.faults.append(lose_once)
    site.start()
    invalid_run(site)
    await site.passes(5)
    assert way.said() == [("bad", "InvalidRun", 1)]
    names = [json.loads(call.body or b"")["metadata"]["name"] for _, call in way.calls]
    assert len(names) == 2
    assert len(set(names)) == 1
    assert recorder_of(site).counts[EventReason.INVALID_RUN, EventOutcome.CREATED] == 1


@event_scene()
async def test_nothing_is_said_of_a_namespace_that_is_being_deleted(site: Site, way: EventWay) -> None:
    ends = "unable to create new content in namespace team-a because it is being terminated"
    way.faults.append(answering(403, f"events.events.k8s.io is forbidden: {ends}"))
    site.start()
    invalid_run(site)
    await site.passes(5)
    assert len(way.calls) == 1
    assert recorder_of(site).counts[EventReason.INVALID_RUN, EventOutcome.REFUSED] == 1
    (check,) = recorder_of(site).checks()
    assert check.note == ""
    assert "cannot create events" not in site.log
    # The next ones are not even sent, until a namespace of that name may be another one.
    for number in range(20):
        invalid_run(site, f"more-{number}")
    site.run("waits")
    await site.passes(AFTER + 2)
    assert len(way.calls) == 1
    assert recorder_of(site).counts[EventReason.INVALID_RUN, EventOutcome.DROPPED] == 20
    assert recorder_of(site).counts[EventReason.FAILED_SCHEDULING, EventOutcome.DROPPED] == 1
    way.namespace("team-b")
    way.faults.clear()
    site.run("elsewhere", namespace="team-b")
    await site.passes(AFTER + 2)
    assert way.said() == [("elsewhere", "FailedScheduling", 1)]
    await site.passes(60)
    invalid_run(site, "other")
    await site.passes(0.5)
    assert way.said()[1:] == [("other", "InvalidRun", 1), ("waits", "FailedScheduling", 1)]


@event_scene()
async def test_what_the_server_says_of_a_namespace_that_is_being_deleted_is_understood(
    site: Site, way: EventWay
) -> None:
    way.namespace("team-b")
    namespaces = way.server.resources.named("namespaces")
    pods = way.server.resources.named("pods")
    held = pod_object("held", namespace="team-b", version="", metadata={"finalizers": ["example.com/keep"]})
    held["spec"] = {"containers": [{"name": "runtime", "image": "example.invalid/runtime:1"}]}
    way.server.create(pods, "team-b", held)
    way.server.delete(namespaces, None, "team-b")
    site.start()
    for number in range(20):
        site.run(f"r{number}", namespace="team-b", runtime=f"rt-{number}")
    await site.passes(AFTER + 2)
    assert way.events == []
    assert len(way.calls) == 1
    assert recorder_of(site).checks()[0].note == ""
    assert "cannot create events" not in site.log


@event_scene(after=2.0)
async def test_while_nothing_gets_through_it_is_tried_ever_more_seldom(site: Site, way: EventWay) -> None:
    way.faults.append(answering(403, FORBIDDEN))
    site.start()
    for number in range(200):
        site.run(f"r{number:03}", runtime=f"rt-{number}")
    await site.passes(AFTER + 60)
    assert 5 <= len(way.calls) <= 9
    assert site.log.count("cannot create events.events.k8s.io in team-a: forbidden: grant") == 1
    (check,) = recorder_of(site).checks()
    assert check.holds
    assert "grant the verb" in check.note
    way.faults.clear()
    await site.passes(70)
    assert len(way.events) > 20
    assert recorder_of(site).checks()[0].note == ""


@pytest.mark.parametrize(("seconds", "lines"), [(59.9, 1), (60.0, 2)])
@event_scene()
async def test_what_comes_and_goes_is_logged_once_a_minute(
    site: Site, way: EventWay, seconds: float, lines: int
) -> None:
    def sends(*faults: Fault) -> None:
        way.faults[:] = faults
        sent.append(f"r{len(sent)}")
        recorder_of(site).sources.oversold(make_pod("py-0"), make_run(sent[-1]))

    sent: list[str] = []
    site.start()
    await site.passes(1)
    sends(answering(403, FORBIDDEN))
    await site.passes(10)
    sends()
    await site.passes(seconds - 10)
    assert len(way.events) == 1
    sends(answering(403, FORBIDDEN))
    await site.passes(0.1)
    assert len(way.calls) == 3
    assert site.log.count("cannot create events.events.k8s.io") == lines


@event_scene()
async def test_the_server_may_ask_for_a_pause(site: Site, way: EventWay) -> None:
    way.faults.append(answering(429, retry_after="7"))
    site.start()
    invalid_run(site)
    await site.passes(1)
    way.faults.clear()
    invalid_run(site, "worse")
    await site.passes(5)
    assert len(way.calls) == 1
    await site.passes(3)
    assert [name for name, _, _ in way.said()] == ["bad", "worse"]


@event_scene()
async def test_what_lasts_is_told_of_when_events_work_again(site: Site, way: EventWay) -> None:
    way.faults.append(answering(503))
    site.start()
    site.run("r1")
    await site.passes(AFTER + 1)
    way.faults.clear()
    await site.passes(AFTER + 3)
    assert way.said() == [("r1", "FailedScheduling", 1)]


@event_scene()
async def test_one_that_was_placed_meanwhile_is_not_told_of(site: Site, way: EventWay) -> None:
    way.faults.append(answering(503))
    site.start()
    site.run("r1")
    await site.passes(AFTER + 1)
    site.pod("py-0")
    way.faults.clear()
    await site.passes(3 * AFTER)
    assert way.events == []


@pytest.mark.parametrize("fault", [silent, unreachable])
@event_scene()
async def test_a_clean_stop_does_not_wait_for_events(site: Site, way: EventWay, fault: Fault) -> None:
    site.start()
    await site.passes(1)
    way.faults.append(fault)
    for number in range(100):
        recorder_of(site).sources.oversold(make_pod("py-0"), make_run(f"r{number}"))
    await site.passes(0.5)
    assert len(way.calls) == 1
    began = asyncio.get_running_loop().time()
    await site.end_host()
    assert asyncio.get_running_loop().time() == began
    assert len(way.calls) == 1


@event_scene()
async def test_a_defect_of_the_server_in_the_series_leads_to_no_loop(site: Site, way: EventWay) -> None:
    """It forgets each Event at once, and says so each time."""

    async def gone(call: Call) -> Response | None:
        return status(404, "NotFound") if call.method == "PATCH" else None

    way.faults.append(gone)
    site.start()
    site.run("r1")
    await site.passes(AFTER + 45)
    assert [call.method for _, call in way.calls] == ["POST", "PATCH"] * 2 + ["POST"]
