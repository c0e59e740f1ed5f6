"""A host with two keepers."""

from __future__ import annotations

import pytest
from reserving_plugins import Keeper, Log, host_of

from kruntimes_core.testing.harness import (
    Host,
)


@pytest.fixture
def log() -> Log:
    return []


@pytest.fixture
def host(log: Log) -> Host:
    """A host with two keepers, one Pod for one Run, and the Run `r`."""
    host = host_of(Keeper("A", log).plugin(), Keeper("B", log).plugin())
    host.pod("py-0", runs=1)
    host.run("r")
    return host
