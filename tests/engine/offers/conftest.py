"""A host whose Runs all wait."""

from __future__ import annotations

import pytest

from tests.engine.offers.scene import ALL, Scene


@pytest.fixture
def scene() -> Scene:
    """A host that has told all Runs that they wait."""
    scene = Scene()
    assert scene.waiting == ALL
    return scene
