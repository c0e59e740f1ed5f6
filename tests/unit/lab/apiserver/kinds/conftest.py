"""A server that begins, and its Pods."""

from __future__ import annotations

import pytest

from embedded.api import Site, new_api
from kruntimes_core.lab.apiserver.server import ApiServer


@pytest.fixture
def api() -> ApiServer:
    """A server without a network, as it is when it begins."""
    return new_api()


@pytest.fixture
def pods(api: ApiServer) -> Site:
    """Its Pods."""
    return Site(api, "pods")
