"""What a host does with what the API server sends: each object is read once, and nobody else's comes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from pydantic_core import from_json
from virtual.site import Site

from kruntimes_core.cluster.client.transport import Call
from kruntimes_core.cluster.informers import lister_watcher
from kruntimes_core.cluster.scheduler import scheduler
from kruntimes_core.model.decode import Decoder
from tests.unit.cluster.played import scheduler_scene

PODS, RUNS = 20, 30


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the host decoded an object of each kind, and parsed a text of JSON."""
    counts: Counter[str] = Counter()

    class Counted(Decoder):
        """The host's own: the server of the test has another one."""

        def __init__(self) -> None:
            super().__init__()
            for name in ("run", "pod", "workspace"):
                setattr(self, name, _counted(counts, name, getattr(self, name)))

    monkeypatch.setattr(scheduler, "Decoder", Counted)
    monkeypatch.setattr(lister_watcher, "from_json", _counted(counts, "from_json", from_json))
    return counts


def _counted(counts: Counter[str], name: str, function: Callable[..., object]) -> Callable[..., object]:
    def counted(*arguments: object) -> object:
        counts[name] += 1
        return function(*arguments)

    return counted


async def started(site: Site, counts: Counter[str]) -> None:
    """Start, and count what comes from now on."""
    site.start()
    await site.passes(1)
    counts.clear()


@scheduler_scene()
async def test_a_start_reads_each_object_once(site: Site, read: Counter[str]) -> None:
    for number in range(PODS):
        site.pod(f"py-{number}")
    for number in range(RUNS):
        site.run(f"r{number}", pod="py-0", phase="Succeeded")
    site.start()
    await site.passes(1)
    # A text for the list of each resource.
    assert read == {"pod": PODS, "run": RUNS, "from_json": 3}


@scheduler_scene()
async def test_a_placement_is_read_as_it_comes_and_as_it_is_bound(site: Site, read: Counter[str]) -> None:
    site.pod("py-0", runs=RUNS)
    await started(site, read)
    for number in range(RUNS):
        site.run(f"r{number}")
    await site.passes(1)
    assert all(site.pod_of(f"r{number}") for number in range(RUNS))
    assert read == {"run": 2 * RUNS, "from_json": 2 * RUNS}


@scheduler_scene()
async def test_a_heartbeat_is_read_once(site: Site, read: Counter[str]) -> None:
    for number in range(PODS):
        site.pod(f"py-{number}")
    await started(site, read)
    await site.passes(5)
    assert read == {"pod": PODS, "from_json": PODS}


@scheduler_scene()
async def test_a_watch_that_breaks_brings_nothing_again(site: Site, read: Counter[str]) -> None:
    for number in range(PODS):
        site.pod(f"py-{number}")
        site.run(f"r{number}", pod=f"py-{number}")
    await started(site, read)
    lists = [site.api.count("list", plural) for plural in ("pods", "runs")]
    opened = site.api.count("watch", "runs")
    for stream in site.api.streams:
        stream.cut()
    await site.passes(3)
    assert site.api.count("watch", "runs") == opened + 1
    assert [site.api.count("list", plural) for plural in ("pods", "runs")] == lists
    assert read == {}


@scheduler_scene()
async def test_no_pod_of_somebody_else_and_no_silence_is_asked_for(site: Site) -> None:
    """A cluster has many Pods without Runtime; and bookmarks save the list after a quiet time."""
    site.start()
    await site.passes(1)
    asked: dict[tuple[str, str], Call] = {(to.verb, to.plural): call for _, to, call in site.api.calls}
    for verb in ("list", "watch"):
        assert ("labelSelector", "runtime") in asked[verb, "pods"].query
    for plural in ("pods", "runs", "persistentworkspaces"):
        assert ("allowWatchBookmarks", "true") in asked["watch", plural].query
