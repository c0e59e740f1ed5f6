"""The embedded API server for a bench, and schedulers to measure on it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from embedded.place import ADMINISTRATOR, embedded_place
from realcluster.client import Reachable

SUPPORT = Path(__file__).parents[5] / "tests" / "support"


@pytest.fixture(scope="module")
def place() -> Iterator[Reachable]:
    """A server of all tests of a module: each bench has namespaces of its own."""
    with embedded_place() as place:
        yield place


@pytest.fixture
def kubeconfig(place: Reachable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The way to it, for a bench and for the scheduler that it starts."""
    monkeypatch.setenv("PYTHONPATH", str(SUPPORT), prepend=":")
    return str(place.kubeconfig_of(ADMINISTRATOR, tmp_path))


def bad_scheduler(fault: str) -> str:
    """The command of a scheduler that does one thing wrong."""
    return f"{sys.executable} -m badscheduler {fault} --kubeconfig {{kubeconfig}} --namespace {{namespaces}}"
