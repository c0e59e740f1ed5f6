"""Choosing a connection and trying it, so that a start that cannot work ends at once with one line."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pydantic_core

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.connection.connection import Connection
from kruntimes_core.cluster.connection.incluster import connect_in_cluster, in_cluster
from kruntimes_core.cluster.connection.kubeconfig import connect_by_kubeconfig
from kruntimes_core.cluster.transport.protocol import Call, Response, Transport, TransportError
from kruntimes_core.engine.clock import SECOND
from kruntimes_core.model.messages import InputError

_CALL_SECONDS = 5.0
_PAUSE_SECONDS = 0.5
PATIENCE_SECONDS = 5.0
"""How long a server may still be starting."""
_NEVER = (400, 404)
"""What no API server answers to the question for its version: one behind TLS that was asked without, or
something else altogether."""
_QUOTED = 80
"""So many bytes of a strange answer are quoted."""


async def connect(
    kubeconfig: str | None, context: str | None, environment: Mapping[str, str], clock: Clock
) -> Connection:
    """The connection that options and environment mean: a kubeconfig that is named, else the Pod's own,
    else the default kubeconfig. Raises `InputError`.
    """
    if kubeconfig is None and context is None and in_cluster(environment):
        return connect_in_cluster(environment, clock)
    return await connect_by_kubeconfig(kubeconfig, context, environment, clock)


async def try_connection(transport: Transport, connection: Connection, clock: Clock) -> None:
    """Ask the server for its version. One that is still starting, or refuses to tell, is given a chance.

    Raises `InputError` when it is not reached, does not accept the credentials, or is something else.
    """
    where = f"the API server at {connection.server} ({connection.origin})"
    response = await _answer(transport, where, clock)
    if response.status == 401:
        raise InputError(f"{where} does not accept the credentials: log in again, or choose another context")
    if response.status in _NEVER or (response.status < 400 and not _is_version(response)):
        said = " ".join(response.body[:_QUOTED].decode(errors="replace").split())
        answer = f"{response.status}: {said}" if said else f"{response.status}"
        raise InputError(f"{where} does not answer as one does ({answer}): name the right server")


def _is_version(response: Response) -> bool:
    """Whether an answer is that of an API server: an object with its version."""
    try:
        answer = pydantic_core.from_json(response.body)
    except ValueError:
        return False
    return response.status == 200 and isinstance(answer, dict) and "major" in answer


async def _answer(transport: Transport, where: str, clock: Clock) -> Response:
    given_up_at = clock.now().ticks + round(PATIENCE_SECONDS * SECOND)
    call = Call(method="GET", path="/version", timeout_seconds=_CALL_SECONDS)
    while True:
        try:
            return await transport.request(call)
        except TransportError as error:
            if error.lasting or clock.now().ticks >= given_up_at:
                raise InputError(f"cannot reach {where}: {error}") from error
        await asyncio.sleep(_PAUSE_SECONDS)
