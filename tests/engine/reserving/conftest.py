"""A host with two keepers."""

from __future__ import annotations

import pytest

from kruntimes_core.testing.harness import (
    Host,
)
from tests.engine.reserving.keeper import Keeper, Log, host_of


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
