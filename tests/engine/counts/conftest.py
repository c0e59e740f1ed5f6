"""A crowd on the five supplied plugins."""

from __future__ import annotations

import pytest
from counting.crowd import Crowd

from kruntimes_core.framework.configuration import Profiles


@pytest.fixture
def crowd(profiles: Profiles) -> Crowd:
    """A leading host that knows nothing yet."""
    return Crowd(profiles)
