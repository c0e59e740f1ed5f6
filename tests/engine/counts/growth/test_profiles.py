"""Profiles that other Runtimes have cost a placement nothing, however many there are."""

from __future__ import annotations

from dataclasses import replace

import pytest
from counting.actions import BASE, LINES, Kind, endings, measured, placements

from kruntimes_core.framework.configuration import Profiles

FEW_STATES = replace(BASE, waiting=0, cohorts=1, requests=1)


@pytest.mark.parametrize("kind", [placements, endings])
def test_profiles_of_other_runtimes_are_not_looked_through(profiles: Profiles, kind: Kind) -> None:
    (mine,) = profiles.all
    others = [replace(mine, name=f"p-{number}", runtimes=frozenset({f"rt-{number}"})) for number in range(20)]
    alone, beside = (measured(each, kind, FEW_STATES) for each in (profiles, Profiles((mine, *others))))
    assert beside.lines <= alone.lines * LINES
