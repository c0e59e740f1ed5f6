"""Paths of fields, as messages of the API spell them: `spec.env[0].name`."""

from __future__ import annotations


def child(path: str, name: str) -> str:
    """The path of a field below `path`."""
    return f"{path}.{name}" if path else name


def index(path: str, place: int) -> str:
    """The path of an item of the list at `path`."""
    return f"{path}[{place}]"
