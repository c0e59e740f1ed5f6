"""What arrives at a development cluster, and when."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kruntimes_core.lab.apiserver.errors import ApiError
from kruntimes_core.lab.apiserver.server import ApiServer
from kruntimes_core.lab.dev import manifests
from kruntimes_core.lab.dev.manifests import NAMESPACE, Object

_PLURALS = {"Run": "runs", "PersistentWorkspace": "persistentworkspaces"}
_CONFLICT = 409


@dataclass(frozen=True, slots=True)
class Arrival:
    """Objects that come together, some seconds after the arrival before."""

    after_seconds: float
    objects: tuple[Object, ...]


def plain(runtimes: Sequence[str]) -> Iterator[Arrival]:
    """Runs without wishes, all at once, for one Runtime after the other. Endless."""
    number = 0
    while True:
        name = f"run-{number + 1:04}"
        yield Arrival(0.0, (manifests.run(name, runtimes[number % len(runtimes)]),))
        number += 1


def first_runs(arrivals: Iterable[Arrival], number: int) -> Iterator[Arrival]:
    """Arrivals up to and with the Run of this number."""
    left = number
    for arrival in arrivals:
        objects = []
        for obj in arrival.objects:
            is_run = obj["kind"] == "Run"
            if is_run and not left:
                continue
            left -= is_run
            objects.append(obj)
        yield Arrival(arrival.after_seconds, tuple(objects))
        if not left:
            return


async def feed(api: ApiServer, arrivals: Iterable[Arrival]) -> None:
    """Create what arrives. A workspace that is there already is used again."""
    for arrival in arrivals:
        await asyncio.sleep(arrival.after_seconds)
        for obj in arrival.objects:
            _create(api, obj)


def _create(api: ApiServer, obj: Object) -> None:
    try:
        api.create(api.resources.named(_PLURALS[obj["kind"]]), NAMESPACE, obj)
    except ApiError as error:
        if error.code != _CONFLICT:
            raise
