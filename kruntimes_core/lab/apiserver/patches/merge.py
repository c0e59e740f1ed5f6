"""JSON merge patch, RFC 7386."""

from __future__ import annotations

from typing import Any


def merged(target: Any, patch: Any) -> Any:
    """`target` after the patch: null takes a field away, an object goes deeper, anything else replaces."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, dict):
            result[name] = merged(result.get(name), value)
        else:
            result[name] = value
    return result
