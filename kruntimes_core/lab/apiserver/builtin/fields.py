"""The two halves of an object, whatever a client wrote in their place."""

from __future__ import annotations

from kruntimes_core.lab.apiserver.objects import Object


def status_of(obj: Object) -> Object:
    """Its status; empty where it has none."""
    status = obj.get("status")
    return status if isinstance(status, dict) else {}


def spec_of(obj: Object) -> Object:
    """Its spec; empty where it has none."""
    spec = obj.get("spec")
    return spec if isinstance(spec, dict) else {}
