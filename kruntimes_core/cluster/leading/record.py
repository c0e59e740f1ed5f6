"""The record in a Lease: who holds it, as any elector writes it. What it does not know it leaves alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kruntimes_core.model.times import micro_time

Json = Mapping[str, Any]
_MOST_TRANSITIONS = 2**31 - 1
_RELEASED_SECONDS = 1
"""What Go electors write on release: the field may not be 0."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A Lease as it was read or written."""

    object: Json

    @property
    def key(self) -> tuple[str, Json]:
        """What changes whenever its holder, or anybody, touches the record; labels do not count."""
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
    """The record that lets anybody take the Lease at once."""
    return {
        **before.spec,
        "holderIdentity": "",
        "leaseDurationSeconds": _RELEASED_SECONDS,
        "acquireTime": micro_time(now),
        "renewTime": micro_time(now),
        "leaseTransitions": before.transitions,
    }
