"""Lines are few, and end when nobody reads them; log lines do not tear the picture."""

from __future__ import annotations

import io
import os

import pytest

from kruntimes_core.cli.dev_screen import Lines, Notices
from kruntimes_core.lab.dev.overview import Overview


def overview(placements: int) -> Overview:
    phases = (("Running", placements),) if placements else ()
    return Overview(phases=phases, pods=(), decisions=(), placements=placements, rate=0.0)


def test_lines_come_at_most_at_every_fifth_look_and_only_with_news() -> None:
    out = io.StringIO()
    with Lines(out, io.StringIO()) as lines:
        for placements in [0, 0, 1, 2, 3, 4, 5, 6, 6, 6, 6, 6, 6, 6]:
            lines.show(overview(placements))
    assert out.getvalue().splitlines() == ["1 placed: 1 Running", "6 placed: 6 Running"]


def test_a_reader_that_went_away_is_noticed_without_news() -> None:
    ours, theirs = os.pipe()
    with os.fdopen(theirs, "w") as out, Lines(out, io.StringIO()) as lines:
        lines.show(overview(0))
        os.close(ours)
        with pytest.raises(BrokenPipeError):
            lines.show(overview(0))


def test_the_latest_notices_are_kept() -> None:
    notices = Notices()
    for number in range(5):
        notices.write(f"line {number}\n")
    assert list(notices.lines) == ["line 2", "line 3", "line 4"]
