"""A right that is refused is named with verb, resource and namespace, until it is seen to be given."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncGenerator, Mapping

import pytest
from virtual.calls import status, target
from virtual.site import Site
from virtual.time import run_virtual

from kruntimes_core.cluster.client.resources import PODS, RUNS, WORKSPACES
from kruntimes_core.cluster.client.transport import Call, Response, StreamRefusedError
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.observability.endpoints import probe_text
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.permissions import (
    REQUIRED,
    MissingPermissions,
    Permission,
    PermissionTransport,
    required_permission,
)
from kruntimes_core.engine.clock import SECOND, Now
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.testing.builders import NOW
from tests.unit.cluster.played import scheduler_scene

STATUS = Call(method="PATCH", path=RUNS.path("team-a", "r1", "status"), timeout_seconds=4)
READ = Call(method="GET", path=RUNS.path("team-b", "r1"), timeout_seconds=4)
LIST = Call(method="GET", path=PODS.path(), query=(("limit", "100"),), timeout_seconds=60)
WATCH = Call(method="GET", path=WORKSPACES.path("team-a"), query=(("watch", "1"),), timeout_seconds=50)
LEASE = "/apis/coordination.k8s.io/v1/namespaces/team-a/leases"
NAMED = "cannot patch runs/status.kruntimes.io in team-a: forbidden: grant the verb"


class HandClock(Clock):
    """Stands still until it is told to go on."""

    seconds = 0

    def now(self) -> Now:
        return Now(NOW, self.seconds * SECOND)


def denied(right: Permission) -> Response:
    """As the API server words it."""
    why = f'User "system:serviceaccount:a:b" cannot {right.verb} resource "{right.resource}" in API group "x"'
    return status(403, "Forbidden", f'{right.title} "r1" is forbidden: {why}')


class Answering:
    """A transport that gives one answer to all."""

    def __init__(self, answer: Response) -> None:
        self.answer = answer

    async def request(self, call: Call) -> Response:
        return self.answer

    async def stream(self, call: Call) -> AsyncGenerator[bytes, None]:
        if self.answer.status != 200:
            raise StreamRefusedError(self.answer)
        yield b""

    async def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def lines() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def rights(clock: HandClock, lines: io.StringIO) -> MissingPermissions:
    return MissingPermissions(clock, Log(lines, clock))


def missing(rights: MissingPermissions) -> Mapping[tuple[str, ...], float]:
    return {labels: count for labels, count in rights.samples().items() if count}


@pytest.mark.parametrize(
    ("call", "right", "namespace"),
    [
        (STATUS, Permission("patch", "runs/status", "kruntimes.io"), "team-a"),
        (READ, Permission("get", "runs", "kruntimes.io"), "team-b"),
        (LIST, Permission("list", "pods", ""), ""),
        (WATCH, Permission("watch", "persistentworkspaces", "kruntimes.io"), "team-a"),
        (
            Call(method="POST", path=LEASE, timeout_seconds=1),
            Permission("create", "leases", "coordination.k8s.io"),
            "team-a",
        ),
        (
            Call(method="PUT", path=f"{LEASE}/l", timeout_seconds=1),
            Permission("update", "leases", "coordination.k8s.io"),
            "team-a",
        ),
    ],
)
def test_a_request_needs_a_right(call: Call, right: Permission, namespace: str) -> None:
    assert required_permission(call) == (right, namespace)
    assert right in REQUIRED


def test_a_status_that_may_not_be_written_is_named_once_and_until_it_may(
    rights: MissingPermissions, lines: io.StringIO
) -> None:
    for _ in range(3):
        rights.answered(STATUS, denied(required_permission(STATUS)[0]))
    assert rights.check().why == NAMED
    assert missing(rights) == {("patch", "runs/status.kruntimes.io"): 1}
    for code in (401, 408, 429, 500, 504):
        rights.answered(STATUS, status(code))
    rights.answered(READ, Response(200))
    assert rights.check().why == NAMED
    rights.answered(STATUS, status(409, "Conflict"))
    assert rights.check().holds
    assert missing(rights) == {}
    assert lines.getvalue().count(NAMED) == 1
    assert "can patch runs/status.kruntimes.io in team-a again" in lines.getvalue()


def test_each_namespace_is_named(rights: MissingPermissions) -> None:
    for namespace in ("team-b", "team-a"):
        call = Call(method="PATCH", path=RUNS.path(namespace, "r1", "status"), timeout_seconds=4)
        rights.answered(call, denied(required_permission(call)[0]))
    rights.answered(READ, denied(required_permission(READ)[0]))
    assert rights.check().why.split("; ") == [
        "cannot get runs.kruntimes.io in team-b: forbidden: grant the verb",
        NAMED,
        NAMED.replace("team-a", "team-b"),
    ]
    assert missing(rights)["patch", "runs/status.kruntimes.io"] == 2


def test_what_lists_and_watches_say_themselves_is_counted_and_not_said_again(
    rights: MissingPermissions, lines: io.StringIO
) -> None:
    for call in (LIST, WATCH):
        rights.answered(call, denied(required_permission(call)[0]))
    assert rights.check().holds
    assert missing(rights) == {("list", "pods"): 1, ("watch", "persistentworkspaces.kruntimes.io"): 1}
    assert lines.getvalue() == ""


def test_a_webhook_that_denies_one_run_is_no_missing_right(rights: MissingPermissions) -> None:
    denial = 'admission webhook "policy.example.com" denied the request: cannot do that on a Friday'
    rights.answered(STATUS, status(403, "Forbidden", denial))
    assert rights.check().holds


def test_a_namespace_that_is_being_deleted_is_no_missing_right(
    rights: MissingPermissions, lines: io.StringIO
) -> None:
    said = "cannot patch resource runs: unable to write in namespace team-a because it is being terminated"
    rights.answered(STATUS, status(403, "Forbidden", said))
    rights.answered(READ, status(403, "NamespaceTerminating", "cannot get resource runs"))
    assert rights.check().holds
    assert missing(rights) == {}
    assert lines.getvalue() == ""


def test_a_right_that_is_not_asked_for_any_more_is_not_known_to_be_missing(
    rights: MissingPermissions, clock: HandClock
) -> None:
    rights.answered(STATUS, denied(required_permission(STATUS)[0]))
    clock.seconds = 299
    assert not rights.check().holds
    clock.seconds = 301
    assert rights.check().holds


def test_requests_and_streams_are_heard_and_passed_on(rights: MissingPermissions) -> None:
    below = Answering(denied(required_permission(WATCH)[0]))
    transport = PermissionTransport(below, rights)

    async def opened() -> list[bytes]:
        return [chunk async for chunk in transport.stream(WATCH)]

    with pytest.raises(StreamRefusedError):
        asyncio.run(opened())
    assert asyncio.run(transport.request(LIST)) is below.answer
    assert len(missing(rights)) == 2
    below.answer = Response(200)
    assert asyncio.run(opened()) == [b""]
    assert missing(rights) == {("list", "pods"): 1}


@pytest.mark.parametrize("verb", ["get", "patch"])
@scheduler_scene()
async def test_a_host_that_may_not_write_or_read_a_run_is_not_ready_and_mends_itself(
    site: Site, verb: str
) -> None:
    lost = status(504, "Timeout")

    async def refuses(call: Call) -> Response | None:
        if target(call).verb == "patch" and verb == "get":
            return lost
        return denied(required_permission(call)[0]) if target(call).verb == verb else None

    site.pod("py-0")
    site.run("r1")
    site.api.faults.append(refuses)
    site.start()
    await site.passes(3)
    right = "get runs.kruntimes.io" if verb == "get" else "patch runs/status.kruntimes.io"
    assert site.why_not_ready() == [f"cannot {right} in team-a: forbidden: grant the verb"]
    assert 'missing_permissions{resource="' in site.host.metrics.exposition().decode()
    site.api.faults.clear()
    await site.passes(20)
    assert site.pod_of("r1") == "py-0"
    assert site.why_not_ready() == []


# Who may know which names there are

SECRET = ("team-secret-1", "team-secret-2")
WRITE = Permission("patch", "runs/status", "kruntimes.io")


@pytest.mark.parametrize("code", [401, 403, 404, 410, 500])
def test_no_probe_tells_the_name_of_a_namespace(profiles: Profiles, code: int) -> None:
    """Whoever reaches the port of the probes reads counts and kinds; the debug address has the names."""
    refusing = Answering(status(code, "No", "not in team-secret-1"))

    async def scene() -> None:
        site = Site(profiles, transport=refusing, namespaces=SECRET)
        site.start()
        await site.passes(2)
        checks = [*site.host.alive(), *site.host.ready()]
        told = probe_text(checks, verbose=True)
        assert "secret" not in told
        assert "[-]runs.kruntimes.io failed: in 2 of 2 namespaces: cannot list runs.kruntimes.io: " in told
        assert all(name in probe_text(checks, verbose=True, names=True) for name in SECRET)
        await site.end_host()

    run_virtual(scene())


def test_a_refused_write_is_told_without_its_namespace(rights: MissingPermissions) -> None:
    for namespace in SECRET:
        call = Call(method="PATCH", path=RUNS.path(namespace, "secret-run", "status"), timeout_seconds=4)
        rights.answered(call, denied(WRITE))
    told = probe_text([rights.check()], verbose=False)
    why = "cannot patch runs/status.kruntimes.io: forbidden: grant the verb"
    assert told == f"[-]permissions failed: {why}\nnot ok\n"
