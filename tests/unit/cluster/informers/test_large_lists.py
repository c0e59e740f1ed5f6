"""Lists of large objects: pages are kept small, and of what they said only what is needed is kept."""

from __future__ import annotations

import gc
import json
import tracemalloc
from typing import Any

from virtual.time import VirtualClock, run_virtual

from kruntimes_core.cluster.client.transport import Call, Response
from kruntimes_core.cluster.informers.event_handler import resource_event_handlers
from kruntimes_core.cluster.informers.lister_watcher import ListerWatcher, ResourceList
from kruntimes_core.model.decode import Decoder
from kruntimes_core.testing.objects import run_object

SOURCE = 200_000


class Pages:
    """A server with many large Runs."""

    def __init__(self, count: int, size: int) -> None:
        self.count = count
        self.size = size
        self.limits: list[int] = []

    async def request(self, call: Call) -> Response:
        query = dict(call.query)
        start, limit = int(query.get("continue", 0)), int(query["limit"])
        self.limits.append(limit)
        end = min(start + limit, self.count)
        metadata: dict[str, Any] = {"resourceVersion": "77"}
        if end < self.count:
            metadata["continue"] = str(end)
        items = [self._run(number) for number in range(start, end)]
        return Response(200, json.dumps({"metadata": metadata, "items": items}).encode())

    def _run(self, number: int) -> dict[str, Any]:
        fields = [{"manager": "kubectl", "fieldsV1": {"f:spec": {"x" * 1_000: {}}}}]
        return run_object(
            f"r{number}", spec={"source": {"inline": "x" * self.size}}, metadata={"managedFields": fields}
        )


def listed(pages: Pages) -> ResourceList:
    handlers = resource_event_handlers(Decoder(), None, lambda event: None)
    (runs,) = (handler for handler in handlers if handler.resource.plural == "runs")
    transport: Any = pages

    async def main() -> ResourceList:
        return await ListerWatcher(transport, runs, VirtualClock()).list()

    return run_virtual(main())


def test_pages_of_large_objects_are_short_and_those_of_small_ones_long() -> None:
    large, small = Pages(200, SOURCE), Pages(1_500, 10)
    assert len(listed(large).observations) == 200
    assert large.limits == [100, 39, 39, 39]
    assert len(listed(small).observations) == 1_500
    assert small.limits == [100, 1_000, 1_000]


def test_nothing_is_kept_of_sources_and_managed_fields() -> None:
    pages = Pages(150, SOURCE)
    tracemalloc.start()
    try:
        found = listed(pages)
        gc.collect()
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found.observations) == 150
    assert kept < 1_500_000
    # A page as bytes, as objects, and what this test makes of it.
    assert peak < 150_000_000
