import io
import sys
from collections.abc import Iterator

import pytest

from kruntimes_core.cli.output.screen import LateBar, Screen, follow, standard_output


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "91")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_a_pipe_has_no_edge_and_no_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert standard_output() == Screen(columns=None, colour=False)


def test_a_terminal_has_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert standard_output() == Screen(columns=91, colour=True)


@pytest.mark.parametrize(
    ("variable", "value", "colour"),
    [("NO_COLOR", "1", False), ("NO_COLOR", "", True), ("TERM", "dumb", False)],
)
def test_colours_can_be_declined(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, colour: bool
) -> None:
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv(variable, value)
    assert standard_output() == Screen(columns=91, colour=colour)


def test_paint_only_where_there_are_colours() -> None:
    assert Screen().painted("x", "red") == "x"
    assert Screen(colour=True).painted("x", None) == "x"
    assert Screen(colour=True).painted("x", "red") == "\x1b[31mx\x1b[0m"


def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal behind standard error; pytest sets that anew before each test, so no fixture."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    return screen


def test_work_is_done_to_the_end_and_quick_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, done = terminal(monkeypatch), []
    follow((done.append(n) or n for n in range(3)), "planning")  # type: ignore[func-returns-value]
    assert done == [0, 1, 2]
    assert screen.getvalue() == ""


def test_nothing_is_drawn_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr("kruntimes_core.cli.output.screen._SECONDS_WITHOUT_BAR", 0)
    follow(iter(range(100)), "planning", 100)
    assert screen.getvalue() == ""


def test_a_bar_shows_how_far_the_work_is_and_leaves_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    bar = LateBar("planning", total=20)
    bar.advance(5)
    bar.draw()
    bar.advance(10)
    bar.erase()
    shown = screen.getvalue()
    assert "planning" in shown
    assert "10" in shown
    assert "\x1b[?25h" in shown  # the cursor is visible again
    assert shown.endswith("\x1b[2K")  # and stands on an erased line


def test_a_bar_that_comes_too_late_is_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    bar = LateBar("planning", total=None)
    bar.erase()
    bar.draw()
    assert screen.getvalue() == ""


def test_an_error_in_the_work_takes_the_bar_away(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise KeyboardInterrupt

    terminal(monkeypatch)
    erased = []
    monkeypatch.setattr(LateBar, "erase", lambda self: erased.append(self))
    with pytest.raises(KeyboardInterrupt):
        follow(broken(), "planning")
    assert len(erased) == 1
