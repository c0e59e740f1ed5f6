"""What a development cluster says of its Runs at the end."""

from __future__ import annotations

import pytest

from kruntimes_core.cli.dev_session import summary_line
from kruntimes_core.cluster.clock import SystemClock
from kruntimes_core.lab.dev.overview import RunCounts


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0, "0 Runs; 0 placements in "),
        (1, "1 Run: 1 Succeeded; 1 placement in "),
        (2, "2 Runs: 2 Succeeded; 2 placements in "),
    ],
)
def test_one_run_is_no_runs(number: int, said: str) -> None:
    counts = RunCounts(SystemClock())
    counts.created = counts.placements = counts.ended["Succeeded"] = number
    assert summary_line(counts).startswith(said)
