"""A host that sends Events, in virtual time."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.cluster.event_recorder.scene import Play, Scene, play_announced

from kruntimes_core.framework.configuration import Profiles


@pytest.fixture
def announced(profiles: Profiles) -> Play:
    """Play a scene on a host that sends Events."""

    def played(scene: Scene, *, of: Profiles | None = None, **settings: Any) -> None:
        play_announced(of or profiles, scene, **settings)

    return played
