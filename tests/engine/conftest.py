"""A host with the installed plugins, and a way to hosts with others."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kruntimes_core.framework.configuration import Profiles
from kruntimes_core.testing.harness import Host
from kruntimes_core.testing.plugins import installed_profiles


@pytest.fixture(scope="session")
def profiles() -> Profiles:
    """The five supplied plugins, as the default configuration builds them."""
    return installed_profiles()


@pytest.fixture
def host(profiles: Profiles) -> Host:
    """A leading host with the five supplied plugins."""
    return Host(profiles)


@pytest.fixture
def make_host(profiles: Profiles) -> Callable[..., Host]:
    """Hosts with the five supplied plugins, and arguments of `Host`."""
    return lambda **arguments: Host(profiles, **arguments)


@pytest.fixture
def contested(host: Host) -> Host:
    """One Pod with room for one of `r1` and `r2`; both are seen and nothing is decided yet."""
    host.pod("py-0", runs=1)
    host.run("r1")
    host.run("r2")
    host.observe()
    return host
