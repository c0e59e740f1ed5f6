"""An object of the API: plain JSON that is never changed.

Every write makes a new object and shares with the old one whatever did not change. So what the store
gives out is the object itself, not a copy: copy it before you change it.

The two halves of an object, whatever a client wrote in their place.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

Object = dict[str, Any]
"""One object of the API, or a part of one, as JSON."""

Key = tuple[str, str]
"""(namespace, name); the namespace is empty where the kind has none. The order in which lists go."""


def metadata_of(obj: Mapping[str, Any]) -> Mapping[str, Any]:
    """The metadata, empty when there is none or when it is not an object."""
    metadata = obj.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def key_of(obj: Mapping[str, Any]) -> Key:
    """Under which key the object is kept."""
    metadata = metadata_of(obj)
    return metadata.get("namespace") or "", metadata.get("name") or ""


def version_of(obj: Mapping[str, Any]) -> str:
    """The resourceVersion, empty when there is none."""
    return str(metadata_of(obj).get("resourceVersion") or "")


def with_metadata(obj: Object, **changes: Any) -> Object:
    """The object with other metadata; None takes a field away."""
    metadata = {**metadata_of(obj), **changes}
    return {**obj, "metadata": {name: value for name, value in metadata.items() if value is not None}}


def without(obj: Mapping[str, Any], *names: str) -> Object:
    """The object without some of its top-level fields."""
    return {name: value for name, value in obj.items() if name not in names}


def micro_time(moment: datetime) -> str:
    """An aware time as a MicroTime: UTC, six digits of a second, `Z`."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def status_of(obj: Object) -> Object:
    """Its status; empty where it has none."""
    status = obj.get("status")
    return status if isinstance(status, dict) else {}


def spec_of(obj: Object) -> Object:
    """Its spec; empty where it has none."""
    spec = obj.get("spec")
    return spec if isinstance(spec, dict) else {}
