"""The public names are those of the package, though none is imported before it is asked for."""

from __future__ import annotations

import pytest

import kruntimes_core
from kruntimes_core.framework import public


def test_the_package_hands_out_each_public_name_and_lists_it() -> None:
    assert kruntimes_core.__all__ == public.__all__
    assert [getattr(kruntimes_core, name) for name in public.__all__] == [
        getattr(public, name) for name in public.__all__
    ]
    assert {"__version__", *public.__all__} <= set(dir(kruntimes_core))


def test_a_star_brings_the_public_names_alone() -> None:
    brought: dict[str, object] = {}
    exec("from kruntimes_core import *", brought)  # noqa: S102 - a star stands at the top of a module only
    assert brought.keys() - {"__builtins__"} == set(public.__all__)


@pytest.mark.parametrize("name", ["Rejct", "annotations", "__wrapped__"])
def test_no_other_name_is_there(name: str) -> None:
    assert not hasattr(kruntimes_core, name)
    with pytest.raises(AttributeError, match=f"module 'kruntimes_core' has no attribute '{name}'"):
        getattr(kruntimes_core, name)
