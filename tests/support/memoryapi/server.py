"""A `Transport` that ends in an API server in memory, and whatever may go wrong on the way to it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

from virtual.calls import KINDS, Fault, Target, inside, status, target

from kruntimes_core.cluster.client.transport import Call, MaybeSentError, Response, StreamRefusedError
from kruntimes_core.engine.api_calls import Applied, PendingText, Write, WriteKind
from kruntimes_core.testing.harness import ObjectTracker
from memoryapi.streams import Stream


class MemoryApi:
    """Lists with pages, watches with versions, patches and reads; all in the loop's own time."""

    def __init__(self, server: ObjectTracker) -> None:
        self.server = server
        self.calls: list[tuple[float, Target, Call]] = []
        """All calls with their time."""
        self.faults: list[Fault] = []
        self.streams: list[Stream] = []
        """The watches that are open."""
        self.page_size: int | None = None
        """The most items that a page has, whatever was asked for."""
        self.oldest = 0
        """Watches from older versions are answered with 410."""
        self.lag_seconds: dict[str, float] = {}
        """How much later than it happened a watch tells of an event, for each resource."""
        self.missing: set[str] = set()
        """Resources that are not served."""
        self.closed = False
        self._pages: dict[str, tuple[str, list[Any]]] = {}

    def count(self, verb: str, plural: str) -> int:
        """How many calls there were."""
        return sum((one.verb, one.plural) == (verb, plural) for _, one, _ in self.calls)

    # Transport

    async def request(self, call: Call) -> Response:
        """See `Transport`."""
        self._note(call)
        try:
            async with asyncio.timeout(call.timeout_seconds):
                return await self._disturbed(call) or self._serve(call, target(call))
        except TimeoutError as error:
            raise MaybeSentError(f"no answer within {call.timeout_seconds:g} s") from error

    async def stream(self, call: Call) -> AsyncGenerator[bytes, None]:
        """See `Transport`."""
        self._note(call)
        what = target(call)
        answer = await self._disturbed(call)
        version = int(dict(call.query)["resourceVersion"])
        if answer is None and what.plural in self.missing:
            answer = status(404, "NotFound")
        if answer is None and version < self.oldest:
            answer = status(410, "Expired", "too old resource version")
        if answer is not None:
            raise StreamRefusedError(answer)
        stream = Stream(self.server, what, lambda: self.lag_seconds.get(what.plural, 0.0))
        self.streams.append(stream)
        try:
            async with asyncio.timeout(call.timeout_seconds):
                async for chunk in stream.chunks(version, int(dict(call.query)["timeoutSeconds"])):
                    yield chunk
        except TimeoutError as error:
            raise MaybeSentError("no end in time") from error
        finally:
            self.streams.remove(stream)

    async def close(self) -> None:
        """See `Transport`."""
        self.closed = True

    # Inside

    def _note(self, call: Call) -> None:
        self.calls.append((asyncio.get_running_loop().time(), target(call), call))

    async def _disturbed(self, call: Call) -> Response | None:
        await asyncio.sleep(0)
        for fault in list(self.faults):
            answer = await fault(call)
            if answer is not None:
                return answer
        return None

    def _serve(self, call: Call, what: Target) -> Response:
        if call.path == "/version":
            return Response(200, b"{}")
        if what.plural in self.missing:
            return Response(404, b"404 page not found")
        if what.verb == "list":
            return self._list(call, what)
        if what.verb == "patch":
            return self._patch(call, what)
        kind, name = KINDS[what.plural], (what.namespace or "", what.name or "")
        if not self.server.exists(kind, *name):
            return status(404, "NotFound")
        return Response(200, json.dumps(self.server.get(kind, *name)).encode())

    def _list(self, call: Call, what: Target) -> Response:
        query = dict(call.query)
        if "continue" in query:
            version, items = self._pages.pop(query["continue"])
        else:
            listing = self.server.list(KINDS[what.plural])
            version, items = listing.version, [o for o in listing.objects if inside(o, what)]
        limit = int(query.get("limit", len(items) or 1))
        limit = min(limit, self.page_size) if self.page_size and "limit" in query else limit
        metadata: dict[str, Any] = {"resourceVersion": version}
        if items[limit:]:
            metadata["continue"] = f"token-{len(self.calls)}"
            self._pages[metadata["continue"]] = (version, items[limit:])
        return Response(200, json.dumps({"metadata": metadata, "items": items[:limit]}).encode())

    def _patch(self, call: Call, what: Target) -> Response:
        write = Write(
            namespace=what.namespace or "",
            name=what.name or "",
            uid="",
            kind=WriteKind.TEXT,
            guard="",
            body=json.loads(call.body or b""),
            pending=PendingText(""),
        )
        answer = self.server.patch_status(write)
        if isinstance(answer, Applied):
            return Response(200, json.dumps({"metadata": {"resourceVersion": answer.version}}).encode())
        return status(answer.status, {404: "NotFound", 409: "Conflict"}[answer.status])
