"""What a round costs the scheduler is counted to its last placement, also where Runs stay unplaced."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from itertools import count
from types import SimpleNamespace
from typing import Any

from kruntimes_core.lab.bench.live.load import BenchLoad, Mode
from kruntimes_core.lab.bench.live.objects import ROLE_LABEL
from kruntimes_core.lab.bench.live.results import round_of
from kruntimes_core.lab.bench.live.round import Loading
from kruntimes_core.lab.bench.live.scheduler import Usage
from kruntimes_core.lab.invariants import RunVersion

PATIENCE = 60.0


class Scene:
    """A round whose waits are scripted: each either brings a placement, or lasts to its end."""

    def __init__(self, *placed: bool) -> None:
        self._placed: Iterator[bool] = iter(placed)
        self.waits: list[float] = []
        site: Any = SimpleNamespace(
            load=BenchLoad(mode=Mode.BURST), observer=SimpleNamespace(until=self._until)
        )
        self.loading = Loading(site, 1, PATIENCE)
        self.loading.book.expected = 3
        # A second of the processor from each look to the next.
        used = count()
        self.loading.release(lambda: Usage(float(next(used)), 1, 1))

    def seconds(self) -> float | None:
        """What the scheduler used, after the round was followed to its end."""
        asyncio.run(self.loading.follow())
        return round_of(
            1,
            self.loading.book,
            waited=False,
            own_versions=(),
            ceiling=[1.0],
            in_flight=1,
            late_seconds=0.0,
        ).processor_seconds

    async def _until(self, holds: Callable[[], bool], seconds: float) -> bool:
        self.waits.append(seconds)
        if next(self._placed):
            number = str(self.loading.book.placed)
            fields: dict[str, Any] = {"namespace": "ns", "name": number, "uid": number, "version": number}
            run = RunVersion(
                **fields, labels={ROLE_LABEL: "load"}, phase="Scheduled", pod="p", pod_uid="P", requests={}
            )
            self.loading.book.heard(run, 0.0)
        return holds()


def test_the_last_placement_is_the_end_where_all_are_placed() -> None:
    scene = Scene(True, True, True)
    # Looks: at the release, the first placement and the last one.
    assert scene.seconds() == 2.0


def test_patience_with_what_is_never_placed_is_of_no_placement() -> None:
    scene = Scene(True, True, False, False)
    # The third look is that after a lull: none follows when patience has run out.
    assert scene.seconds() == 2.0
    assert sum(scene.waits[-2:]) == PATIENCE
    assert scene.waits[-2] < scene.waits[-1]


def test_a_round_goes_on_after_a_lull() -> None:
    scene = Scene(True, False, True, True)
    # The lull was a look too, and not the last one.
    assert scene.seconds() == 3.0
    assert scene.loading.book.done
