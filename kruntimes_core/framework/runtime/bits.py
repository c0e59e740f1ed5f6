"""Sets of Pods as the bits of one int: a thousand Pods are 128 bytes, and an intersection is one `&`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import compress

# Up to here, setting bits one by one is faster than a table of them.
_FEW = 100
# Bits for each member, from where on taking members out one by one is faster than a look at each bit.
_SPARSE = 16
_ONE = ord("1")
_FLAGS = bytes.maketrans(b"01", b"\0\1")


def mask_of(positions: Collection[int]) -> int:
    """The set with these members."""
    if len(positions) <= _FEW:
        mask = 0
        for position in positions:
            mask |= 1 << position
        return mask
    digits = bytearray(b"0") * (max(positions) + 1)
    for position in positions:
        digits[~position] = _ONE
    return int(digits, 2)


def flags_of(mask: int, length: int) -> bytes:
    """A byte for each of `length` positions: 1 for a member, else 0. `mask` has no members beyond."""
    return f"{mask:0{length}b}"[::-1].encode().translate(_FLAGS)


def members(mask: int) -> list[int]:
    """The members in ascending order."""
    length = mask.bit_length()
    if mask.bit_count() * _SPARSE > length:
        return list(compress(range(length), flags_of(mask, length)))
    return list(_taken_out(mask))[::-1]


def lowest(mask: int) -> int:
    """The smallest member of a set that has one."""
    return (mask & -mask).bit_length() - 1


def _taken_out(mask: int) -> Iterator[int]:
    while mask:
        position = mask.bit_length() - 1
        yield position
        mask ^= 1 << position
