"""A development cluster on the screen: the picture fits, lines are few, and the summary counts the Runs."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import pytest
from rich.console import Console

from kruntimes_core.cli.dev_screen import Lines, Notices, Picture
from kruntimes_core.cli.dev_session import summary_line
from kruntimes_core.cluster.clock import SystemClock
from kruntimes_core.lab.dev.overview import Overview, PastDecision, RunCounts
from kruntimes_core.model.frozen import FrozenMap
from kruntimes_core.model.pod import Capacity, RuntimePod, Unavailability

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def pod(name: str, resources: Mapping[str, tuple[int, int | Fraction]], **fields: Any) -> RuntimePod:
    """A Pod of the namespace in which a cluster starts. resources: how much is in use, and the capacity."""
    return RuntimePod(
        namespace="default",
        name=name,
        uid=name,
        runtime="py",
        usage=FrozenMap({resource: used for resource, (used, _) in resources.items()}),
        capacity=Capacity({resource: capacity for resource, (_, capacity) in resources.items()}),
        **fields,
    )


def pods(number: int) -> tuple[RuntimePod, ...]:
    return tuple(
        pod(f"py-{index}", {"runs": (index % 5, 4), "cpu": (3, Fraction(15, 2))}) for index in range(number)
    )


def overview(number: int = 3, decisions: int = 4) -> Overview:
    told = tuple(
        PastDecision(
            AT, f"run-{place}", f"py-{place}" if place % 2 else None, "" if place % 2 else "waiting" * 18
        )
        for place in range(decisions)
    )
    phases = (("Pending", 3), ("Running", 11), ("Succeeded", 108), ("Failed", 2))
    return Overview(phases=phases, pods=pods(number), decisions=told, placements=123, rate=2.1)


def drawn(seen: Overview, width: int = 80, height: int = 40) -> list[str]:
    console = Console(file=io.StringIO(), width=width, height=height, force_terminal=True, color_system=None)
    with console.capture() as captured:
        console.print(Picture(seen))
    return [line.rstrip() for line in captured.get().splitlines()]


def test_at_eighty_columns_it_is_this() -> None:
    seen = overview(decisions=2)
    time = f"{AT.astimezone():%H:%M:%S}"
    assert (
        drawn(seen, height=20)
        == [
            "3 Pending   11 Running   108 Succeeded   2 Failed   123 placed, 2.1/s",
            "",
            "POD    RUNS                   CPU",
            "py-0   ░░░░░░░░░░░░░░░░ 0/4   ███████░░░░░░░░░ 3/7.5",
            "py-1   ████░░░░░░░░░░░░ 1/4   ███████░░░░░░░░░ 3/7.5",
            "py-2   ████████░░░░░░░░ 2/4   ███████░░░░░░░░░ 3/7.5",
            "",
            "LATEST DECISIONS",
            f"{time}  run-0  waitingwaitingwaitingwaitingwaitingwaitingwaitingwaitingwaitin…",
            f"{time}  run-1  → py-1",
        ]
        + [""] * 6
    )


@pytest.mark.parametrize("width", [20, 40, 60, 80, 109, 110, 200])
@pytest.mark.parametrize("number", [0, 1, 9, 100])
def test_no_line_is_wider_and_there_are_no_more_lines_than_there_is_room(width: int, number: int) -> None:
    for height in (16, 24, 50):
        lines = drawn(overview(number, 20), width, height)
        assert max(map(len, lines)) <= width
        if width >= 60:
            assert len(lines) < height


def test_the_height_does_not_change_with_what_is_decided() -> None:
    assert len({len(drawn(overview(3, decisions))) for decisions in range(12)}) == 1
    assert len({len(drawn(overview(3, decisions), 200)) for decisions in range(12)}) == 1


def test_pods_beyond_the_room_are_counted() -> None:
    lines = drawn(overview(100), height=24)
    shown = [line for line in lines if line.startswith("py-")]
    assert f"and {100 - len(shown)} more" in lines


def test_a_pod_that_takes_no_runs_says_why() -> None:
    down = pod("py-0", {"runs": (1, 4)}, unavailable=Unavailability.HEARTBEAT_STALE)
    seen = Overview(phases=(), pods=(down,), decisions=(), placements=0, rate=0.0)
    assert any(line.split() == ["py-0", "HeartbeatStale"] for line in drawn(seen))


def test_a_load_is_never_shown_as_idle_and_overload_not_beyond_the_bar() -> None:
    seen_pod = pod("p", {"runs": (1, 1000), "cpu": (30, 10)})
    seen = Overview(phases=(), pods=(seen_pod,), decisions=(), placements=0, rate=0.0)
    (line,) = (line for line in drawn(seen) if line.startswith("p "))
    assert line.split() == ["p", "█" + "░" * 15, "1/1000", "█" * 16, "30/10"]


def test_what_others_wrote_moves_no_cursor() -> None:
    told = (PastDecision(AT, "run\x1b[2J", None, "waiting\nfor \u202eit"),)
    seen = Overview(phases=(), pods=(), decisions=told, placements=0, rate=0.0)
    text = "\n".join(drawn(seen))
    assert r"run\x1b[2J" in text
    assert r"waiting\nfor \u202eit" in text


def test_an_empty_cluster_says_what_to_do() -> None:
    seen = Overview(phases=(), pods=pods(1), decisions=(), placements=0, rate=0.0)
    assert drawn(seen)[0] == "no Runs yet: create some with kubectl"


def placed(placements: int) -> Overview:
    phases = (("Running", placements),) if placements else ()
    return Overview(phases=phases, pods=(), decisions=(), placements=placements, rate=0.0)


def test_lines_come_at_most_at_every_fifth_look_and_only_with_news() -> None:
    out = io.StringIO()
    with Lines(out, io.StringIO()) as lines:
        for placements in [0, 0, 1, 2, 3, 4, 5, 6, 6, 6, 6, 6, 6, 6]:
            lines.show(placed(placements))
    assert out.getvalue().splitlines() == ["1 placed: 1 Running", "6 placed: 6 Running"]


def test_a_reader_that_went_away_is_noticed_without_news() -> None:
    ours, theirs = os.pipe()
    with os.fdopen(theirs, "w") as out, Lines(out, io.StringIO()) as lines:
        lines.show(placed(0))
        os.close(ours)
        with pytest.raises(BrokenPipeError):
            lines.show(placed(0))


def test_the_latest_notices_are_kept() -> None:
    notices = Notices()
    for number in range(5):
        notices.write(f"line {number}\n")
    assert list(notices.lines) == ["line 2", "line 3", "line 4"]


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
