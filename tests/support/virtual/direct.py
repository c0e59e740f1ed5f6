"""A `Transport` that ends in an `ApiServer` in the same process, so that virtual time can pass."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from kruntimes_core.cluster.client.transport import Call, Response, StreamRefusedError
from kruntimes_core.lab.apiserver.errors import ApiError
from kruntimes_core.lab.apiserver.http.negotiation import list_options
from kruntimes_core.lab.apiserver.http.serving import ReceivedRequest, renderer_of, sent_error, serve
from kruntimes_core.lab.apiserver.http.watching import WatchHandler
from kruntimes_core.lab.apiserver.requests import PlainNotFound, RequestInfo, request_info
from kruntimes_core.lab.apiserver.server import ApiServer

_BOOKMARK_SECONDS = 60.0


class DirectTransport:
    """Answers each call at once."""

    def __init__(self, api: ApiServer) -> None:
        self._api = api

    async def request(self, call: Call) -> Response:
        """See `Transport`."""
        return self.serve(call)

    def serve(self, call: Call) -> Response:
        """What the server answers to a call."""
        if call.path == "/version":
            return Response(200, b"{}")
        try:
            sent = serve(self._api, *self._received(call, watch=False))
        except PlainNotFound:
            return Response(404, b"404 page not found")
        except ApiError as error:
            sent = sent_error(error)
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
