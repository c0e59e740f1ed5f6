"""Comparing resourceVersions of one resource type: as positive integers, anything else by equality alone."""

from __future__ import annotations

_LONGEST = 40
"""Digits; more than any store counts to. To read a number of thousands of digits would take long."""


def number(version: str) -> int | None:
    """The version as a positive integer, or None if it is not one."""
    plain = version.isascii() and version.isdigit() and version[0] != "0" and len(version) <= _LONGEST
    return int(version) if plain else None


def older(version: str, than: str) -> bool:
    """Whether `version` is known to be older; False when the two cannot be ordered."""
    left, right = number(version), number(than)
    return left is not None and right is not None and left < right


def newer(version: str, than: str) -> bool:
    """Whether `version` is known to be newer, or differs from one that it cannot be ordered with."""
    left, right = number(version), number(than)
    if left is None or right is None:
        return version != than
    return left > right


def newer_than_list(version: str, listed: str) -> bool:
    """Whether an object was seen in a version that a list of version `listed` does not cover yet."""
    return bool(listed) and bool(version) and newer(version, listed)
