"""Metrics of hosts that are not alone in their process, and of hosts that meet whatever users think of."""

from __future__ import annotations

import asyncio
import contextlib
import io
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import prometheus_client
import pytest
from virtual.site import Site, play
from virtual.time import run_virtual

from kruntimes_core import Reject, Run, RuntimePod
from kruntimes_core.cli.main import main
from kruntimes_core.cluster.dry_run.comparer import DryRunSettings
from kruntimes_core.cluster.observability.endpoints import Endpoints, ListenAddress
from kruntimes_core.cluster.observability.http_server import RequestProblems
from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.observability.metrics import Samples
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.framework.profile import Profile
from kruntimes_core.testing.harness import RUNS
from kruntimes_core.testing.plugins import fake_plugin
from tests.unit.cluster.played import scheduler_scene

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "first-plan.yaml"
SCHEDULED = 'kruntimes_scheduler_sync_total{result="scheduled"}'


def shown(site: Site) -> dict[str, float]:
    """Every series of a host with its value."""
    lines = site.host.metrics.exposition().decode().splitlines()
    pairs = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return {name: float(value) for name, value in pairs}


def test_two_hosts_in_one_process_count_for_themselves(profiles: Profiles) -> None:
    async def scene() -> None:
        sites = [Site(profiles), Site(profiles)]
        for site, runs in zip(sites, (3, 5), strict=True):
            site.pod("py-0", runs=9)
            for number in range(runs):
                site.run(f"r{number}")
            site.start()
        for site in sites:
            await site.passes(2)
        assert [shown(site)[SCHEDULED] for site in sites] == [3, 5]
        assert set(shown(sites[0])) == set(shown(sites[1]))
        for site in sites:
            await site.end_host()

    run_virtual(scene())
    common = prometheus_client.generate_latest(prometheus_client.REGISTRY).decode()
    assert "kruntimes" not in common


@scheduler_scene()
async def test_plans_beside_a_host_leave_its_numbers_alone(site: Site) -> None:
    site.pod("py-0", runs=2)
    site.run("r1")
    site.start()
    await site.passes(2)
    before = site.host.metrics.exposition()
    for _ in range(2):
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
            assert main(["plan", "-f", str(EXAMPLE)]) == 1
        assert "Scheduled" in out.getvalue()
    assert site.host.metrics.exposition() == before
    assert shown(site)[SCHEDULED] == 1


def test_a_round_of_offers_is_a_plan_as_any_other(profiles: Profiles) -> None:
    """A Run that waited is placed without a plan of its own, and its time must not be missing."""
    plans = "kruntimes_scheduler_sync_duration_seconds_count"

    async def scene(site: Site) -> None:
        site.pod("py-0", runs=1)
        site.run("x", pod="py-0")
        site.run("waits")
        site.start()
        await site.passes(2)
        before = shown(site)
        site.end("x")
        await site.passes(1)
        after = shown(site)
        assert site.pod_of("waits") == "py-0"
        assert (after[SCHEDULED] - before[SCHEDULED], after[plans] - before[plans]) == (1, 1)

    play(profiles, scene)


@scheduler_scene()
async def test_bound_runs_are_shown_by_how_often_they_were_tried(site: Site) -> None:
    attempts = "kruntimes_scheduler_run_scheduling_attempts"
    site.pod("py-0", runs=1)
    site.run("at-once")
    site.start()
    await site.passes(2)
    assert (shown(site)[f"{attempts}_count"], shown(site)[f"{attempts}_sum"]) == (1, 1)
    site.run("waits")
    await site.passes(2)
    assert shown(site)[f"{attempts}_count"] == 1
    site.end("at-once")
    await site.passes(2)
    assert site.pod_of("waits") == "py-0"
    assert (shown(site)[f"{attempts}_count"], shown(site)[f"{attempts}_sum"]) == (2, 3)
    assert shown(site)[f'{attempts}_bucket{{le="1.0"}}'] == 1


@scheduler_scene()
async def test_failed_runs_are_shown_by_their_reason(site: Site) -> None:
    failed = 'kruntimes_scheduler_failed_runs_total{reason="%s"}'
    site.start()
    await site.passes(1)
    before = shown(site)
    site.run("bad", requests={"gpu": "-1"})
    await site.passes(2)
    after = shown(site)
    assert {name for name in before if after[name] != before[name] and "failed_runs" in name} == {
        failed % "InvalidResources"
    }
    assert after[failed % "InvalidResources"] == 1


def test_a_scrape_answers_200_with_what_can_be_read(profiles: Profiles) -> None:
    def raising() -> Samples:
        raise RuntimeError("not today")

    def scrape(port: int) -> tuple[int, str]:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            return answer.status, answer.read().decode()

    async def scene() -> tuple[int, str]:
        site = Site(profiles)
        site.host.metrics.counter("unreadable", "Raises.", (), raising)
        endpoints = Endpoints(
            alive=list,
            ready=list,
            metrics=site.host.metrics.negotiated,
            problems=RequestProblems(Log(site.lines, site.clock), site.clock),
        )
        await endpoints.open(None, ListenAddress("127.0.0.1", 0, "--metrics-bind-address"))
        try:
            return await asyncio.to_thread(scrape, endpoints.listening["metrics"][1])
        finally:
            await endpoints.close()

    status, text = asyncio.run(scene())
    assert status == 200
    assert f"{SCHEDULED} 0.0" in text
    assert "kruntimes_scheduler_metrics_errors_total 1.0" in text


FORK = """
import os
from kruntimes_core.cluster.observability.metrics import Metrics
from kruntimes_core.engine.counters import Counters
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.framework.profile import Profile

metrics = Metrics(Counters(), Profiles((Profile(),)))
metrics.bound(1_000_000, 1)
before = metrics.exposition()
child = os.fork()
if child == 0:
    metrics.bound(1_000_000, 1)
    own = b"run_queue_duration_seconds_count 2.0" in metrics.exposition()
    Metrics(Counters(), Profiles((Profile(),)))
    os._exit(0 if own else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert metrics.exposition() == before
print("alike")
"""


def test_a_fork_counts_for_itself() -> None:
    """In a process of its own: one that runs threads may not fork."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", FORK], capture_output=True, text=True, check=False, timeout=50
    )
    assert (done.stdout, done.stderr) == ("alike\n", "")


def _says_too_much(pod: RuntimePod, run: Run) -> Reject | None:
    number = int(run.labels["number"])
    if number % 3 == 0:
        return Reject("Full", detail=f"no room for {run.name} of {run.labels['team']}")
    return Reject(f"NoRoomFor{run.name.title()}") if number % 3 == 1 else None


def _never_the_same(pod: RuntimePod, run: Run) -> int:
    raise RuntimeError(f"cannot score {run.name} on {pod.name} for {run.labels['team']}")


HOSTILE = (
    fake_plugin("Talkative", reasons=["Full"], filter=_says_too_much),
    fake_plugin("Fickle", score=_never_the_same),
)


@pytest.mark.parametrize("host", [{}, {"dry_run": DryRunSettings()}], ids=["real", "dry"])
def test_as_many_series_after_2000_runs_as_after_20(profiles: Profiles, host: dict[str, Any]) -> None:
    """Each with a Runtime, labels and a team of its own, in three namespaces; half of them meet Pods."""
    met = Profiles((Profile(plugins=(*profiles.all[0].plugins, *HOSTILE)),))

    async def scene(site: Site) -> None:
        for place in range(3):
            site.pod(f"py-{place}", namespace=f"ns-{place}", runs=5_000, uid=f"P{place}")
        site.start()
        await _arrive(site, range(20))
        after_20 = set(shown(site))
        await _arrive(site, range(20, 2_000))
        assert set(shown(site)) == after_20
        errors = 'kruntimes_scheduler_plugin_errors_total{hook="%s",plugin="%s"}'
        assert shown(site)[errors % ("filter", "Talkative")] > 300
        assert shown(site)[errors % ("score", "Fickle")] > 300
        for name, namespace in [(f"r-{n}", f"ns-{n % 3}") for n in range(2_000)]:
            site.server.delete(RUNS, namespace, name)
        await site.passes(5)
        assert set(shown(site)) == after_20
        text = site.host.metrics.exposition().decode()
        assert not [word for word in ("rt-", "r-1", "ns-", "team-", "NoRoom", "cannot score") if word in text]

    play(met, scene, **host)


async def _arrive(site: Site, numbers: range) -> None:
    for number in numbers:
        site.run(
            f"r-{number}",
            uid=f"U{number}",
            namespace=f"ns-{number % 3}",
            runtime="py" if number % 2 else f"rt-{number}",
            labels={"number": str(number), "team": f"team-{number}"},
        )
    await site.passes(5)
