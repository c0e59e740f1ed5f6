"""What becomes of writes: applied, refused, or in doubt, and nothing oversold in any case."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import pytest
from memoryapi.calls import Fault, status, target
from memoryapi.site import Site

from kruntimes_core.cluster.api_dispatcher import read_answer, write_answer
from kruntimes_core.cluster.client.transport import Call, MaybeSentError, NotSentError, Response
from kruntimes_core.engine.api_calls import Applied, Found, NotFound, OutcomeUnknown, Refused
from kruntimes_core.model.decode import Decoder
from kruntimes_core.testing.objects import run_object
from tests.unit.cluster.played import scheduler_scene

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
Then = Callable[[Site, Call], Awaitable[Response | None]]


def first(site: Site, verb: str, then: Then) -> Fault:
    """What happens to the first call of a kind."""
    left = [then]

    async def fault(call: Call) -> Response | None:
        if target(call).verb != verb or not left:
            return None
        return await left.pop()(site, call)

    return fault


def _applied(site: Site, call: Call) -> None:
    """The server takes it, and the watch does not tell before it was reopened."""
    for stream in site.api.streams:
        stream.silent = stream.plural == "runs"
    site.api._serve(call, target(call))


async def applied_then_504(site: Site, call: Call) -> Response | None:
    _applied(site, call)
    return status(504, "Timeout")


async def applied_then_cut(site: Site, call: Call) -> Response | None:
    _applied(site, call)
    raise MaybeSentError("the connection broke")


async def applied_then_unreadable(site: Site, call: Call) -> Response | None:
    _applied(site, call)
    return Response(200, b"{}")


async def applied_then_silence(site: Site, call: Call) -> Response | None:
    _applied(site, call)
    await asyncio.sleep(3600)
    return None


async def never_arrives(site: Site, call: Call) -> Response | None:
    raise MaybeSentError("the connection broke")


async def not_sent(site: Site, call: Call) -> Response | None:
    raise NotSentError("no connection")


def refused(code: int, **headers: str) -> Then:
    async def then(site: Site, call: Call) -> Response | None:
        return status(code, "Reason", "no", **headers)

    return then


LOST = [applied_then_504, applied_then_cut, applied_then_unreadable, applied_then_silence]


@pytest.mark.parametrize("lost", LOST, ids=lambda one: one.__name__)
@scheduler_scene()
async def test_a_bind_whose_answer_is_lost_oversells_nothing(site: Site, lost: Then) -> None:
    site.pod("py-0", runs=1)
    site.start()
    await site.passes(1)
    site.api.faults.append(first(site, "patch", lost))
    site.run("r1")
    site.run("r2")
    await site.passes(30)
    assert site.pod_of("r1") == "py-0"
    assert site.pod_of("r2") is None
    binds = [call for _, what, call in site.api.calls if what.verb == "patch" and what.name == "r1"]
    assert len(binds) == 1
    assert site.api.count("get", "runs") == 1


@pytest.mark.parametrize(("lost", "reads"), [(never_arrives, 1), (not_sent, 0)])
@scheduler_scene()
async def test_a_bind_that_never_arrived_is_sent_again(site: Site, lost: Then, reads: int) -> None:
    """What was certainly not sent needs no read."""
    site.pod("py-0", runs=1)
    site.api.faults.append(first(site, "patch", lost))
    site.run("r1")
    site.start()
    await site.passes(5)
    assert site.pod_of("r1") == "py-0"
    assert site.api.count("get", "runs") == reads


@scheduler_scene()
async def test_a_doubt_that_cannot_be_read_stays_a_doubt(site: Site) -> None:
    site.pod("py-0", runs=1)
    site.start()
    await site.passes(1)
    site.api.faults += [
        first(site, "patch", never_arrives),
        first(site, "get", refused(503)),
        first(site, "get", refused(404)),
    ]
    site.run("r1")
    site.run("r2")
    await site.passes(0.9)
    assert site.host.engine.sizes["runs"] == 2
    await site.passes(10)
    assert site.pod_of("r1") == "py-0"
    assert site.pod_of("r2") is None


@scheduler_scene()
async def test_an_overloaded_server_gets_the_bind_again_when_it_asked_for_it(site: Site) -> None:
    site.pod("py-0", runs=1)
    site.api.faults.append(first(site, "patch", refused(429, retry_after="5")))
    site.run("r1")
    site.start()
    await site.passes(4)
    assert site.pod_of("r1") is None
    await site.passes(3)
    assert site.pod_of("r1") == "py-0"


@scheduler_scene()
async def test_a_refused_bind_hands_its_room_on(site: Site) -> None:
    site.pod("py-0", runs=1)
    site.api.faults.append(first(site, "patch", refused(422)))
    site.run("r1")
    site.run("r2")
    site.start()
    await site.passes(0.5)
    assert site.pod_of("r2") == "py-0"


@scheduler_scene(in_flight=3)
async def test_no_more_requests_are_in_flight_than_allowed(site: Site) -> None:
    waiting = most = 0

    async def slow(call: Call) -> Response | None:
        nonlocal waiting, most
        if target(call).verb == "patch":
            waiting += 1
            most = max(most, waiting)
            await asyncio.sleep(0.2)
            waiting -= 1
        return None

    site.api.faults.append(slow)
    site.pod("py-0", runs=20)
    for number in range(20):
        site.run(f"r{number}")
    site.start()
    await site.passes(3)
    assert sum(site.pod_of(f"r{number}") is not None for number in range(20)) == 20
    assert most == 3


@scheduler_scene()
async def test_every_write_is_small_and_limited_here_and_there(site: Site) -> None:
    site.pod("py-0", runs=1)
    site.run("r1", spec={"source": {"inline": "x" * 200_000}})
    site.start()
    await site.passes(1)
    ((_, what, call),) = (one for one in site.api.calls if one[1].verb == "patch")
    assert call.path == "/apis/kruntimes.io/v1alpha1/namespaces/team-a/runs/r1/status"
    assert what.name == "r1"
    assert dict(call.query) == {"fieldManager": "kruntimes-scheduler", "timeout": "4s"}
    assert call.timeout_seconds == 4
    assert call.headers["content-type"] == "application/merge-patch+json"
    assert len(call.body or b"") < 1_000
    assert json.loads(call.body or b"")["metadata"]["resourceVersion"]


@scheduler_scene(in_flight=4)
async def test_a_clean_stop_waits_for_answers_and_begins_nothing(site: Site) -> None:
    async def slow(call: Call) -> Response | None:
        if target(call).verb == "patch":
            await asyncio.sleep(1)
        return None

    site.api.faults.append(slow)
    site.pod("py-0", runs=20)
    for number in range(20):
        site.run(f"r{number:02}")
    site.start()
    await site.passes(0.5)
    assert site.host.dispatcher.in_flight == 4
    await site.end_host()
    placed = [f"r{number:02}" for number in range(20) if site.pod_of(f"r{number:02}")]
    assert placed == ["r00", "r01", "r02", "r03"]
    assert site.host.dispatcher.in_flight == 0


# Answers, one by one


def _body(code: int, reason: str) -> bytes:
    return json.dumps({"kind": "Status", "code": code, "reason": reason}).encode()


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        (Response(200, b'{"metadata": {"resourceVersion": "7"}}'), Applied("7")),
        (Response(200, b'{"metadata": {}}'), OutcomeUnknown()),
        (Response(200, b"not json"), OutcomeUnknown()),
        (Response(200, b"[]"), OutcomeUnknown()),
        (Response(409, _body(409, "Conflict")), Refused(409)),
        (Response(404, _body(404, "NotFound")), Refused(404)),
        (Response(404, b"404 page not found"), OutcomeUnknown()),
        (Response(422, b""), Refused(422)),
        (Response(403, b""), Refused(403)),
        (Response(429, b"", {"retry-after": "9"}), Refused(429, 9.0)),
        (Response(408, b""), OutcomeUnknown()),
        (Response(500, b""), OutcomeUnknown()),
        (Response(503, b"", {"retry-after": "3"}), OutcomeUnknown(3.0)),
        (Response(504, _body(504, "Timeout")), OutcomeUnknown()),
        (Response(302, b""), OutcomeUnknown()),
        (Response(101, b""), OutcomeUnknown()),
    ],
)
def test_what_an_answer_proves_about_a_write(response: Response, answer: object) -> None:
    assert write_answer(response, NOW) == answer


@pytest.mark.parametrize(
    ("response", "kind"),
    [
        (Response(200, json.dumps(run_object("r1")).encode()), Found),
        (Response(200, b'{"metadata": {"uid": "u"}}'), OutcomeUnknown),
        (Response(200, b"[]"), OutcomeUnknown),
        (Response(200, b"<html>"), OutcomeUnknown),
        (Response(404, _body(404, "NotFound")), NotFound),
        (Response(404, b"nginx"), OutcomeUnknown),
        (Response(410, b""), OutcomeUnknown),
        (Response(503, b""), OutcomeUnknown),
    ],
)
def test_what_an_answer_proves_about_a_run(response: Response, kind: type) -> None:
    assert isinstance(read_answer(response, NOW, Decoder()), kind)
