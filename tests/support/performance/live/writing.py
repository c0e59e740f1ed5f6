"""From reports to the page."""

from __future__ import annotations

from pathlib import Path

from performance.live.results import Results
from performance.live.tables import commands, figures, further_namespaces, where
from performance.live.targets import targets
from performance.page import LIVE, write

WORKLOADS_SECTION = "the workloads"
FIGURES_SECTION = "placements on a real API server"
TARGETS_SECTION = "targets"


def write_live(results: Results, path: Path = LIVE) -> None:
    """Write all tables of what is kept."""
    write(WORKLOADS_SECTION, commands(), path)
    write(FIGURES_SECTION, [where(results), "", *figures(results), "", further_namespaces(results)], path)
    write(TARGETS_SECTION, targets(results), path)
