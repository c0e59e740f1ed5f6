"""What the scenarios are played with: plans in this process, the installed command, fake distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kruntimes_core.framework.configuration import Profiles
from tests.scenarios.planning import Object, Plan, document_of, installed_profiles

Planned = Callable[..., Plan]


@pytest.fixture(scope="session")
def profiles() -> Profiles:
    """The installed plugins, by the default configuration."""
    return installed_profiles()


@pytest.fixture
def plan(profiles: Profiles) -> Planned:
    """Plan objects by the installed plugins."""

    def planned(*objects: Object, **options: Any) -> Plan:
        return Plan(document_of(objects, profiles, **options))

    return planned
