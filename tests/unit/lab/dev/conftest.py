"""What the tests of a development cluster share."""

from __future__ import annotations

import pytest

from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.testing.plugins import installed_profiles


@pytest.fixture(scope="session")
def profiles() -> Profiles:
    """The five supplied plugins, as the default configuration builds them."""
    return installed_profiles()
