"""What must not grow with the cluster does not: in twice the size as much code runs, on as much memory.

Lines are counted, and so is the most memory at a time, because a loop in C over all that exists (a copy
of a table) has no lines. The clusters and the actions are those of `kruntimes bench engine`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import product

import pytest
from counting.actions import ACTIONS, Kind, affine_placements, measured
from counting.effort import Effort
from counting.shapes import LINES, SIZES, SPARE_BYTES

from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.lab.bench.engine.shape import Shape


def name_of(value: object) -> str:
    """How a test's parameter is shown."""
    return value if isinstance(value, str) else getattr(value, "__name__", "")


# The next Run of a cohort looks at the Pods that changed since its last one: as many as there were Runs of
# other cohorts meanwhile.
GROWS = {(affine_placements, "cohorts")}


@pytest.mark.parametrize(
    ("kind", "dimension"), [pair for pair in product(ACTIONS, SIZES) if pair not in GROWS], ids=name_of
)
def test_costs_as_much_in_twice_the_size(
    efforts: Callable[[Kind, Shape], Effort], kind: Kind, dimension: str
) -> None:
    small, large = (efforts(kind, shape) for shape in SIZES[dimension])
    assert large.lines <= small.lines * LINES
    assert large.peak_bytes <= small.peak_bytes + SPARE_BYTES


@pytest.fixture(scope="module")
def efforts(profiles: Profiles) -> Callable[[Kind, Shape], Effort]:
    """`measured`, once for each kind and shape: many tests compare with the same one."""
    return cache(partial(measured, profiles))
