"""What the tests of the host share."""

from __future__ import annotations

import socket

import pytest

from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.testing.plugins import installed_profiles


@pytest.fixture(scope="session")
def profiles() -> Profiles:
    """The five supplied plugins, as the default configuration builds them."""
    return installed_profiles()


@pytest.fixture
def unused_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
