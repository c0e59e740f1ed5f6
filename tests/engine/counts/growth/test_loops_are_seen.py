"""The tests of growth would see a loop: a plugin with one makes a placement cost more in a larger cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from counting.actions import BASE, LINES, SPARE_BYTES, measured, placements

from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.model.snapshot import Snapshot
from kruntimes_core.testing.plugins import fake_plugin, profiles_of


def look_at_all_pods(snapshot: Snapshot) -> None:
    """A prefilter with a loop of its own."""
    for pod in snapshot.pods.values():
        assert pod.name


def copy_all_pods(snapshot: Snapshot) -> None:
    """A prefilter with a loop that Python hides."""
    assert sorted(snapshot.pods)


FEW_STATES = replace(BASE, pods=800, waiting=0, cohorts=1, requests=1)


@pytest.mark.parametrize("prefilter", [look_at_all_pods, copy_all_pods])
def test_a_loop_over_what_exists_is_seen(profiles: Profiles, prefilter: Callable[[Snapshot], None]) -> None:
    slow = profiles_of(*profiles.all[0].plugins, fake_plugin(prefilter=prefilter))
    small, large = (
        measured(slow, placements, shape) for shape in (FEW_STATES, replace(FEW_STATES, pods=1_600))
    )
    more_lines = large.lines > small.lines * LINES
    assert more_lines or large.peak_bytes > small.peak_bytes + SPARE_BYTES
