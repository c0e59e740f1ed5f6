"""What measures in these tests: plugins, and a clock that knows only what they say."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from counting.ticks import Ticks

from kruntimes_core.engine.engine import Settings
from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.lab.bench.engine.driver import EngineSetup
from kruntimes_core.lab.bench.engine.shape import Shape
from kruntimes_core.testing.plugins import installed_profiles


@pytest.fixture
def ticks() -> Ticks:
    return Ticks()


@pytest.fixture(scope="session")
def profiles() -> Profiles:
    """The five supplied plugins, as the default configuration builds them."""
    return installed_profiles()


@pytest.fixture
def means(profiles: Profiles, ticks: Ticks) -> EngineSetup:
    """The supplied plugins, on a clock that stands still."""
    return EngineSetup(profiles, Settings(), ticks, ticks)


@pytest.fixture
def tiny() -> Shape:
    """A cluster that is measured in no time."""
    return Shape(pods=6, runs=8, known=40, waiting=6, requests=3, cohorts=2, preferences=2)


@pytest.fixture
def means_of(ticks: Ticks) -> Callable[[Profiles], EngineSetup]:
    """Means with other plugins, on the same clock."""
    return lambda profiles: EngineSetup(profiles, Settings(), ticks, ticks)
