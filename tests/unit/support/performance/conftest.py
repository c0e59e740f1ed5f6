"""Reports of benches as they were printed, and results made of them."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any, Protocol

import pytest
from performance.live.results import Document, Results
from performance.live.workloads import named

RECORDED = Path(__file__).parents[3] / "data" / "bench"


def recorded(name: str) -> Document:
    """The report of a bench on a real API server; `name` is its workload."""
    found: Document = json.loads((RECORDED / f"{name}.json").read_text())
    return found


class Kept(Protocol):
    """What the fixture `kept` gives."""

    def __call__(self, name: str, number: int, **figures: float | None) -> None:
        """Keep the recorded report as that of a round, with some figures in place of its own."""


@pytest.fixture
def results(tmp_path: Path) -> Results:
    """An empty folder of results."""
    return Results(tmp_path / "results")


@pytest.fixture
def kept(results: Results) -> Kept:
    """Fill `results`."""

    def keep(name: str, number: int, **figures: float | None) -> None:
        document: dict[str, Any] = copy.deepcopy(recorded(name))
        for key, value in figures.items():
            document["summary"][key] = value and {"median": value, "lowest": value, "highest": value}
        results.keep(named(name), number, document)

    return keep
