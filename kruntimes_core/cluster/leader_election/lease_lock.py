"""The Lease as a lock: its record, the requests that read and write it, and when another may take it over."""

from __future__ import annotations

import json
import re
import socket
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from pydantic_core import from_json

from kruntimes_core.cluster.client.connection import SERVICE_ACCOUNT
from kruntimes_core.cluster.client.errors import ApiFailure, refused, status_of, unavailable
from kruntimes_core.cluster.client.resources import LEASE, LEASES
from kruntimes_core.cluster.client.transport import Call, Gate, Response, Transport, TransportError
from kruntimes_core.cluster.clock import Clock
from kruntimes_core.engine.clock import ticks
from kruntimes_core.model.messages import InputError
from kruntimes_core.model.times import micro_time

OUTCOMES = ("done", "conflict", "missing", "failed")

Json = Mapping[str, Any]
_MOST_TRANSITIONS = 2**31 - 1
_RELEASED_SECONDS = 1
"""What electors in Go write when they release the Lease: the field must not be 0."""
_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Lease:
    """A Lease as it was read or written."""

    object: Json

    @property
    def key(self) -> tuple[str, Json]:
        """What changes with each write of the record, by its holder or another; labels do not count."""
        return (str(self.object["metadata"].get("uid")), self.spec)

    @property
    def spec(self) -> Json:
        """The record."""
        spec = self.object.get("spec")
        return spec if isinstance(spec, Mapping) else {}

    @property
    def holder(self) -> str:
        """The identity of its holder; empty after a release."""
        holder = self.spec.get("holderIdentity")
        return holder if isinstance(holder, str) else ""

    @property
    def acquired(self) -> str | None:
        """When its holder took it, by the holder's clock; None if it does not say."""
        acquired = self.spec.get("acquireTime")
        return acquired if isinstance(acquired, str) else None

    @property
    def seconds(self) -> int | None:
        """How long it holds after it was renewed; None if it does not say."""
        seconds = self.spec.get("leaseDurationSeconds")
        return seconds if type(seconds) is int and seconds > 0 else None

    @property
    def transitions(self) -> int:
        """How often it changed hands."""
        count = self.spec.get("leaseTransitions")
        return count if type(count) is int and count >= 0 else 0


def held(before: Lease | None, identity: str, seconds: int, now: datetime) -> dict[str, Any]:
    """The record by which `identity` takes a Lease, or renews it. before: None for a new one."""
    spec = dict(before.spec) if before is not None else {}
    anew = before is None or before.holder != identity
    transitions = 0 if before is None else before.transitions + anew
    spec |= {
        "holderIdentity": identity,
        "leaseDurationSeconds": seconds,
        "renewTime": micro_time(now),
        "leaseTransitions": min(transitions, _MOST_TRANSITIONS),
    }
    if anew or not spec.get("acquireTime"):
        spec["acquireTime"] = spec["renewTime"]
    return spec


def released(before: Lease, now: datetime) -> dict[str, Any]:
    """The record that lets any elector take the Lease at once."""
    return {
        **before.spec,
        "holderIdentity": "",
        "leaseDurationSeconds": _RELEASED_SECONDS,
        "acquireTime": micro_time(now),
        "renewTime": micro_time(now),
        "leaseTransitions": before.transitions,
    }


class LeaseConflictError(Exception):
    """Another process wrote the Lease, or created it, before."""


class LeaseLock:
    """Reads and writes the Lease of one namespace.

    Every failure but a missing Lease and a conflict is an `ApiFailure`.
    """

    def __init__(self, *, transport: Transport, clock: Clock, namespace: str, timeout_seconds: float) -> None:
        """timeout_seconds: the limit of each request, here and at the server."""
        self._transport = transport
        self._clock = clock
        self._timeout_seconds = timeout_seconds
        self.namespace = namespace
        self.outcomes: Counter[tuple[str, str]] = Counter()
        """(verb, outcome)."""

    async def get(self) -> Lease | None:
        """The Lease as it stands, read consistently; None if there is none."""
        response = await self._send(
            "get", Call(method="GET", path=self._path, timeout_seconds=self._timeout_seconds)
        )
        return self._lease("get", response) if response is not None else None

    async def create(self, spec: Mapping[str, Any]) -> Lease:
        """Create the Lease with this record. Raises `LeaseConflictError` if there is one already."""
        body = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": LEASE, "namespace": self.namespace},
            "spec": spec,
        }
        return await self._write("create", "POST", LEASES.path(self.namespace), body, None)

    async def replace(self, lease: Lease, spec: Mapping[str, Any], gate: Gate | None) -> Lease:
        """Write another record over the version that was read. gate: called when the bytes are handed over.

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
            query=(("timeout", f"{self._timeout_seconds:g}s"),),
            headers={"content-type": "application/json"},
            body=json.dumps(body).encode(),
            timeout_seconds=self._timeout_seconds,
            gate=gate,
        )
        response = await self._send(verb, call)
        if response is None and verb == "update":
            raise LeaseConflictError
        if response is None:
            raise self._failed(verb, "there is no such namespace: create it, or give --lease-namespace")
        return self._lease(verb, response)

    async def _send(self, verb: str, call: Call) -> Response | None:
        """The answer, if the request succeeded; None where the object does not exist."""
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
            raise self._failed(verb, "the answer is not a Lease") from error
        if not known:
            raise self._failed(verb, "the answer has no version")
        self.outcomes[verb, "done"] += 1
        return Lease(body)

    def _failed(self, verb: str, problem: object) -> ApiFailure:
        self.outcomes[verb, "failed"] += 1
        return unavailable(verb, self._title, problem)


class ObservedLease:
    """The record as it was last observed, and since when it is unchanged: whether the Lease may be acquired.

    Judged by this machine's clock alone: clocks of two machines are never compared. A record counts as alive
    until it was unchanged for its whole duration, whatever times are written in it.
    """

    def __init__(self, default_ticks: int, absent_ticks: int) -> None:
        """default_ticks: the duration of a record that names none. absent_ticks: for how long a Lease
        that was never seen must be missing: a leader whose Lease was deleted notices when it renews.
        """
        self._default = default_ticks
        self._absent = absent_ticks
        self._absent_since: int | None = None
        self._last: Lease | None = None
        self._since = 0

    def see(self, lease: Lease | None, now: int) -> None:
        """Take note of a Lease as it was read or written. now: in ticks, after the answer.

        A Lease that is gone changes nothing: its holder may still lead until he reads it again.
        """
        if lease is None:
            self._absent_since = now if self._absent_since is None else self._absent_since
            return
        self._absent_since = None
        if self._last is None or lease.key != self._last.key:
            self._since = now
        self._last = lease

    def free(self, identity: str, now: int) -> bool:
        """Whether `identity` may take it: it has no holder, or this one, or it stood still long enough."""
        last = self._last
        if last is None:
            return self._absent_since is not None and now - self._absent_since >= self._absent
        if last.holder in ("", identity):
            return True
        duration = self._default if last.seconds is None else ticks(last.seconds)
        return now - self._since >= duration

    @property
    def holder(self) -> str:
        """The identity that was seen to hold it; empty for none."""
        return self._last.holder if self._last is not None else ""

    @property
    def acquired(self) -> str | None:
        """When that holder took it, by its own clock."""
        return self._last.acquired if self._last is not None else None


def new_identity() -> str:
    """A name that no other process ever had; its first part is the host name."""
    return f"{socket.gethostname()}_{uuid4()}"


def lease_namespace(
    option: str | None,
    environment: Mapping[str, str],
    of_context: str | None,
    service_account: Path = SERVICE_ACCOUNT,
) -> str:
    """The namespace of the Lease: `option` (`--lease-namespace`), else $POD_NAMESPACE, else that of the
    ServiceAccount, else that of the kubeconfig's context. Raises `InputError` for none, or an invalid name.
    """
    sources = (
        ("--lease-namespace", option),
        ("POD_NAMESPACE", environment.get("POD_NAMESPACE") or None),
        (str(service_account / "namespace"), _read(service_account / "namespace")),
        ("the context's namespace", of_context or None),
    )
    for source, namespace in sources:
        if namespace is None:
            continue
        if _DNS_LABEL.fullmatch(namespace) is None:
            raise InputError(
                f"{source} {namespace!r} is not a valid name of a namespace: give --lease-namespace"
            )
        return namespace
    raise InputError("--leader-elect: the namespace of the Lease is not known: give --lease-namespace")


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip() or None
    except (OSError, UnicodeDecodeError):
        return None
