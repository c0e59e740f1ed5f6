"""Labels and annotations as they are kept, and the capacity that a Pod advertises in the latter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from kruntimes_core.model.quantity import capacity_amount

CAPACITY_PREFIX = "kruntimes.io/capacity."
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_MAX_BYTES = 4_096
_MAX_UTF8 = 4  # bytes that a character can take
_RUNS = "runs"
_DEFAULT_RUNS = 2


def kept_annotations(annotations: Mapping[str, str]) -> Mapping[str, str]:
    """The annotations that values keep, so that no user can fill the host's memory.

    kubectl's copy of the whole object is left out. Of the rest, whole entries are kept in the order
    of their keys, as long as all keys and values together take no more than 4 KiB of UTF-8; the
    first entry beyond that ends it.
    """
    if _LAST_APPLIED in annotations:
        annotations = {key: value for key, value in annotations.items() if key != _LAST_APPLIED}
    characters = sum(map(len, annotations)) + sum(map(len, annotations.values()))
    if characters * _MAX_UTF8 <= _MAX_BYTES:
        return annotations
    return _within_bound(annotations)


def _within_bound(annotations: Mapping[str, str]) -> dict[str, str]:
    kept = {}
    room = _MAX_BYTES
    for key in sorted(annotations):
        room -= _size(key) + _size(annotations[key])
        if room < 0:
            break
        kept[key] = annotations[key]
    return kept


def _size(text: str) -> int:
    if len(text) > _MAX_BYTES:
        return len(text)
    return len(text.encode("utf-8", "surrogatepass"))


def advertised(annotations: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The capacity annotations: resource name (never empty, slashes allowed) and quantity as written."""
    length = len(CAPACITY_PREFIX)
    return tuple(
        (key[length:], value)
        for key, value in annotations.items()
        if key.startswith(CAPACITY_PREFIX) and len(key) > length
    )


def capacity_amounts(advertisement: Iterable[tuple[str, str]]) -> dict[str, int | Fraction]:
    """What is advertised: positive amounts only, `runs` 2 where it is not among them (API contract)."""
    amounts = {resource: capacity_amount(value) for resource, value in advertisement}
    capacity = {resource: amount for resource, amount in amounts.items() if amount is not None}
    capacity.setdefault(_RUNS, _DEFAULT_RUNS)
    return capacity
