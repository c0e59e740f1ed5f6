"""Whole benches, small and on the embedded server: what comes out, what is refused, and what is left."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import harmonic_mean
from typing import Any

import pytest

from kruntimes_core.cli.bench.report import ROWS
from kruntimes_core.cluster.client.connection import Connection
from kruntimes_core.cluster.client.http import HttpTransport
from kruntimes_core.cluster.client.resources import RUNS as RUNS_OF_THE_HOST
from kruntimes_core.cluster.client.transport import Call, MaybeSentError, NotSentError, Response
from kruntimes_core.cluster.clock import SystemClock
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.lab.bench.live.api import Api, check_crds, check_loopback, is_loopback
from kruntimes_core.lab.bench.live.bench import measure
from kruntimes_core.lab.bench.live.load import BenchLoad, BenchSettings, Mode, Waits
from kruntimes_core.lab.bench.live.results import Results
from kruntimes_core.lab.bench.live.scheduler import SchedulerEndedError
from kruntimes_core.lab.bench.objects import BENCH_LABEL
from kruntimes_core.model.messages import InputError
from realcluster.client import NAMESPACES, PODS, RUNS, Reachable
from tests.unit.lab.bench.live.conftest import bad_scheduler

QUICK = Waits(other_scheduler=0.0, quiet=0.05, longest_quiet=5.0, namespaces=0.0)
Told = list[str]


@pytest.fixture
def settings(kubeconfig: str) -> BenchSettings:
    """A bench of a moment, of a scheduler without a fault."""
    return BenchSettings(
        load=BenchLoad(mode=Mode.DRAIN, runs=12, pods=3),
        command=bad_scheduler("nothing"),
        kubeconfig=kubeconfig,
        ceiling_patches=30,
        in_flight=4,
        waits=QUICK,
    )


@pytest.fixture
def bench(tmp_path: Path) -> Callable[..., Results]:
    """Run a bench. told: takes what it says."""

    def run(settings: BenchSettings, told: Told | None = None) -> Results:
        tell = (told if told is not None else []).append
        return asyncio.run(measure(settings, tmp_path, tell, Log(io.StringIO(), SystemClock())))

    return run


def left(place: Reachable) -> list[dict[str, Any]]:
    """What any bench has left behind that is more than an empty namespace on its way out."""
    client = place.client()
    namespaces = client.list(NAMESPACES, labelSelector=BENCH_LABEL).body["items"]
    living = [one for one in namespaces if "deletionTimestamp" not in one["metadata"]]
    return [*living, *client.list(PODS).body["items"], *client.list(RUNS).body["items"]]


def test_a_drain_is_measured_from_when_the_scheduler_could_begin(
    bench: Callable[..., Results], settings: BenchSettings, place: Reachable
) -> None:
    results = bench(replace(settings, repeat=2))
    assert results.passed
    assert not results.real
    first, second = results.rounds
    assert (first.placed, second.placed) == (12, 12)
    assert results.in_flight == 4
    # How long a dozen takes depends on the machine: a moment has no rate, and no share then.
    assert list(first.figures) == list(ROWS)
    rate, ceiling = first.figures["perSecond"], first.figures["ceilingPerSecond"]
    assert ceiling == harmonic_mean([*results.ceiling[0], *results.ceiling[1]])
    assert first.figures["shareOfCeiling"] == (rate and rate / ceiling)
    first_seconds = first.figures["firstSeconds"]
    assert first_seconds is not None
    # All Runs waited for the scheduler, so none waited less than the first.
    assert min(waited for _, waited in first.placements) >= first_seconds * 0.99
    assert (first.figures["writesPerRun"], first.figures["eventsPerRun"]) == (1.0, 2.0)
    assert [len(samples) for samples in results.ceiling] == [3, 3, 3]
    assert left(place) == []


def test_a_burst_is_measured_from_when_its_runs_are_seen(
    bench: Callable[..., Results], settings: BenchSettings
) -> None:
    load = BenchLoad(mode=Mode.BURST, runs=12, pods=3, hopeless=0)
    (round_,) = bench(replace(settings, load=load)).rounds
    assert round_.placed == 12
    assert round_.created_at[0] == 0.0
    assert max(at for at, _ in round_.placements) == round_.seconds


def test_an_open_load_runs_and_ends_as_runtimed_would_have_it(
    bench: Callable[..., Results], settings: BenchSettings
) -> None:
    load = BenchLoad(
        mode=Mode.OPEN, rate=40, seconds=0.5, pods=2, duration=(0.01, 0.02), heartbeat_seconds=0.1
    )
    results = bench(replace(settings, load=load))
    (round_,) = results.rounds
    assert results.passed
    assert round_.placed == round_.expected == len(load.arrivals(1)) > 5
    # What Pods write is not the scheduler's.
    assert round_.figures["writesPerRun"] == 1.0
    assert (round_.figures["eventsPerRun"] or 0) > 2.0


@pytest.mark.parametrize("fault", ["overcommitted", "boundTwice", "podNotAlive", "emptyWrite", "runLost"])
def test_a_scheduler_that_breaks_a_rule_is_found_out(
    bench: Callable[..., Results], settings: BenchSettings, fault: str
) -> None:
    results = bench(replace(settings, command=bad_scheduler(fault)))
    assert not results.passed
    assert results.broken[fault] > 0


@pytest.mark.parametrize(
    ("rule", "fault", "load"),
    [
        ("otherRuntime", "otherRuntime", BenchLoad(runs=12, pods=2, runtimes=2)),
        ("cohortApart", "nothing", BenchLoad(runs=12, pods=3, cohorts=2)),
    ],
)
def test_a_scheduler_that_does_not_look_where_runs_belong_is_found_out(
    bench: Callable[..., Results], settings: BenchSettings, rule: str, fault: str, load: BenchLoad
) -> None:
    results = bench(replace(settings, load=load, command=bad_scheduler(fault)))
    assert not results.passed
    assert results.broken[rule] > 0


def test_what_is_written_to_runs_beside_the_load_is_counted_by_itself(
    bench: Callable[..., Results], settings: BenchSettings
) -> None:
    (round_,) = bench(
        replace(settings, load=BenchLoad(runs=12, pods=3, hopeless=2), command=bad_scheduler("chatty"))
    ).rounds
    assert (round_.placed, round_.figures["writesPerRun"]) == (12, 1.0)
    # The last ones may come when the round is over.
    assert 2 * 11 <= (round_.figures["writesBeside"] or 0) <= 2 * 12


def test_runs_that_nobody_places_end_the_round(
    bench: Callable[..., Results], settings: BenchSettings, place: Reachable
) -> None:
    results = bench(replace(settings, command=bad_scheduler("idle"), patience_seconds=0.2))
    (round_,) = results.rounds
    assert not results.passed
    assert (round_.placed, round_.expected) == (0, 12)
    assert round_.figures["perSecond"] is round_.figures["p50Seconds"] is None
    assert left(place) == []


def test_a_scheduler_that_ends_is_told_by_its_last_lines(
    bench: Callable[..., Results], settings: BenchSettings, place: Reachable
) -> None:
    command = "sh -c 'echo first; echo bad flag >&2; exit 3'"
    with pytest.raises(SchedulerEndedError, match="ended with 3 before it was told to") as ended:
        bench(replace(settings, command=command))
    assert ended.value.lines == ["first", "bad flag"]
    assert left(place) == []


def test_a_scheduler_that_cannot_be_started_is_named(
    bench: Callable[..., Results], settings: BenchSettings, place: Reachable
) -> None:
    with pytest.raises(InputError, match="cannot start /no/such: No such file"):
        bench(replace(settings, command="/no/such"))
    assert left(place) == []


def test_what_cannot_be_started_is_told_before_anything_is_made(
    bench: Callable[..., Results], settings: BenchSettings, tmp_path: Path
) -> None:
    told: Told = []
    configuration = tmp_path / "mine.yaml"
    configuration.write_text("plugins: {enabled: [NoSuchPlugin]}\n")
    with pytest.raises(InputError, match=r"mine\.yaml:1: .*no plugin 'NoSuchPlugin' is installed"):
        bench(replace(settings, command=None, config=str(configuration)), told)
    with pytest.raises(InputError, match="cannot start /no/such"):
        bench(replace(settings, command="/no/such"), told)
    assert told == []


def test_a_scheduler_that_never_stops_writing_is_told_of(
    bench: Callable[..., Results], settings: BenchSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: Told = []
    waits = replace(QUICK, quiet=1.0, longest_quiet=0.0)
    bench(replace(settings, waits=waits), told)
    assert any(line.startswith("the scheduler writes on and on") for line in told)


def test_a_cancelled_bench_cleans_up(settings: BenchSettings, place: Reachable, tmp_path: Path) -> None:
    async def run() -> None:
        work: asyncio.Task[Results]

        def tell(line: str) -> None:
            if line.startswith("round 1"):
                work.cancel()

        log = Log(io.StringIO(), SystemClock())
        work = asyncio.create_task(measure(settings, tmp_path, tell, log))
        await asyncio.wait([work])
        assert work.cancelled()

    asyncio.run(run())
    assert left(place) == []


def test_a_server_that_is_lost_is_told_in_words(
    bench: Callable[..., Results],
    settings: BenchSettings,
    place: Reachable,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    request, told = HttpTransport.request, list[str]()

    async def lost_at_the_first_run(transport: HttpTransport, call: Call) -> Response:
        if call.method == "POST" and call.path.endswith("/runs"):
            monkeypatch.setattr(HttpTransport, "request", lost)
        return await request(transport, call)

    async def lost(transport: HttpTransport, call: Call) -> Response:
        raise NotSentError("no connection")

    monkeypatch.setattr(HttpTransport, "request", lost_at_the_first_run)
    with pytest.raises(InputError, match="was lost: no connection: check that it still runs"):
        bench(settings, told)
    assert "cannot clean up: no connection: kubectl delete namespaces -l" in told[-1]
    client = place.client()
    for name in made(place, told[-1].rpartition(" ")[2]):
        for resource in (RUNS, PODS):
            for one in client.list(resource, name).body["items"]:
                client.delete(resource, one["metadata"]["name"], name, gracePeriodSeconds=0)
        client.delete(NAMESPACES, name)


def made(place: Reachable, selector: str) -> list[str]:
    """The namespaces with a label."""
    found = place.client().list(NAMESPACES, labelSelector=selector).body["items"]
    return [one["metadata"]["name"] for one in found]


def test_what_somebody_keeps_from_being_deleted_keeps_nothing_else(
    bench: Callable[..., Results], settings: BenchSettings, place: Reachable
) -> None:
    told = list[str]()
    with pytest.raises(InputError, match="still exist after"):
        bench(replace(settings, command=bad_scheduler("finalizer")), told)
    assert "cannot clean up: runs.kruntimes.io" in told[-1]
    client = place.client()
    held = client.list(RUNS).body["items"]
    assert client.list(PODS).body["items"] == []
    for one in held:
        client.patch(
            RUNS, one["metadata"]["name"], {"metadata": {"finalizers": []}}, one["metadata"]["namespace"]
        )
    assert left(place) == []


def test_a_server_without_workspaces_has_a_ceiling_too(
    bench: Callable[..., Results], settings: BenchSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    request, refused = HttpTransport.request, list[str]()

    async def without_workspaces(transport: HttpTransport, call: Call) -> Response:
        if call.path.endswith("/persistentworkspaces"):
            refused.append(call.path)
            return Response(404, b"404 page not found")
        return await request(transport, call)

    monkeypatch.setattr(HttpTransport, "request", without_workspaces)
    assert bench(settings).passed
    assert refused


def test_namespaces_that_nobody_ends_are_named(
    bench: Callable[..., Results], settings: BenchSettings
) -> None:
    told: Told = []
    bench(settings, told)
    assert told[-1].startswith(
        "no controller ends the deletion of these namespaces, which are empty: kruntimes-bench-"
    )


@pytest.mark.parametrize(
    ("server", "refused"),
    [
        ("https://127.0.0.1:1", False),
        ("https://[::1]:1", False),
        ("https://localhost:1", False),
        ("https://192.0.2.1:6443", True),
        ("https://127.0.0.1.example.invalid", True),
        ("https://0.0.0.0:1", True),
    ],
)
def test_a_server_elsewhere_is_not_loaded(server: str, refused: bool) -> None:
    connection = Connection(server=server, credentials=NoCredentials(), origin="context one of file")
    assert is_loopback(connection) is not refused
    if refused:
        with pytest.raises(InputError, match="add --yes-load-this-cluster"):
            check_loopback(connection)


def test_a_proxy_leads_elsewhere() -> None:
    connection = Connection(
        server="https://127.0.0.1:1", credentials=NoCredentials(), proxy="http://192.0.2.1:3128"
    )
    assert not is_loopback(connection)
    with pytest.raises(InputError, match="is behind a proxy"):
        check_loopback(connection)


class NoCredentials:
    async def authorization(self) -> str | None:
        return None

    async def renew(self) -> None:
        raise AssertionError("there is nothing to renew")


class Answering:
    """A transport on which every answer is the same."""

    def __init__(self, response: Response) -> None:
        self._response = response

    async def request(self, call: Call) -> Response:
        return self._response


@pytest.mark.parametrize(
    "response", [Response(404, b"404 page not found"), Response(200, b'{"resources":[{"name":"other"}]}')]
)
def test_a_server_without_the_crds_is_told_so(response: Response) -> None:
    api = Api(Answering(response), 1)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"does not serve runs\.kruntimes\.io: install the CRDs"):
        asyncio.run(check_crds(api))


class Deleting:
    """A server on which a collection is deleted in so many steps, each cut off by a limit but the last."""

    def __init__(self, steps: list[Response | None]) -> None:
        self.steps = steps

    async def request(self, call: Call) -> Response:
        if call.method == "GET":
            return Response(200, b'{"items":[]}' if not self.steps else b'{"items":[{}]}')
        step = self.steps.pop(0)
        if step is None:
            raise MaybeSentError("no answer within 60 s")
        return step


def test_what_is_too_much_to_be_deleted_at_once_is_deleted_in_part() -> None:
    transport = Deleting([Response(504), None, Response(200, b"{}")])
    asyncio.run(Api(transport, 1).delete_all(RUNS_OF_THE_HOST, "ns"))  # type: ignore[arg-type]
    assert transport.steps == []


def test_what_cannot_be_deleted_is_an_error() -> None:
    forbidden = Deleting([Response(403, b'{"kind":"Status","message":"no"}')])
    with pytest.raises(InputError, match=r"refuses to delete runs\.kruntimes\.io: 403 no"):
        asyncio.run(Api(forbidden, 1).delete_all(RUNS_OF_THE_HOST, "ns"))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="still exist after"):
        asyncio.run(Api(Deleting([None] * 99), 1).delete_all(RUNS_OF_THE_HOST, "ns"))  # type: ignore[arg-type]
