"""The bytes of a request, and of its answer: what HTTP itself asks for."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NoReturn

from aiohttp import web

from kruntimes_core.lab.apiserver.form_errors import too_large_body
from kruntimes_core.lab.apiserver.http.answers import Sent

_MAX_BODY_BYTES = 3 * 1024 * 1024


def segments_of(request: web.BaseRequest) -> list[str]:
    """The parts of the path."""
    return [segment for segment in request.path.split("/") if segment]


async def body_of(request: web.BaseRequest) -> bytes:
    """The whole body. Raises `ApiError` (413) for one that is too large."""
    if not request.can_read_body:
        return b""
    parts: list[bytes] = []
    size = 0
    while part := await request.content.readany():
        size += len(part)
        # What is too much is read to its end all the same, or the client would not read the answer.
        if size <= _MAX_BODY_BYTES:
            parts.append(part)
    if size > _MAX_BODY_BYTES:
        raise too_large_body(_MAX_BODY_BYTES)
    return b"".join(parts)


async def drop(request: web.BaseRequest) -> NoReturn:
    """Drop the connection, so that there is no answer."""
    if request.transport is not None:
        request.transport.abort()
    await forever()


async def forever() -> NoReturn:
    """Until this handler is cancelled, because its connection or the server is gone."""
    await asyncio.get_running_loop().create_future()
    raise asyncio.CancelledError


def response_of(sent: Sent) -> web.Response:
    """The answer as it goes out."""
    headers = {"Content-Type": sent.content_type, "Cache-Control": "no-cache, private", **sent.headers}
    response = web.Response(status=sent.code, body=sent.body, headers=headers)
    for warning in _quoted(sent.warnings):
        response.headers.add("Warning", f"299 - {warning}")
    return response


def _quoted(warnings: Sequence[str]) -> Sequence[str]:
    return ['"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' for text in warnings]
