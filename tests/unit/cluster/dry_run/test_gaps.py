"""What happened while a dry run did not follow is not compared, and holds nothing for ever."""

from __future__ import annotations

from dataclasses import replace

import pytest
from dryrun.site import PATIENCE_SECONDS, Beside, play
from memoryapi.calls import status, target
from memoryapi.site import Site

from kruntimes_core.cluster.client.transport import Call, Response
from kruntimes_core.engine.events import RunObserved
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.testing.builders import NAMESPACE
from kruntimes_core.testing.harness import RUNS
from tests.unit.cluster.played import dry_run_scene


async def lists_anew(site: Site) -> None:
    """All watches break, and are too old to go on from."""
    site.api.oldest = int(site.server.list("Run").version) + 1
    for stream in site.api.streams:
        stream.cut = True
    await site.passes(10)


@dry_run_scene()
async def test_what_a_list_shows_was_not_seen_to_happen(site: Site, other: Beside) -> None:
    await other.starts_with("r1", "r2", pods={"py-0": 2})
    for stream in site.api.streams:
        stream.silent = True
    other.binds("r1", "py-0")
    site.delete("r2")
    for stream in site.api.streams:
        stream.silent = False
    await lists_anew(site)
    assert other.counts() == (0, 0, {"gap": 1, "gone": 1})
    assert other.comparer.held == 0


@dry_run_scene()
async def test_what_was_left_is_forgotten_once_a_list_does_not_show_it(site: Site, other: Beside) -> None:
    await other.starts_with("r1", pods={"py-0": 1}, seconds=PATIENCE_SECONDS + 2, uid="uid-1")
    assert other.counts() == (0, 1, {})
    for stream in site.api.streams:
        stream.silent = True
    site.delete("r1")
    for stream in site.api.streams:
        stream.silent = False
    await lists_anew(site)
    site.run("r1", uid="uid-1")
    await site.passes(1)
    other.binds("r1", "py-0")
    await site.passes(1)
    assert other.counts() == (1, 1, {})


def test_no_time_runs_out_while_nothing_is_decided(profiles: Profiles) -> None:
    async def no_pods(call: Call) -> Response | None:
        forbidden = target(call).plural == "pods"
        return status(403, "Forbidden", "pods is forbidden") if forbidden else None

    async def scene(site: Site, other: Beside) -> None:
        await other.starts_with("r1", pods={"py-0": 1})
        site.api.faults.append(no_pods)
        for stream in site.api.streams:
            stream.cut = stream.plural == "pods"
        await site.passes(PATIENCE_SECONDS + 2)
        assert any("forbidden" in why for why in site.why_not_ready())
        assert other.counts() == (0, 0, {"gap": 1})
        assert other.comparer.held == 0
        site.api.faults.clear()
        await site.passes(5)
        other.binds("r1", "py-0")
        await site.passes(1)
        assert other.counts() == (1, 0, {"gap": 1})

    play(profiles, scene)


def test_what_is_placed_while_nothing_is_decided_is_not_compared(profiles: Profiles) -> None:
    async def no_pods(call: Call) -> Response | None:
        return status(500) if target(call).plural == "pods" else None

    async def scene(site: Site, other: Beside) -> None:
        await other.starts_with("r1", pods={"py-0": 1})
        site.api.faults.append(no_pods)
        for stream in site.api.streams:
            stream.cut = stream.plural == "pods"
        await site.passes(1)
        other.binds("r1", "py-0")
        await site.passes(1)
        assert other.counts() == (0, 0, {"gap": 1})
        assert other.comparer.held == 0

    play(profiles, scene)


@pytest.mark.parametrize("pod", ["py-0", "py-1"])
@dry_run_scene()
async def test_what_only_a_read_shows_was_not_seen_to_happen(site: Site, other: Beside, pod: str) -> None:
    await other.starts_with("r1", pods={"py-0": 1, "py-1": 1})
    for stream in site.api.streams:
        stream.silent = True
    other.binds("r1", pod)
    # A version that cannot be ordered makes the engine read the Run.
    seen = site.server.decoder.run(site.server.get(RUNS, NAMESPACE, "r1"))
    site.host.observed(RunObserved(replace(seen, version="odd")))
    await site.passes(1)
    assert site.api.count("get", "runs") == 1
    assert other.counts() == (0, 0, {"gap": 1})
    assert other.comparer.held == 0
