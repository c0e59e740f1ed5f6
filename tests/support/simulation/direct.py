"""A `Transport` that ends in an `ApiServer` in the same process, so that virtual time can pass."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

from kruntimes_core.cluster.client.transport import Call, Response, StreamRefusedError
from kruntimes_core.lab.apiserver.errors import ApiError
from kruntimes_core.lab.apiserver.http.negotiation import list_options
from kruntimes_core.lab.apiserver.http.serving import ReceivedRequest, renderer_of, sent_error, serve
from kruntimes_core.lab.apiserver.http.watching import WatchHandler
from kruntimes_core.lab.apiserver.requests import RequestInfo, request_info
from kruntimes_core.lab.apiserver.server import ApiServer

Fault = Callable[[Call], Awaitable[Response | None]]
"""May answer a call in place of the server, or raise."""
_BOOKMARK_SECONDS = 60.0


class DirectTransport:
    """Answers each call at once, and remembers it."""

    def __init__(self, api: ApiServer) -> None:
        self._api = api
        self.calls: list[Call] = []
        self.faults: list[Fault] = []

    async def request(self, call: Call) -> Response:
        """See `Transport`."""
        self.calls.append(call)
        await asyncio.sleep(0)
        for fault in self.faults:
            answer = await fault(call)
            if answer is not None:
                return answer
        sent = serve(self._api, *self._received(call, watch=False))
        return Response(sent.code, sent.body)

    async def stream(self, call: Call) -> AsyncGenerator[bytes, None]:
        """See `Transport`."""
        request, info = self._received(call, watch=True)
        renderer, options = renderer_of(self._api, request, info), list_options(request.query)
        chunks: asyncio.Queue[bytes] = asyncio.Queue()
        try:
            watch = WatchHandler(self._api, info, renderer, options, _BOOKMARK_SECONDS)
        except ApiError as error:
            raise StreamRefusedError(Response(error.code, sent_error(error).body)) from error
        serving = asyncio.create_task(watch.serve(chunks.put))
        serving.add_done_callback(lambda _: chunks.put_nowait(b""))
        try:
            yield b""
            while chunk := await chunks.get():
                yield chunk
        finally:
            serving.cancel()

    def _received(self, call: Call, *, watch: bool) -> tuple[ReceivedRequest, RequestInfo]:
        segments = call.path.strip("/").split("/")
        info = request_info(self._api.resources, call.method, segments, watch=watch, continued=False)
        content_type = call.headers.get("content-type", "application/json")
        query, body = dict(call.query), call.body or b""
        request = ReceivedRequest(call.method, call.path, query, info, content_type=content_type, body=body)
        return request, info

    async def close(self) -> None:
        """There is nothing to close."""
