"""What is said of a comparison: metrics with closed labels, log lines, a probe, a table and a document."""

from __future__ import annotations

import asyncio
import io
import json
from typing import Any

import aiohttp
from virtual.site import Site
from virtual.time import VirtualClock

from kruntimes_core.cli.output.screen import Screen
from kruntimes_core.cli.scheduler.debug_pages import REPORT_PATH, report_lines, report_page
from kruntimes_core.cluster.clock import SystemClock
from kruntimes_core.cluster.dry_run.report import (
    BLAMED,
    Difference,
    DifferenceKind,
    DryRunReport,
    NotCompared,
    report_document,
)
from kruntimes_core.cluster.observability.endpoints import Endpoints, ListenAddress, Page
from kruntimes_core.cluster.observability.http_server import RequestProblems
from kruntimes_core.cluster.observability.log import Format, Log
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.testing.builders import NOW, make_run
from tests.unit.cluster.dry_run.scene import Beside, play
from tests.unit.cluster.played import dry_run_scene

HOSTILE = "waiting\x1b[31m for\n2026 ERROR fake"


def samples(site: Site) -> dict[str, float]:
    lines = site.host.metrics.exposition().decode().splitlines()
    parted = (line.rpartition(" ") for line in lines if line.startswith("kruntimes_scheduler_dry_run"))
    return {
        name.removeprefix("kruntimes_scheduler_dry_run_"): float(value)
        for name, _, value in parted
        if "_created" not in name
    }


async def some_of_each(site: Site, other: Beside) -> None:
    """One placement that agrees, one that does not, and one end that does not."""
    await other.starts_with("r1", "r2", "r3", pods={"py-0": 1, "py-1": 9})
    other.binds("r1", "py-0")
    other.binds("r2", "py-1")
    other.ends("r3", "Failed", HOSTILE)
    await site.passes(1)


def test_every_series_stands_from_the_beginning_and_none_is_added(profiles: Profiles) -> None:
    async def scene(site: Site, other: Beside) -> None:
        before = samples(site)
        plugins = [plugin.name for plugin in profiles.all[0].plugins]
        assert set(before.values()) == {0.0}
        assert len([name for name in before if "kind=" in name]) == len(DifferenceKind) + len(BLAMED) * len(
            plugins
        )
        assert len([name for name in before if "why=" in name]) == len(NotCompared)
        await some_of_each(site, other)
        assert samples(site).keys() == before.keys()
        assert {name: value for name, value in samples(site).items() if value} == {
            "agreements_total": 1,
            'differences_total{kind="pod_scored_lower",plugin="LeastLoaded"}': 1,
            'differences_total{kind="ended",plugin=""}': 1,
        }

    play(profiles, scene)


@dry_run_scene(dry_run=None)
async def test_a_live_host_shows_no_such_metric(site: Site, other: Beside) -> None:
    assert samples(site) == {}
    assert [check.name for check in site.host.ready() if check.name == "dry-run"] == []


@dry_run_scene()
async def test_the_probe_says_how_it_goes(site: Site, other: Beside) -> None:
    await some_of_each(site, other)
    (check,) = (one for one in site.host.ready() if one.name == "dry-run")
    assert (check.holds, check.note) == (True, "nothing is written; 1 agreed, 2 differed")


@dry_run_scene()
async def test_pods_that_hold_what_is_only_reserved_are_not_oversold(site: Site, other: Beside) -> None:
    await other.starts_with("r1", "r2", pods={"py-0": 1})
    other.binds("r2", "py-0")
    await site.passes(1)
    assert "holds more than it has" not in site.log
    assert site.host.oversold_pods.count == 0


@dry_run_scene()
async def test_a_line_for_each_difference_with_what_others_wrote_escaped(site: Site, other: Beside) -> None:
    await some_of_each(site, other)
    lines = [line for line in site.log.splitlines() if "did otherwise" in line]
    assert len(lines) == other.report.differed == 2
    (ended,) = (line for line in lines if "run=team-a/r3" in line)
    assert r'detail="waiting\u001b[31m for\n2026 ERROR fake"' in ended


def test_json_lines_carry_the_same(profiles: Profiles) -> None:
    lines = io.StringIO()

    async def scene(site: Site, other: Beside) -> None:
        await some_of_each(site, other)
        said = [json.loads(line) for line in lines.getvalue().splitlines()]
        (ended,) = (one for one in said if one.get("kind") == "ended")
        assert (ended["run"], ended["theirs"], ended["detail"]) == ("team-a/r3", "failed", HOSTILE)

    play(profiles, scene, log=Log(lines, VirtualClock(), form=Format.JSON))


def document(site: Site, other: Beside) -> dict[str, Any]:
    return report_document(other.report, other.comparer.held, site.clock.now().wall)


@dry_run_scene()
async def test_the_document(site: Site, other: Beside) -> None:
    await some_of_each(site, other)
    site.run("r4")
    await site.passes(1)
    told = document(site, other)
    assert json.loads(json.dumps(told)) == told
    assert (told["apiVersion"], told["from"]) == ("kruntimes.io/dry-run/v1", "2026-01-02T03:04:05Z")
    assert (told["agreed"], told["differed"], told["open"]) == (1, 2, 1)
    assert sum(one["count"] for one in told["differences"]) == 2
    (ended,) = (one for one in told["latest"] if one["kind"] == "ended")
    assert (ended["run"], ended["plugin"], ended["detail"]) == ("r3", None, HOSTILE)


@dry_run_scene()
async def test_the_table_counts_by_kind_plugin_and_reason_and_shows_the_last(
    site: Site, other: Beside
) -> None:
    await other.starts_with("r1", "r2", pods={"py-0": 1}, placed={"full": "py-0"})
    other.binds("r1", "py-0")
    other.binds("r2", "py-0")
    await site.passes(1)
    site.run("r3")
    other.binds("r3", "py-0")
    await site.passes(1)
    head, skipped, heading, row = report_lines(document(site, other), Screen())
    assert head == ("dry run from 2026-01-02T03:04:05Z to 2026-01-02T03:04:08Z: 0 agreed, 2 differed, 0 open")
    assert skipped == "not compared: 1 before"
    assert heading.split() == ["KIND", "PLUGIN", "REASON", "RUNS", "CLEAR", "LAST"]
    assert row.split(maxsplit=5) == [
        "placed_waiting", "RuntimePodAvailability", "InsufficientCapacity", "2", "2",
        "team-a/r2: waiting here, py-0 there",
    ]  # fmt: skip


def test_the_latest_hundred_are_kept() -> None:
    report = DryRunReport(began=NOW, log=Log(io.StringIO(), SystemClock()))
    for number in range(150):
        run = make_run(f"r{number}")
        report.differ(Difference(run=run, kind=DifferenceKind.LEFT_WAITING, ours="py-0", theirs="pending"))
    assert report.differed == 150
    assert [one.run.name for one in report.latest] == [f"r{number}" for number in range(50, 150)]


def test_it_is_served_on_the_debug_address_while_it_runs(profiles: Profiles) -> None:
    found: list[Page] = []

    async def scene(site: Site, other: Beside) -> None:
        await some_of_each(site, other)
        found.append(report_page(other.comparer, site.clock))

    async def asked(query: dict[str, str]) -> tuple[str, str]:
        clock = SystemClock()
        endpoints = Endpoints(
            alive=list,
            ready=list,
            metrics=lambda accept: (b"", "text/plain"),
            problems=RequestProblems(Log(io.StringIO(), clock), clock),
            debug={REPORT_PATH: found[0]},
        )
        await endpoints.open(None, None, ListenAddress("127.0.0.1", 0, "--debug-bind-address"))
        host, port = endpoints.listening["debug"]
        async with (
            aiohttp.ClientSession(trust_env=False) as session,
            session.get(f"http://{host}:{port}{REPORT_PATH}", params=query) as answer,
        ):
            told = await answer.text(), answer.content_type
        await endpoints.close()
        return told

    play(profiles, scene)
    text, kind = asyncio.run(asked({}))
    assert (text.splitlines()[0][-28:], kind) == ("1 agreed, 2 differed, 0 open", "text/plain")
    text, kind = asyncio.run(asked({"output": "json"}))
    assert (json.loads(text)["agreed"], kind) == (1, "application/json")
