"""The three requests that an election makes, for one Lease: get, create and update."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json

from kruntimes_core.cluster.clock import Clock
from kruntimes_core.cluster.failures import ApiFailure, refused, unavailable
from kruntimes_core.cluster.leading.record import Lease
from kruntimes_core.cluster.resources import Resource
from kruntimes_core.cluster.statuses import status_of
from kruntimes_core.cluster.transport.protocol import Call, Gate, Response, Transport, TransportError

LEASE = "kruntimes-scheduler.kruntimes.com"
"""The name that the reference scheduler uses too (API contract): the two never lead together."""
LEASES = Resource(plural="leases", group="coordination.k8s.io")
VERBS = ("get", "create", "update")
OUTCOMES = ("done", "conflict", "missing", "failed")


class LeaseConflictError(Exception):
    """Somebody else wrote the Lease, or created it, before."""


class Leases:
    """One Lease of one namespace. Every failure but those two answers is an `ApiFailure`."""

    def __init__(self, transport: Transport, clock: Clock, namespace: str, seconds: float) -> None:
        """seconds: the limit of each request, here and at the server."""
        self._transport = transport
        self._clock = clock
        self._seconds = seconds
        self.namespace = namespace
        self.outcomes: Counter[tuple[str, str]] = Counter()
        """(verb, outcome)."""

    async def get(self) -> Lease | None:
        """The Lease as it stands, read consistently; None if there is none."""
        response = await self._send("get", Call(method="GET", path=self._path, timeout_seconds=self._seconds))
        return self._lease("get", response) if response is not None else None

    async def create(self, spec: Mapping[str, Any]) -> Lease:
        """A new one. Raises `LeaseConflictError` if there is one."""
        body = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": LEASE, "namespace": self.namespace},
            "spec": spec,
        }
        return await self._write("create", "POST", LEASES.path(self.namespace), body, None)

    async def replace(self, lease: Lease, spec: Mapping[str, Any], gate: Gate | None) -> Lease:
        """Another record in the version that was read. gate: asked when the bytes are handed over.

        Raises `LeaseConflictError` for any other version, and for a Lease that is gone.
        """
        return await self._write("update", "PUT", self._path, {**lease.object, "spec": spec}, gate)

    # Inside

    @property
    def _title(self) -> str:
        return f"{LEASES.title} in {self.namespace}"

    @property
    def _path(self) -> str:
        return LEASES.path(self.namespace, LEASE)

    async def _write(
        self, verb: str, method: str, path: str, body: Mapping[str, Any], gate: Gate | None
    ) -> Lease:
        call = Call(
            method=method,
            path=path,
            query=(("timeout", f"{self._seconds:g}s"),),
            headers={"content-type": "application/json"},
            body=json.dumps(body).encode(),
            timeout_seconds=self._seconds,
            gate=gate,
        )
        response = await self._send(verb, call)
        if response is None and verb == "update":
            raise LeaseConflictError
        if response is None:
            raise self._failed(verb, "there is no such namespace: create it, or give --lease-namespace")
        return self._lease(verb, response)

    async def _send(self, verb: str, call: Call) -> Response | None:
        """The answer, if it is good; None for one that is not there."""
        try:
            response = await self._transport.request(call)
        except TransportError as error:
            raise self._failed(verb, error) from error
        status = status_of(response, self._clock.now().wall)
        if response.status in (200, 201):
            return response
        if status.code == 404 and status.is_api and status.reason == "NotFound":
            self.outcomes[verb, "missing"] += 1
            return None
        if response.status == 409:
            self.outcomes[verb, "conflict"] += 1
            raise LeaseConflictError
        self.outcomes[verb, "failed"] += 1
        raise refused(status, verb, self._title)

    def _lease(self, verb: str, response: Response) -> Lease:
        try:
            body = from_json(response.body)
            known = isinstance(body["metadata"]["resourceVersion"], str)
        except (ValueError, TypeError, KeyError) as error:
            raise self._failed(verb, "the answer is no Lease") from error
        if not known:
            raise self._failed(verb, "the answer has no version")
        self.outcomes[verb, "done"] += 1
        return Lease(body)

    def _failed(self, verb: str, problem: object) -> ApiFailure:
        self.outcomes[verb, "failed"] += 1
        return unavailable(verb, self._title, problem)
