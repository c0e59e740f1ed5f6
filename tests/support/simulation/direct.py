"""A `Transport` that ends in an `ApiServer` in the same process, so that virtual time can pass."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

from kruntimes_core.cluster.client.transport import Call, Response, StreamRefusedError
from kruntimes_core.lab.apiserver.errors import ApiError
from kruntimes_core.lab.apiserver.faults.faults import Faults
from kruntimes_core.lab.apiserver.http.negotiation import list_options
from kruntimes_core.lab.apiserver.http.serving import renderer_of, sent_error, serve
from kruntimes_core.lab.apiserver.http.watching import WatchHandler
from kruntimes_core.lab.apiserver.requests import request_info
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
        meant = request_info(
            self._api.resources, call.method, call.path.strip("/").split("/"), watch=False, continued=False
        )
        content_type = call.headers.get("content-type", "application/json")
        try:
            sent = serve(self._api, meant, dict(call.query), "", content_type, call.body or b"", None)
        except ApiError as error:
            sent = sent_error(error)
        return Response(sent.code, sent.body)

    async def stream(self, call: Call) -> AsyncGenerator[bytes, None]:
        """See `Transport`."""
        query = dict(call.query)
        meant = request_info(
            self._api.resources, call.method, call.path.strip("/").split("/"), watch=True, continued=False
        )
        renderer = renderer_of(self._api, meant, query, "")
        chunks: asyncio.Queue[bytes] = asyncio.Queue()
        try:
            teller = WatchHandler(
                self._api, Faults(), meant, renderer, list_options(query), _BOOKMARK_SECONDS
            )
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
