"""A `Transport` that ends in an embedded API server in the same process, so that virtual time can pass."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from kruntimes_core.cluster.client.transport import Call, Response, StreamRefusedError
from kruntimes_core.lab.apiserver.faults.faults import Faults
from kruntimes_core.lab.apiserver.http.answers import sent_error
from kruntimes_core.lab.apiserver.http.serving import renderer_of, serve
from kruntimes_core.lab.apiserver.http.watching import Teller
from kruntimes_core.lab.apiserver.paths import PlainNotFound, find_call
from kruntimes_core.lab.apiserver.queries import list_options
from kruntimes_core.lab.apiserver.server import ApiServer
from kruntimes_core.lab.apiserver.status import ApiError

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
        segments = call.path.strip("/").split("/")
        content_type = call.headers.get("content-type", "application/json")
        try:
            meant = find_call(self._api.resources, call.method, segments, watch=False, continued=False)
            sent = serve(self._api, meant, dict(call.query), "", content_type, call.body or b"", None)
        except ApiError as error:
            sent = sent_error(error)
        except PlainNotFound:
            return Response(404, b"404 page not found")
        return Response(sent.code, sent.body)

    async def stream(self, call: Call) -> AsyncGenerator[bytes, None]:
        """See `Transport`."""
        query = dict(call.query)
        meant = find_call(
            self._api.resources, call.method, call.path.strip("/").split("/"), watch=True, continued=False
        )
        renderer = renderer_of(self._api, meant, query, "")
        chunks: asyncio.Queue[bytes] = asyncio.Queue()
        try:
            teller = Teller(self._api, Faults(), meant, renderer, list_options(query), _BOOKMARK_SECONDS)
        except ApiError as error:
            raise StreamRefusedError(Response(error.code, sent_error(error).body)) from error
        telling = asyncio.create_task(teller.tell(chunks.put))
        telling.add_done_callback(lambda _: chunks.put_nowait(b""))
        try:
            yield b""
            while chunk := await chunks.get():
                yield chunk
        finally:
            telling.cancel()

    async def close(self) -> None:
        """There is nothing to close."""
