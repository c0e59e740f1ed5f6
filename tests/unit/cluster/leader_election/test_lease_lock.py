"""What each answer to a request for the Lease means."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Coroutine

import pytest

from kruntimes_core.cluster.client.errors import ApiFailure
from kruntimes_core.cluster.client.transport import Call, MaybeSentError, Response
from kruntimes_core.cluster.clock import SystemClock
from kruntimes_core.cluster.leader_election.lease_lock import Lease, LeaseConflictError, LeaseLock

GOOD = {
    "metadata": {"name": "x", "uid": "u", "resourceVersion": "7", "labels": {"a": "b"}},
    "spec": {"strategy": "S"},
}


class Answering:
    """A transport with one answer."""

    def __init__(self, answer: Response | Exception) -> None:
        self.calls: list[Call] = []
        self._answer = answer

    async def request(self, call: Call) -> Response:
        self.calls.append(call)
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer

    async def stream(self, call: Call) -> AsyncGenerator[bytes, None]:
        yield b""

    async def close(self) -> None:
        return


def leases(answer: Response | Exception) -> tuple[LeaseLock, Answering]:
    transport = Answering(answer)
    return LeaseLock(
        transport=transport, clock=SystemClock(), namespace="ops", timeout_seconds=2.5
    ), transport


def refusal(code: int, reason: str) -> Response:
    return Response(code, json.dumps({"kind": "Status", "code": code, "reason": reason}).encode())


def good(code: int = 200) -> Response:
    return Response(code, json.dumps(GOOD).encode())


def test_a_lease_is_read_and_written_where_it_is() -> None:
    reading, transport = leases(good())
    found = asyncio.run(reading.get())
    assert found is not None
    assert found.spec == {"strategy": "S"}
    asyncio.run(reading.replace(found, {"holderIdentity": "a"}, lambda: True))
    asyncio.run(reading.create({"holderIdentity": "a"}))
    get, put, post = transport.calls
    path = "/apis/coordination.k8s.io/v1/namespaces/ops/leases"
    assert [(call.method, call.path) for call in transport.calls] == [
        ("GET", f"{path}/kruntimes-scheduler.kruntimes.com"),
        ("PUT", f"{path}/kruntimes-scheduler.kruntimes.com"),
        ("POST", path),
    ]
    assert json.loads(put.body or b"") == {**GOOD, "spec": {"holderIdentity": "a"}}
    assert json.loads(post.body or b"")["metadata"]["name"] == "kruntimes-scheduler.kruntimes.com"
    assert all((dict(call.query), call.timeout_seconds) == ({"timeout": "2.5s"}, 2.5) for call in (put, post))
    assert put.gate is not None
    assert get.timeout_seconds == 2.5


def test_no_lease_is_no_failure() -> None:
    reading, _ = leases(refusal(404, "NotFound"))
    assert asyncio.run(reading.get()) is None
    assert reading.outcomes == {("get", "missing"): 1}


@pytest.mark.parametrize("answer", [refusal(409, "Conflict"), refusal(404, "NotFound"), Response(409, b"")])
def test_a_version_that_is_not_there_any_more_is_a_conflict(answer: Response) -> None:
    writing, _ = leases(answer)
    with pytest.raises(LeaseConflictError):
        asyncio.run(writing.replace(Lease(GOOD), {}, None))


def test_a_lease_that_another_created_is_a_conflict() -> None:
    writing, _ = leases(refusal(409, "AlreadyExists"))
    with pytest.raises(LeaseConflictError):
        asyncio.run(writing.create({}))


@pytest.mark.parametrize(
    "answer",
    [
        MaybeSentError("the connection broke"),
        Response(404, b"404 page not found"),
        refusal(403, "Forbidden"),
        refusal(500, "InternalError"),
        Response(302),
        Response(200, b"<html>"),
        Response(200, b"[]"),
        Response(200, b'{"metadata": {}}'),
        Response(200, b'{"metadata": {"resourceVersion": 7}}'),
    ],
)
@pytest.mark.parametrize("verb", ["get", "create", "update"])
def test_everything_else_is_a_failure_that_names_the_verb(answer: Response | Exception, verb: str) -> None:
    asking, _ = leases(answer)
    ways: dict[str, Callable[[], Coroutine[None, None, Lease | None]]] = {
        "get": asking.get,
        "create": lambda: asking.create({}),
        "update": lambda: asking.replace(Lease(GOOD), {}, None),
    }
    with pytest.raises(ApiFailure, match=f"cannot {verb} leases.coordination.k8s.io"):
        asyncio.run(ways[verb]())
    assert asking.outcomes == {(verb, "failed"): 1}
