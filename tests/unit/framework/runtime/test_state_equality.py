"""A state is shared only if its type says by value when two are equal, and hashes accordingly."""

from __future__ import annotations

import pytest

from kruntimes_core.framework.runtime.state_equality import share_key


class HashAlone:
    def __hash__(self) -> int:
        return 1


class EqualityAlone:
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class Both:
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Both)

    def __hash__(self) -> int:
        return 1


class Neither:
    pass


@pytest.mark.parametrize(
    ("kind", "shared"), [(HashAlone, False), (EqualityAlone, False), (Neither, False), (Both, True)]
)
def test_equal_states_have_equal_keys_where_their_type_says_so(kind: type, shared: bool) -> None:
    state = kind()
    assert (share_key(state) == share_key(state)) is shared
    assert (share_key(kind()) == share_key(kind())) is shared
