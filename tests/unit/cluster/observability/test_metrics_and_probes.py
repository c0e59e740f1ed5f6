"""What others see: metrics of one host alone, and probes that say why."""

from __future__ import annotations

import asyncio
import io
import re
import threading
import urllib.request
from pathlib import Path
from urllib.error import HTTPError

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as text_format
from virtual.site import Site, play
from virtual.time import InlinePlanner

from kruntimes_core.cluster.clock import SystemClock
from kruntimes_core.cluster.dry_run.comparer import DryRunComparer, DryRunSettings
from kruntimes_core.cluster.dry_run.report import register_dry_run_metrics
from kruntimes_core.cluster.leader_election.elector import (
    LeaderElector,
    LeaseDurations,
    LeaseTerm,
    register_election_metrics,
)
from kruntimes_core.cluster.observability.endpoints import (
    Endpoints,
    HealthCheck,
    ListenAddress,
    parse_address,
    probe_text,
)
from kruntimes_core.cluster.observability.http_server import RequestProblems
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.observability.metrics import Metrics, Samples
from kruntimes_core.engine.counters import Counters, SyncResult
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.model.messages import InputError
from kruntimes_core.testing.plugins import fake_plugin, profiles_of
from tests.unit.cluster.event_recorder.scene import EventWay
from tests.unit.cluster.played import scheduler_scene

CONTRACT = [
    'kruntimes_scheduler_sync_total{result="scheduled"}',
    'kruntimes_scheduler_sync_total{result="no_pods"}',
    'kruntimes_scheduler_sync_total{result="selection_error"}',
    "kruntimes_scheduler_sync_duration_seconds_bucket",
    "kruntimes_scheduler_no_pods_total",
    "kruntimes_scheduler_run_queue_duration_seconds_bucket",
    'kruntimes_scheduler_filter_rejections_total{plugin="RunAffinity",reason=',
    'kruntimes_scheduler_reservation_conflicts_total{stage="reserve"}',
    'kruntimes_scheduler_reservation_conflicts_total{stage="bind"}',
    'kruntimes_scheduler_pending_run_wakeups_total{source="runtime_pod"}',
    'kruntimes_scheduler_pending_run_wakeups_total{source="capacity_released"}',
]


def series(metrics: Metrics) -> int:
    """How many series are shown."""
    return sum(not line.startswith("#") for line in metrics.exposition().decode().splitlines())


# Metrics


@pytest.mark.parametrize("name", CONTRACT)
def test_every_name_of_the_contract_is_there_from_the_beginning(profiles: Profiles, name: str) -> None:
    assert name in Metrics(Counters(), profiles).exposition().decode()


def elector_of(site: Site) -> LeaderElector:
    """One that is never asked to lead."""
    return LeaderElector(
        transport=site.api,
        clock=site.clock,
        log=Log(site.lines, site.clock),
        term=LeaseTerm(clock=site.clock, durations=LeaseDurations()),
        namespace="team-a",
        identity="host_1",
    )


def comparer_of(site: Site) -> DryRunComparer:
    """A dry run's, that never hears of anything."""
    return DryRunComparer(
        settings=DryRunSettings(),
        engine=site.host.engine,
        clock=site.clock,
        plugin_worker=InlinePlanner(),
        log=Log(site.lines, site.clock),
        wake=lambda: None,
    )


def test_the_reference_names_all_metrics_of_a_host(profiles: Profiles) -> None:
    page = (Path(__file__).parents[4] / "docs" / "reference" / "metrics.md").read_text()

    async def scene(site: Site) -> None:
        site.start()
        await site.passes(1)
        register_election_metrics(site.host.metrics, elector_of(site))
        dry_run = comparer_of(site)
        register_dry_run_metrics(site.host.metrics, dry_run.report, lambda: dry_run.held)
        site.host.metrics.register_process()
        shown = site.host.metrics.exposition().decode()
        families = re.findall(r"^# TYPE (\S+) ", shown, re.MULTILINE)
        assert sorted(set(re.findall(r"`((?:kruntimes_scheduler|process)_\w+)`", page))) == sorted(families)

    play(profiles, scene, events=EventWay().sink())


PLAIN = "text/plain; version=0.0.4; charset=utf-8"
OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        ("", PLAIN),
        ("*/*", PLAIN),
        ("text/html", PLAIN),
        ("application/openmetrics-text", OPEN_METRICS),
        # As Prometheus 2 and 3 ask for it.
        (
            "application/openmetrics-text;version=1.0.0;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
            f"{OPEN_METRICS}; escaping=underscores",
        ),
        (
            "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=1.0.0;q=0.4",
            f"{OPEN_METRICS}; escaping=allow-utf-8",
        ),
        ("application/openmetrics-text;version=0.0.1", PLAIN),
        ("application/openmetrics-text;version=new", PLAIN),
        ('text/plain;version="1.0.0"', PLAIN),
    ],
)
def test_the_format_is_the_one_that_is_asked_for(profiles: Profiles, accept: str, content_type: str) -> None:
    metrics = Metrics(Counters(), profiles)
    metrics.bound(1_000_000, 1)
    metrics.register_process()
    body, said = metrics.negotiated(accept)
    assert said == content_type
    read = openmetrics if said.startswith("application/openmetrics-text") else text_format
    names = {sample.name for family in read(body.decode()) for sample in family.samples}
    assert {
        "kruntimes_scheduler_run_queue_duration_seconds_bucket",
        "kruntimes_scheduler_sync_total",
        "kruntimes_scheduler_plugin_info",
        "process_start_time_seconds",
    } <= names
    assert not [name for name in names if name.endswith("_created")]


def test_the_active_plugins_are_shown_with_what_they_came_from(profiles: Profiles) -> None:
    def shown(metrics: Metrics) -> list[dict[str, str]]:
        families = text_format(metrics.exposition().decode())
        return [one.labels for family in families for one in family.samples if "plugin_info" in one.name]

    def described(profiles: Profiles) -> list[dict[str, str]]:
        plugins = sorted(profiles.all[0].plugins, key=lambda plugin: plugin.name)
        return [{"plugin": p.name, "distribution": p.distribution, "version": p.version} for p in plugins]

    metrics = Metrics(Counters(), profiles)
    assert shown(metrics) == described(profiles) != []
    other = profiles_of(fake_plugin("Other"))
    metrics.know(other)
    assert shown(metrics) == described(other)


def test_two_hosts_in_one_process_share_no_number(profiles: Profiles) -> None:
    one, other = Counters(), Counters()
    shown = [Metrics(tally, profiles) for tally in (one, other)]
    one.syncs[SyncResult.SCHEDULED] += 3
    shown[0].bound(1_000_000, 1)
    wanted = 'sync_total{result="scheduled"}'
    assert [f"{wanted} 3.0" in metrics.exposition().decode() for metrics in shown] == [True, False]
    assert "run_queue_duration_seconds_sum 0.0" in shown[1].exposition().decode()


def test_a_metric_that_cannot_be_read_leaves_the_others(profiles: Profiles) -> None:
    def raising() -> Samples:
        raise RuntimeError("no")

    metrics = Metrics(Counters(), profiles)
    metrics.counter("unreadable", "Raises.", (), raising)
    text = metrics.exposition().decode()
    assert "kruntimes_scheduler_no_pods_total 0.0" in text
    assert "kruntimes_scheduler_metrics_errors_total 1.0" in text


def test_a_scrape_while_others_count_loses_nothing(profiles: Profiles) -> None:
    metrics = Metrics(Counters(), profiles)

    def count() -> None:
        for _ in range(500):
            metrics.bound(1_000_000, 1)

    workers = [threading.Thread(target=count) for _ in range(8)]
    for worker in workers:
        worker.start()
    while any(worker.is_alive() for worker in workers):
        assert metrics.exposition()
    for worker in workers:
        worker.join()
    assert "run_queue_duration_seconds_count 4000.0" in metrics.exposition().decode()


@scheduler_scene()
async def test_the_number_of_series_does_not_follow_the_users(site: Site) -> None:
    site.start()
    await site.passes(1)
    counts = []
    for size in (20, 300):
        for number in range(size):
            name = f"r{size}-{number}"
            site.run(name, runtime=f"rt-{name}", namespace=f"ns-{number % 3}", uid=name)
        await site.passes(2)
        counts.append(series(site.host.metrics))
    assert counts[0] == counts[1]
    assert "rt-r" not in site.host.metrics.exposition().decode()


def test_what_a_plugin_raises_is_no_label() -> None:
    numbers = iter(range(10_000))

    def score(pod: object) -> int:
        raise RuntimeError(f"never the same: {next(numbers)}")

    profiles = profiles_of(fake_plugin("Fickle", score=score, normalize=lambda scores: scores))

    async def scene(site: Site) -> None:
        site.pod("py-0", runs=50)
        for number in range(20):
            site.run(f"r{number}")
        before = series(site.host.metrics)
        site.start()
        await site.passes(5)
        text = site.host.metrics.exposition().decode()
        assert "never the same" not in text
        assert 'plugin_errors_total{hook="score",plugin="Fickle"}' in text
        # The watches and nothing else have become visible.
        assert series(site.host.metrics) == before + 3

    play(profiles, scene)


@scheduler_scene()
async def test_durations_are_never_negative(site: Site) -> None:
    site.pod("py-0", runs=2)
    site.start()
    await site.passes(1)
    # Whoever created it has a clock that is 10 s ahead.
    site.run("r1", metadata={"creationTimestamp": "2026-01-02T03:04:16Z"})
    site.clock.jump(3600)
    await site.passes(1)
    site.clock.jump(-7200)
    site.pod("py-1", runs=2, probed_at=site.clock.now().wall)
    site.run("r2")
    await site.passes(6)
    text = site.host.metrics.exposition().decode()
    assert "run_queue_duration_seconds_count 2.0" in text
    assert 'run_queue_duration_seconds_bucket{le="10.0"} 2.0' in text


# Probes


def test_a_report_says_why_and_in_detail_when_asked() -> None:
    checks = [HealthCheck("runs"), HealthCheck("pods", "forbidden")]
    assert probe_text(checks, verbose=False) == "[-]pods failed: forbidden\nnot ok\n"
    assert probe_text(checks, verbose=True) == "[+]runs ok\n[-]pods failed: forbidden\nnot ok\n"
    assert probe_text([HealthCheck("runs")], verbose=False) == "ok\n"


def asked(
    paths: list[tuple[str, str]],
    probes: ListenAddress | None,
    metrics: ListenAddress | None,
    ready: HealthCheck,
) -> list[tuple[int, str]]:
    """The answers to (endpoint, path); status 0 where nothing listens."""

    def get(where: tuple[str, int] | None, path: str) -> tuple[int, str]:
        if where is None:
            return 0, ""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{where[1]}{path}", timeout=10) as answer:
                return answer.status, answer.read().decode()
        except HTTPError as refused:
            with refused:
                return refused.code, refused.read().decode()

    async def main() -> list[tuple[int, str]]:
        endpoints = Endpoints(
            alive=lambda: [HealthCheck("plugin-worker")],
            ready=lambda: [ready],
            metrics=no_metrics,
            problems=no_problems(),
        )
        await endpoints.open(probes, metrics)
        try:
            return [
                await asyncio.to_thread(get, endpoints.listening.get(endpoint), path)
                for endpoint, path in paths
            ]
        finally:
            await endpoints.close()

    return asyncio.run(main())


def no_metrics(accept: str) -> tuple[bytes, str]:
    return b"m 1\n", "text/plain"


def no_problems() -> RequestProblems:
    clock = SystemClock()
    return RequestProblems(Log(io.StringIO(), clock), clock)


def local(port: int = 0) -> ListenAddress:
    return ListenAddress("127.0.0.1", port, "--flag")


def test_probes_and_metrics_have_their_own_ports() -> None:
    paths = [
        ("probes", "/healthz"),
        ("probes", "/livez"),
        ("probes", "/readyz"),
        ("probes", "/readyz?verbose"),
        ("probes", "/metrics"),
        ("metrics", "/metrics"),
        ("metrics", "/healthz"),
    ]
    answers = asked(paths, local(), local(), HealthCheck("runs", "not listed yet"))
    assert [status for status, _ in answers] == [200, 200, 503, 503, 404, 200, 404]
    assert answers[2][1] == "[-]runs failed: not listed yet\nnot ok\n"
    assert answers[5][1] == "m 1\n"


def test_probes_and_metrics_may_share_a_port(unused_port: int) -> None:
    one = local(unused_port)
    answers = asked(
        [("probes", "/readyz"), ("metrics", "/metrics"), ("probes", "/metrics")], one, one, HealthCheck("x")
    )
    assert [status for status, _ in answers] == [200, 200, 200]


def test_an_endpoint_may_be_switched_off() -> None:
    answers = asked([("probes", "/readyz"), ("metrics", "/metrics")], local(), None, HealthCheck("x"))
    assert [status for status, _ in answers] == [200, 0]


def test_a_port_in_use_is_one_line(unused_port: int) -> None:
    async def main() -> None:
        endpoints, other = (
            Endpoints(alive=list, ready=list, metrics=no_metrics, problems=no_problems()) for _ in range(2)
        )
        await endpoints.open(local(unused_port), None)
        try:
            await other.open(local(unused_port), None)
        finally:
            await other.close()
            await endpoints.close()

    with pytest.raises(InputError, match="the port is in use: choose another --flag"):
        asyncio.run(main())


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        (":8080", None, 8080),
        ("127.0.0.1:1", "127.0.0.1", 1),
        ("[::1]:65535", "::1", 65535),
        ("localhost:0", "localhost", 0),
    ],
)
def test_addresses_are_written_as_go_writes_them(text: str, host: str | None, port: int) -> None:
    made = parse_address(text, "--x")
    assert made == ListenAddress(host, port, "--x")
    assert str(made) == text


@pytest.mark.parametrize("text", ["8080", "", ":", ":65536", "a b:1", "::1:80", ":-1", "http://x:1"])
def test_what_is_no_address_is_refused_with_its_option(text: str) -> None:
    with pytest.raises(InputError, match=r"--x .* is not a valid address"):
        parse_address(text, "--x")


@pytest.mark.parametrize("text", ["0", "false"])
def test_an_endpoint_is_off_as_in_go(text: str) -> None:
    assert parse_address(text, "--x") is None
