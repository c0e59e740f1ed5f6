import io
import sys

import pytest

from kruntimes_core.cli.output.screen import Screen, standard_output


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
