"""Requests of the bench: repeated until they succeed, bounded in number at a time, and counted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from pydantic_core import from_json

from kruntimes_core.cluster.client.connection import Connection
from kruntimes_core.cluster.client.errors import status_of
from kruntimes_core.cluster.client.resources import RUNS, ApiResource
from kruntimes_core.cluster.client.transport import Call, MaybeSentError, Query, Response, Transport
from kruntimes_core.lab.bench.objects import Object
from kruntimes_core.model.messages import InputError

NAMESPACES = ApiResource(plural="namespaces")
GONE, FORBIDDEN = 404, 403
TIMEOUT_SECONDS = 60.0
# A Run that comes back whole costs the server and us more than its name and version.
_METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
_METADATA_LIST = _METADATA.replace("Metadata;", "MetadataList;")
_BUSY = frozenset({429, 503})
_TIMED_OUT = 504
_ATTEMPTS = 10


class RefusedError(InputError):
    """The API server refused what the bench cannot do without. `code`: the HTTP status."""

    def __init__(self, verb: str, what: str, response: Response) -> None:
        status = status_of(response, datetime.now(UTC))
        super().__init__(f"the API server refuses to {verb} {what}: {response.status} {status.message}")
        self.code = response.status


class Api:
    """What the bench asks of the API server. Whatever is refused raises `RefusedError`."""

    def __init__(self, transport: Transport, in_flight: int) -> None:
        """in_flight: requests at a time; more wait for their turn."""
        self.transport = transport
        self.own_versions: set[str] = set()
        """The resourceVersions that writes of the bench made."""
        self._places = asyncio.Semaphore(in_flight)

    def lane(self, in_flight: int) -> Api:
        """The same for requests that must not wait behind those of this one."""
        other = Api(self.transport, in_flight)
        other.own_versions = self.own_versions
        return other

    async def get(self, path: str, query: Query = ()) -> Response:
        """Read anything; the answer as it is, whatever its status."""
        return await self._send("GET", path, query=query, accept="application/json")

    async def list(
        self, resource: ApiResource, namespace: str | None = None, query: Query = ()
    ) -> Mapping[str, Any]:
        """A list, of all namespaces without one."""
        response = await self.get(resource.path(namespace), query)
        listed: dict[str, Any] = from_json(_accepted("list", resource, response).body)
        return listed

    async def create(self, resource: ApiResource, body: Object, namespace: str | None = None) -> Object:
        """Create an object; returns its metadata."""
        response = await self._send("POST", resource.path(namespace), body)
        return self._metadata(_accepted("create", resource, response))

    async def patch_status(self, resource: ApiResource, namespace: str, name: str, body: Object) -> Object:
        """Merge into the status of an object; returns its metadata."""
        response = await self._send("PATCH", resource.path(namespace, name, "status"), body)
        return self._metadata(_accepted("patch", resource, response))

    async def delete(self, resource: ApiResource, namespace: str | None, name: str) -> None:
        """Delete an object, if it is there."""
        response = await self._send("DELETE", resource.path(namespace, name))
        if response.status != GONE:
            _accepted("delete", resource, response)

    async def delete_all(self, resource: ApiResource, namespace: str, query: Query = ()) -> None:
        """Delete the objects of a namespace at once, until there is none. query: a selector."""
        asked = (*query, ("gracePeriodSeconds", "0"))
        for _ in range(_ATTEMPTS):
            # What takes longer than the server waits for is done in part.
            with suppress(MaybeSentError):
                response = await self._send("DELETE", resource.path(namespace), None, asked, _METADATA_LIST)
                if response.status != _TIMED_OUT:
                    _accepted("delete", resource, response)
            if not (await self.list(resource, namespace, (*query, ("limit", "1")))).get("items"):
                return
        raise InputError(f"{resource.title} of {namespace} still exist after {_ATTEMPTS} deletions")

    async def _send(
        self, method: str, path: str, body: Object | None = None, query: Query = (), accept: str = _METADATA
    ) -> Response:
        headers = {"accept": accept}
        if method == "PATCH":
            headers["content-type"] = "application/merge-patch+json"
        call = Call(
            method=method,
            path=path,
            query=query,
            headers=headers,
            body=None if body is None else json.dumps(body, separators=(",", ":")).encode(),
            timeout_seconds=TIMEOUT_SECONDS,
        )
        for _ in range(_ATTEMPTS):
            async with self._places:
                response = await self.transport.request(call)
            if response.status not in _BUSY:
                break
            asked = status_of(response, datetime.now(UTC)).retry_after
            await asyncio.sleep(min(asked or 1.0, 5.0))
        return response

    def _metadata(self, response: Response) -> Object:
        metadata: Object = from_json(response.body)["metadata"]
        self.own_versions.add(metadata["resourceVersion"])
        return metadata


def _accepted(verb: str, resource: ApiResource, response: Response) -> Response:
    if response.status not in (200, 201, 202):
        raise RefusedError(verb, resource.title, response)
    return response


# Whether a server may be loaded, and has what it takes


def is_loopback(connection: Connection) -> bool:
    """Whether the server is on this machine, as far as its address tells."""
    host = (urlsplit(connection.server).hostname or "").lower()
    if connection.proxy is not None:
        return False
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_loopback(connection: Connection) -> None:
    """Raises `InputError` for a server that is not on this machine."""
    if not is_loopback(connection):
        where = "not on this machine" if connection.proxy is None else "behind a proxy"
        raise InputError(
            f"{connection.server} ({connection.origin}) is {where}, and a bench loads a"
            " server as hard as it can: add --yes-load-this-cluster if that is what you want"
        )


async def check_crds(api: Api) -> None:
    """Raises `InputError` if Runs are not served."""
    answer = await api.get(f"/apis/{RUNS.group}/{RUNS.version}")
    names = [one["name"] for one in from_json(answer.body)["resources"]] if answer.status == 200 else []
    if not {RUNS.plural, f"{RUNS.plural}/status"} <= set(names):
        raise InputError(
            f"the API server does not serve {RUNS.title}: install the CRDs,"
            " as by kubectl apply -f deploy/crds"
        )


async def version_of(api: Api) -> str:
    """What the server says it is."""
    answer = await api.get("/version")
    return str(from_json(answer.body).get("gitVersion", "")) if answer.status == 200 else ""


# Tasks side by side: the first that fails ends them all, and its error is the one that is raised


async def together(work: Iterable[Coroutine[Any, Any, object]]) -> None:
    """Do everything at the same time."""
    async with beside(()) as group:
        for one in work:
            group.create_task(one)


@asynccontextmanager
async def beside(endless: Iterable[Coroutine[Any, Any, None]]) -> AsyncIterator[asyncio.TaskGroup]:
    """Let `endless` work go on while the block lasts; what fails in it fails the block."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in endless]
            yield group
            for task in tasks:
                task.cancel()
    except BaseExceptionGroup as errors:
        first: BaseException = errors
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from errors
